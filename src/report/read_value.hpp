#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/whole.hpp"
#include "deck/words.hpp"
#include "experiment/recorded.hpp"
#include "yaml/kinds.hpp"

/// Common parts of result file readers.
namespace overlap::report {

using yaml::Json;

/// Throws base::Error.
[[noreturn]] void fail_to_read(const std::string& message,
                               base::ExitCode code = base::ExitCode::runtime_error);

/// The text of a result file as JSON. Throws base::Error{runtime_error}.
Json parse_json(const std::string& file, const std::string& text);

/// A value of a result file with its path, for errors.
class Value {
 public:
  Value(const Json& json, std::string file, std::string path = "")
      : json_(&json), file_(std::move(file)), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& found, const std::string& allowed,
                         base::ExitCode code = base::ExitCode::runtime_error) const {
    const std::string where = path_.empty() ? file_ : file_ + ": " + path_;
    fail_to_read(fmt::format("{}: found {}; allowed: {}", where, found, allowed), code);
  }
  Value at(const std::string& key) const {
    const std::string path = path_.empty() ? key : path_ + "." + key;
    if (!object().contains(key))
      Value(*json_, file_, path).fail("nothing", "a value, as in every result file");
    return {(*json_)[key], file_, path};
  }
  bool has(const std::string& key) const { return json_->is_object() && json_->contains(key); }
  bool is_null() const { return json_->is_null(); }
  bool is_object() const { return json_->is_object(); }
  bool is(const std::string& text) const { return *json_ == text; }
  /// All fields of an object.
  const Json& object() const {
    if (!is_object()) fail("no object", "an object");
    return *json_;
  }

  /// Text for errors, without the contents of lists and objects, which may be huge.
  std::string spelled() const {
    return json_->is_array() ? "a list" : json_->is_object() ? "an object" : json_->dump();
  }

  std::string dumped() const { return json_->dump(); }
  std::vector<Value> items() const {
    if (!json_->is_array()) fail("no list", "a list");
    std::vector<Value> items;
    for (const Json& item : *json_) {
      items.push_back({item, file_, fmt::format("{}[{}]", path_, items.size())});
    }
    return items;
  }
  double number() const {
    if (!json_->is_number()) fail(spelled(), "a number");
    return *json_;
  }
  template <std::integral T>
  T whole(const std::string& allowed) const {
    const auto found = base::whole<T>(number());
    if (!found) fail(spelled(), allowed);
    return *found;
  }
  std::vector<double> times() const {
    std::vector<double> times;
    for (const Value& item : items()) {
      times.push_back(item.number());
      if (times.back() <= 0) item.fail(item.spelled(), "a time above 0");
    }
    return times;
  }
  /// The field; null if missing, as in files of earlier versions.
  Value at_or_null(const std::string& key) const {
    static const Json null;
    return has(key) ? at(key) : Value(null, file_, path_ + "." + key);
  }
  /// The field; empty if null or missing.
  std::optional<Value> find(const std::string& key) const {
    return has(key) && !(*json_)[key].is_null() ? std::optional(at(key)) : std::nullopt;
  }
  bool flag() const {
    if (!json_->is_boolean()) fail(spelled(), "true, false");
    return *json_;
  }
  /// As one line: files come from others.
  std::string text() const {
    if (!json_->is_string()) fail(spelled(), "text");
    return base::one_line(json_->get_ref<const std::string&>());
  }
  /// Text that is not empty.
  std::string name() const {
    std::string found = text();
    if (found.empty()) fail(yaml::quoted(found), "a name");
    return found;
  }
  std::string text_or_nothing() const { return is_null() ? "" : text(); }
  template <class Enum>
  Enum word() const {
    const std::string found = text();
    const auto word = yaml::word<Enum>();
    if (const auto value = word.parse(found)) return *value;
    fail(yaml::quoted(found), word.values.allowed);
  }

 private:
  const Json* json_;
  std::string file_;
  std::string path_;
};

/// Throws base::Error{runtime_error} for a result that contradicts itself: exit code, verdict,
/// checks, values and runs must belong together.
void require_consistent(const Value& result);

/// The results in a file, one per deck, all of schema overlap-result/2 and consistent.
std::vector<Value> results_in(const Value& root);

/// The device that a result comes from.
experiment::Origin origin_of(const std::string& file, const Value& result);

/// The phase of one of `runs` or `checks`; files of earlier versions have only `alone`.
deck::Phase phase_of(const Value& entry);

/// A known exit code.
base::ExitCode exit_code_in(const Value& value);

/// Reads a criterion of the resolved deck without `min` and `reference`.
deck::Criterion read_criterion(const Value& value);

/// Reads one of `runs` with all inputs of the metrics: one copy represents all tasks of its
/// schedule.
experiment::Run read_run(const Value& value);

/// Adds a run to those before it. Throws base::Error if it is the second measured run of its name.
void add_run(const Value& value, experiment::Run run, std::vector<experiment::Run>& runs);

/// Reads the measured timeline of one of `runs`, if any: all tasks of the schedule with the data
/// that pictures need. The first copy carries the bytes of all.
void read_trace(const Value& value, experiment::Run& run);

/// The content of a file. Throws base::Error{runtime_error}.
std::string content_of(const std::string& file);

}  // namespace overlap::report
