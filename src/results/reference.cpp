#include "results/reference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "base/units.hpp"
#include "deck/deck.hpp"
#include "deck/shipped.hpp"
#include "results/describe.hpp"

namespace overlap::results {
namespace {

using describe::Visitor;

constexpr const char* reference_schema = "overlap-reference/1";

/// A number with as many digits as a file has.
struct Rounded : describe::Real {
  Json write(double value) const {
    return base::parse_number(fmt::format("{:.7g}", value)).value_or(value);
  }
};

void describe_entries(Visitor& v, std::vector<Entry>& entries) {
  std::string schema;
  v("schema", schema, "Name and version of this format.", OneText{reference_schema},
    describe::required);
  v("entries", entries, "The values.",
    describe::list_of(describe::codec_of<Entry>(), "a list of entries"), describe::required);
  if (v.reader() == nullptr) return;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto first = std::ranges::find(entries, entries[i].subject, &Entry::subject);
    const auto number = static_cast<std::size_t>(first - entries.begin());
    if (number == i) continue;
    const describe::Reader list = v.reader()->at("entries"), other = list.item(number);
    list.item(i).fail(fmt::format(
        "found a second entry for the subject of {} ({}); allowed: one per device, link, "
        "backend, deck, phase, order and metric",
        other.path(), base::to_string(other.place())));
  }
}

/// A subject as texts: "device NVIDIA H200", "link gen5 x16", ...
std::vector<std::string> texts(Subject subject) {
  subject.deck = subject.deck.substr(0, 12);
  std::vector<std::string> all;
  const Json keys = describe::write(subject);
  for (const auto& [key, value] : keys.items()) {
    all.push_back(key + " " + describe::spell(value));
  }
  return all;
}

}  // namespace

void describe(Visitor& v, Subject& subject) {
  v("device", subject.device, "Name of the device; on host back ends the processor.", Name(),
    describe::required);
  v("link", subject.link, "Generation and width of its link.",
    describe::or_word("none", describe::line()));
  v("backend", subject.backend, "Default execution space.", Name(), describe::required);
  v("deck", subject.deck, "Identity of the deck.", Name(), describe::required);
  v("phase", subject.phase, "alone, or together with the other devices of its node.");
  v("order", subject.order, "Issue order; none: a metric of the device.",
    describe::or_word("none", describe::OneOf<deck::Order>()));
  v("metric", subject.metric, "Metric.", describe::required);
}

void describe(Visitor& v, Entry& entry) {
  describe(v, entry.subject);
  v("deck_name", entry.deck_name, "Name of the deck.", describe::line());
  v("value", entry.value, "What a healthy device reaches.",
    Rounded{{.allowed = "a number above 0", .least = describe::above_0}}, describe::required);
  std::string unit(deck::row_of(entry.subject.metric).unit);
  v("unit", unit, "Unit of the metric.", OneText{unit});
  describe::Real tolerance = describe::part("a fraction from 0 to 100 %, such as 3 %", 0, 1);
  tolerance.spell = base::spell_part;
  v("tolerance", entry.tolerance, "How much worse a value may be.", tolerance, describe::required);
  v("devices", entry.devices, "Devices in the median.", describe::count(1, 1 << 20));
  v("mad", entry.mad, "Their median absolute deviation.",
    Rounded{{.allowed = "a non-negative number", .least = 0}});
  v("driver", entry.driver, "Versions of the driver.", describe::line());
  v("date", entry.date, "Day of the newest run.", describe::line());
  v("version", entry.version, "Version of the program.", describe::line());
}

Subject subject_of(const base::Machine& machine) {
  Subject subject{.device = machine.host.cpu, .backend = machine.build.backend};
  if (machine.device) {
    subject.device = machine.device->name;
    subject.link = base::spell_link(machine.device->pcie_gen, machine.device->pcie_width);
  }
  return subject;
}

Reference load_reference(const std::string& path) {
  const describe::Document document = describe::read_yaml(path, "reference file");
  const describe::Reader reader(document);
  Reference reference{.path = path, .entries = {}};
  describe::read_map(reader, [&](Visitor& v) { describe_entries(v, reference.entries); });
  return reference;
}

std::map<std::string, Reference> load_references(const deck::Deck& deck, const std::string& given) {
  std::map<std::string, Reference> files;
  for (std::size_t i = 0; i < deck.acceptance.size(); ++i) {
    const auto& reference = deck.acceptance[i].reference;
    if (!reference || files.contains(*reference)) continue;
    const std::string& name = *reference;
    if (name != deck::given_reference) {
      const auto path = std::filesystem::path(deck.path).parent_path() / name;
      std::error_code error;
      if (!std::filesystem::exists(path, error) || std::filesystem::is_directory(path, error)) {
        throw deck::error_at(deck, base::ExitCode::usage,
                             fmt::format("acceptance[{}].reference", i),
                             fmt::format("found {}, but '{}' is no file; allowed: given, or the "
                                         "path of a reference file from the deck's folder",
                                         describe::quoted(name), base::one_line(path.string())));
      }
      files.emplace(name, load_reference(path.string()));
    } else if (!given.empty()) {
      files.emplace(name, load_reference(deck::shipped_path(given, "references", "reference")));
    }
  }
  return files;
}

std::string to_yaml(const Reference& reference, const std::string& how) {
  std::string text =
      fmt::format("# {}\nschema: {}\nentries:\n",
                  base::replaced(base::safe_lines(how), "\n", "\n# "), reference_schema);
  for (const Entry& entry : reference.entries) {
    const char* indent = "  - ";
    const Json keys = describe::write(entry);
    for (const auto& [key, value] : keys.items()) {
      text += fmt::format("{}{}: {}\n", std::exchange(indent, "    "), key,
                          describe::spell(value, true));
    }
  }
  return text;
}

const Entry* find(const Reference& reference, const Subject& subject) {
  const auto entry = std::ranges::find(reference.entries, subject, &Entry::subject);
  return entry == reference.entries.end() ? nullptr : &*entry;
}

std::string missing_entry(const Reference& reference, const Subject& subject) {
  const auto equal_members = [&](const Entry& entry) {
    const Subject& other = entry.subject;
    return (other.device == subject.device) + (other.link == subject.link) +
           (other.backend == subject.backend) + (other.deck == subject.deck) +
           (other.phase == subject.phase) + (other.order == subject.order) +
           (other.metric == subject.metric);
  };
  const std::vector<std::string> wanted = texts(subject);
  const auto nearest = std::ranges::max_element(reference.entries, {}, equal_members);
  std::string near = "it has no entries";
  if (nearest != reference.entries.end()) {
    std::vector<std::string> other = texts(nearest->subject);
    std::erase_if(other, [&](const auto& text) { return std::ranges::count(wanted, text) > 0; });
    near = fmt::format("the nearest is for {}", fmt::join(other, ", "));
  }
  return fmt::format("{} has no entry for {}; {}", reference.path, fmt::join(wanted, ", "), near);
}

void limit_by(const Reference& reference, const Entry& entry, std::optional<double> below,
              Check& check) {
  const double part = below.value_or(entry.tolerance);
  check.at_least = deck::row_of(check.metric).better == deck::Better::more;
  check.limit = entry.value * (check.at_least ? 1 - part : 1 + part);
  check.source = LimitSource{reference.path, entry.value, part};
}

}  // namespace overlap::results
