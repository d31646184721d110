#include "results/reference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "base/units.hpp"
#include "deck/deck.hpp"
#include "deck/fields.hpp"
#include "results/describe.hpp"
#include "results/figures.hpp"

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

/// The subject of a figure of a machine.
Subject with_key(Subject machine, const FigureKey& key) {
  machine.key = key;
  return machine;
}

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
  std::vector<std::string> texts;
  const Json keys = describe::write(subject);
  for (const auto& [key, value] : keys.items()) {
    texts.push_back(key + " " + describe::spell(value));
  }
  return texts;
}

/// That a reference is of other decks, and how to make one of this deck; empty: it is not.
std::string other_decks(const Reference& reference, const Subject& subject,
                        const std::string& deck_name) {
  std::set<std::string> decks;
  for (const Entry& entry : reference.entries) {
    if (entry.subject.deck == subject.deck) return "";
    const bool same_name = entry.deck_name == deck_name;  // but other keys
    decks.insert(entry.deck_name + (same_name ? deck::mark_of(entry.subject.deck) : ""));
  }
  if (decks.empty()) return "";
  return fmt::format(
      "{} was made for deck {}, not {}; to make one from results of {}: miniapp baseline -o "
      "{}.yaml FOLDER",
      reference.path, fmt::join(decks, ", "), deck_name, deck_name, deck_name);
}

/// Results that need more do not agree.
constexpr double most_tolerance = 0.25;

/// A figure of one result.
struct Source {
  DeviceId device;
  std::string file;
  base::Summary value;
};

/// Values collected for one subject.
struct Collected {
  std::vector<Source> sources;
  std::set<std::string> drivers;
  const Result* newest = nullptr;
};

void add(std::map<Subject, Collected>& by_subject, const Result& result) {
  const Origin from = origin(result);
  for (const Figure& row : figures_of(result)) {
    if (!row.judged || !row.value || !deck::has_reference(row.key.metric)) continue;
    Collected& collected = by_subject[with_key(from.subject, row.key)];
    collected.sources.push_back({from.device(), result.file, *row.value});
    if (!from.driver.empty()) collected.drivers.insert(from.driver);
    if (collected.newest == nullptr || collected.newest->started < result.started) {
      collected.newest = &result;
    }
  }
}

/// Whether a result passed, or is inconclusive only because its criteria have no reference yet.
bool is_healthy(const Result& result) {
  if (result.code != base::ExitCode::inconclusive) return result.code == base::ExitCode::pass;
  return std::ranges::none_of(result.points, [](const Point& point) {
    return std::ranges::any_of(point.checks, [](const Check& check) {
      return decides(check) && !std::isnan(check.limit);
    });
  });
}

/// The entry of a subject, with a tolerance for the spread of its sources.
Entry entry_of(const Subject& subject, const Collected& collected, std::optional<double> below) {
  std::map<DeviceId, std::vector<double>> by_device;
  std::vector<double> all, devices;
  for (const Source& source : collected.sources) {
    by_device[source.device].push_back(source.value.median);
    all.push_back(source.value.median);
  }
  for (const auto& [device, medians] : by_device) devices.push_back(base::median(medians));
  const double value = base::median(devices), mad = base::median_deviation(all, value);
  return {.subject = subject,
          .deck_name = describe::name_of(collected.newest->deck.path),
          .value = value,
          .tolerance = below.value_or(tolerance_of(value, mad, devices.size())),
          .devices = static_cast<int>(devices.size()),
          .mad = mad,
          .driver = fmt::format("{}", fmt::join(collected.drivers, ", ")),
          .date = collected.newest->started.substr(0, 10),
          .version = collected.newest->machine.build.version};
}

/// How much worse than the entry the worse end of an interval is; relative.
double worse_by(const Entry& entry, const base::Summary& value) {
  const bool more = deck::row_of(entry.subject.key.metric).better == deck::Better::more;
  return (more ? entry.value - value.lo : value.hi - entry.value) / entry.value;
}

}  // namespace

void describe(Visitor& v, Subject& subject) {
  v("device", subject.device, "Name of the device; on host back ends the processor.", Name(),
    describe::required);
  v("link", subject.link, "Generation and width of its link.",
    describe::or_word("none", describe::line()));
  v("backend", subject.backend, "Default execution space.", Name(), describe::required);
  v("deck", subject.deck, "Identity of the deck.", Name(), describe::required);
  v("phase", subject.key.phase, "alone, or together with the other devices of its node.");
  v("order", subject.key.order, "Issue order; none: a metric of the device.",
    describe::or_word("none", describe::OneOf<deck::Order>()));
  v("metric", subject.key.metric, "Metric.", describe::required);
}

void describe(Visitor& v, Entry& entry) {
  describe(v, entry.subject);
  v("deck_name", entry.deck_name, "Name of the deck.", describe::line());
  v("value", entry.value, "What a healthy device reaches.",
    Rounded{{.allowed = "a number above 0", .least = describe::above_0}}, describe::required);
  std::string unit(deck::row_of(entry.subject.key.metric).unit);
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

std::string to_yaml(const Reference& reference, const std::string& heading) {
  std::vector<Entry> entries = reference.entries;
  return describe::map_to_yaml([&](Visitor& v) { describe_entries(v, entries); },
                               base::safe_lines(heading));
}

void limit_by(const Reference& reference, Subject machine, const std::string& deck_name,
              std::optional<double> below, Check& check) {
  const Subject subject = with_key(std::move(machine), check.key);
  check.at_least = deck::row_of(check.key.metric).better == deck::Better::more;
  check.limit = std::numeric_limits<double>::quiet_NaN();
  const auto entry = std::ranges::find(reference.entries, subject, &Entry::subject);
  if (entry != reference.entries.end()) {
    const double part = below.value_or(entry->tolerance);
    check.limit = entry->value * (check.at_least ? 1 - part : 1 + part);
    check.source = LimitSource{reference.path, entry->value, part};
    return;
  }
  check.reason = other_decks(reference, subject, deck_name);
  if (!check.reason.empty()) return;
  const std::vector<std::string> wanted = texts(subject);
  std::string near = "it has no entries";
  std::size_t least = SIZE_MAX;
  for (const Entry& other : reference.entries) {
    std::vector<std::string> others = texts(other.subject);
    std::erase_if(others, [&](const auto& text) { return std::ranges::count(wanted, text) > 0; });
    if (others.size() >= least) continue;
    least = others.size();
    near = fmt::format("the nearest is for {}", fmt::join(others, ", "));
  }
  check.reason =
      fmt::format("{} has no entry for {}; {}", reference.path, fmt::join(wanted, ", "), near);
}

double tolerance_of(double median, double mad, std::size_t n) {
  constexpr std::size_t enough = 8;
  constexpr double sigma = 1.4826;  // standard deviation / MAD of a normal distribution
  return std::clamp(3 * sigma * mad / median, n < enough ? 0.05 : 0.01, 1.0);
}

Baseline baseline(const std::vector<Result>& results, std::optional<double> below) {
  std::map<Subject, Collected> by_subject;
  std::vector<std::string> failed;
  const auto refuse = [](const std::string& found) {
    throw base::Error(base::ExitCode::runtime_error, found);
  };
  for (const Result& result : results) {
    if (result.code == base::ExitCode::wrong_data) {
      refuse(result.file + ": found wrong data; allowed: results with correct data");
    }
    if (result.sweeps()) refuse(result.file + ": found a sweep; allowed: a deck without a sweep");
    if (!is_healthy(result)) {
      const std::string_view verdict = deck::to_string(verdict_of(result.code));
      failed.push_back(fmt::format("{} ({})", result.file, verdict));
    }
    add(by_subject, result);
  }
  if (!failed.empty()) {
    refuse(fmt::format("found {}; allowed: results that passed or lack only a reference",
                       fmt::join(failed, ", ")));
  }
  const double most = std::max(most_tolerance, below.value_or(0));
  Baseline baseline;
  double widest = most;
  std::string disagreement;
  for (const auto& [subject, collected] : by_subject) {
    Entry entry = entry_of(subject, collected, below);
    if (!(entry.value > 0 && std::isfinite(entry.value))) {
      baseline.left_out.push_back(entry);
      continue;
    }
    double least = 0, off = 0;
    const std::string* far = nullptr;
    for (const Source& source : collected.sources) {
      const double worse = worse_by(entry, source.value);
      // Rounded up, as a file has four digits of it.
      least = std::max(least, std::ceil(1e4 * worse + 1e-3) / 1e4);
      const double apart = std::max(worse, std::abs(source.value.median / entry.value - 1));
      if (far == nullptr || apart > off) std::tie(off, far) = std::pair(apart, &source.file);
    }
    off = std::max(off, entry.tolerance);
    // Small ratios, such as the efficiency of hardly any overlap, may differ by any part.
    if (off > most && deck::row_of(subject.key.metric).unit == "1") {
      baseline.left_out.push_back(entry);
      continue;
    }
    if (off > widest) {
      widest = off;
      disagreement = fmt::format(
          "these results do not agree: {} of deck {} would need a tolerance of {:.1f} % ({}); "
          "allowed: at most {:.0f} %",
          name_with_phase(subject.key), entry.deck_name, 100 * off, *far, 100 * most);
    }
    if (least > entry.tolerance) {
      entry.tolerance = least;
      baseline.widened.push_back(entry);
    }
    baseline.entries.push_back(entry);
  }
  if (!disagreement.empty()) throw base::Error(base::ExitCode::inconclusive, disagreement);
  if (baseline.entries.empty()) {
    throw base::Error(base::ExitCode::runtime_error,
                      "found no measured figure above 0; allowed: results with measured runs");
  }
  return baseline;
}

}  // namespace overlap::results
