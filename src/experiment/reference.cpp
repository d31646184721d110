#include "experiment/reference.hpp"

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "base/units.hpp"
#include "deck/deck.hpp"
#include "yaml/fields.hpp"
#include "yaml/shipped.hpp"

namespace overlap::experiment {
namespace {

using namespace yaml;

constexpr const char* schema_name = "overlap-reference/1";

Kind<std::string> exactly(const std::string& text) {
  return only<std::string>({.values = {.allowed = text, .words = {text}}, .parse = line().parse},
                           [text](const std::string& found) { return found == text; });
}

Kind<std::string> name() {
  return only<std::string>({.values = {.allowed = "a name"}, .parse = line().parse},
                           [](const std::string& found) { return !found.empty(); });
}

Kind<double> tolerance() {
  Kind<double> kind = part("a fraction from 0 to 100 %, such as 3 %", 0, 1);
  kind.write = [](const double& value) { return Json(base::spell_part(value)); };
  return kind;
}

Kind<double> rounded(Kind<double> kind) {
  kind.write = [](const double& value) {
    return Json(base::parse_number(fmt::format("{:.7g}", value)).value_or(value));
  };
  return kind;
}

const Table<Subject>& subject_table() {
  static const Table<Subject> table = {{
      field("device", &Subject::device, name(), "").required(),
      field("link", &Subject::link, or_word("none", line()), ""),
      field("backend", &Subject::backend, name(), "").required(),
      field("deck", &Subject::deck, name(), "").required(),
      field("phase", &Subject::phase, word<deck::Phase>(), ""),
      field("order", &Subject::order, or_word("none", word<deck::Order>()), ""),
      field("metric", &Subject::metric, word<deck::Metric>(), "").required(),
  }};
  return table;
}

const Table<Entry>& entry_table() {
  static const Table<Entry> table = [] {
    const auto unit_of = [](const Entry& entry) {
      return std::string(deck::row_of(entry.subject.metric).unit);
    };
    Table<Entry> all = {rows_of(&Entry::subject, subject_table(), "")};
    const std::vector<Field<Entry>> more = {
        field("deck_name", &Entry::deck_name, line(), ""),
        field("value", &Entry::value, rounded(number("a number above 0", above_0, any<double>)), "")
            .required(),
        {.key = {.name = "unit"},
         .read =
             [=](const Reader& map, Entry& entry) {
               if (map.has("unit")) exactly(unit_of(entry)).read(map.at("unit"));
             },
         .write = unit_of},
        field("tolerance", &Entry::tolerance, tolerance(), "").required(),
        field("devices", &Entry::devices, count(1, 1 << 20), ""),
        field("mad", &Entry::mad, rounded(number("a non-negative number", 0, any<double>)), ""),
        field("driver", &Entry::driver, line(), ""),
        field("date", &Entry::date, line(), ""),
        field("version", &Entry::version, line(), ""),
    };
    all.rows.insert(all.rows.end(), more.begin(), more.end());
    return all;
  }();
  return table;
}

/// Reads all entries; a second entry for a subject is an error.
std::vector<Entry> read_entries(const Reader& list) {
  std::vector<Entry> entries;
  const std::vector<Reader> items = list.items("a list of entries");
  for (const Reader& item : items) {
    Entry entry;
    read(entry_table(), item, entry);
    const auto first = std::ranges::find(entries, entry.subject, &Entry::subject);
    if (first != entries.end()) {
      const Reader& other = items[static_cast<std::size_t>(first - entries.begin())];
      item.fail(fmt::format(
          "found a second entry for the subject of {} ({}); allowed: one per device, link, "
          "backend, deck, phase, order and metric",
          other.path(), base::to_string(other.place())));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// A subject in words: "device NVIDIA H200", "link gen5 x16", ...
std::vector<std::string> words_of(Subject subject) {
  subject.deck = subject.deck.substr(0, 12);
  std::vector<std::string> words;
  for (const Field<Subject>& row : subject_table().rows) {
    words.push_back(fmt::format("{} {}", row.key.name, spell(row.value(subject))));
  }
  return words;
}

/// Those of `a` that differ from `b`.
std::vector<std::string> differences(const Subject& a, const Subject& b) {
  std::vector<std::string> words = words_of(a);
  const std::vector<std::string> others = words_of(b);
  std::erase_if(words,
                [&](const auto& one) { return std::ranges::find(others, one) != others.end(); });
  return words;
}

/// The value, quoted if YAML would not read it as this string.
std::string in_file(const Json& value) {
  if (!value.is_string()) return spell(value);
  const std::string text = value;
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  const bool plain =
      !text.empty() && text != "null" && is_word(text.front()) && text.back() != ' ' &&
      std::ranges::all_of(text, [&](char c) { return is_word(c) || c == ' ' || c == '%'; });
  return plain ? text : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Subject subject_of(const base::Machine& machine) {
  Subject subject{.device = machine.host.cpu, .backend = machine.build.backend};
  if (machine.device) {
    subject.device = machine.device->name;
    subject.link = base::spell_link(machine.device->pcie_gen, machine.device->pcie_width);
  }
  return subject;
}

Reference load_reference(const std::string& path) {
  const std::string kind = "reference file";
  const Document document = read_document(path, kind);
  const Reader reader(*document.root, kind);
  const std::vector<std::string> keys = {"schema", "entries"};
  reader.expect_keys(keys);
  exactly(schema_name).read(reader.at("schema"));
  return {.path = path, .entries = read_entries(reader.at("entries"))};
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
                                         yaml::quoted(name), base::one_line(path.string())));
      }
      files.emplace(name, load_reference(path.string()));
    } else if (!given.empty()) {
      files.emplace(name, load_reference(path_of(given, "references", "reference")));
    }
  }
  return files;
}

std::string to_yaml(const Reference& reference, const std::string& how) {
  std::string text = as_comment(how) + fmt::format("schema: {}\nentries:\n", schema_name);
  for (const Entry& entry : reference.entries) {
    const char* indent = "  - ";
    for (const Field<Entry>& row : entry_table().rows) {
      text += fmt::format("{}{}: {}\n", std::exchange(indent, "    "), row.key.name,
                          in_file(row.value(entry)));
    }
  }
  return text;
}

const Entry* find(const Reference& reference, const Subject& subject) {
  const auto entry = std::ranges::find(reference.entries, subject, &Entry::subject);
  return entry == reference.entries.end() ? nullptr : &*entry;
}

std::string missing_words(const Reference& reference, const Subject& subject) {
  const auto equal_members = [&](const Entry& entry) {
    const Subject& of = entry.subject;
    return (of.device == subject.device) + (of.link == subject.link) +
           (of.backend == subject.backend) + (of.deck == subject.deck) +
           (of.phase == subject.phase) + (of.order == subject.order) +
           (of.metric == subject.metric);
  };
  const auto nearest = std::ranges::max_element(reference.entries, {}, equal_members);
  return fmt::format("{} has no entry for {}; {}", reference.path,
                     fmt::join(words_of(subject), ", "),
                     nearest == reference.entries.end()
                         ? "it has no entries"
                         : fmt::format("the nearest is for {}",
                                       fmt::join(differences(nearest->subject, subject), ", ")));
}

}  // namespace overlap::experiment
