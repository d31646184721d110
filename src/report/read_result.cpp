#include "report/read_result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "deck/words.hpp"
#include "report/json.hpp"
#include "yaml/kinds.hpp"

namespace overlap::report {
namespace {

namespace fs = std::filesystem;
using experiment::KeyWords;
using experiment::Recorded;
using yaml::Json;

[[noreturn]] void fail(const std::string& message) {
  throw base::Error(base::ExitCode::runtime_error, message);
}

/// A value of a result file that knows where it is.
class Value {
 public:
  Value(const Json& json, std::string file, std::string path = "")
      : json_(&json), file_(std::move(file)), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& found, const std::string& allowed) const {
    const std::string where = path_.empty() ? file_ : file_ + ": " + path_;
    report::fail(fmt::format("{}: found {}; allowed: {}", where, found, allowed));
  }
  Value at(const std::string& key) const {
    if (!json_->is_object()) fail("no object", "an object");
    const std::string path = path_.empty() ? key : path_ + "." + key;
    if (!json_->contains(key)) Value(*json_, file_, path).fail("nothing", "a result file's field");
    return {(*json_)[key], file_, path};
  }
  bool has(const std::string& key) const { return json_->is_object() && json_->contains(key); }
  bool is_null() const { return json_->is_null(); }
  const Json& json() const { return *json_; }

  std::vector<Value> items() const {
    if (!json_->is_array()) fail("no list", "a list");
    std::vector<Value> items;
    for (const Json& item : *json_) {
      items.push_back({item, file_, fmt::format("{}[{}]", path_, items.size())});
    }
    return items;
  }
  double number() const {
    if (!json_->is_number()) fail(json_->dump(), "a number");
    return *json_;
  }
  std::vector<double> numbers() const {
    std::vector<double> numbers;
    for (const Value& item : items()) numbers.push_back(item.number());
    return numbers;
  }
  std::vector<double> times() const {
    for (const Value& item : items()) {
      if (item.number() <= 0) item.fail(item.json().dump(), "a time above 0");
    }
    return numbers();
  }
  bool flag() const {
    if (!json_->is_boolean()) fail(json_->dump(), "true, false");
    return *json_;
  }
  std::string text() const {
    if (!json_->is_string()) fail(json_->dump(), "text");
    return *json_;
  }
  std::string text_or_nothing() const { return is_null() ? "" : text(); }
  template <class Enum>
  Enum word() const {
    const std::string found = text();
    const auto& words = deck::words<Enum>;
    const auto word = std::ranges::find_if(words, [&](const auto& w) { return w.name == found; });
    if (word == words.end()) {
      fail(yaml::quoted(found), fmt::format("{}", fmt::join(deck::spellings<Enum>(), ", ")));
    }
    return word->value;
  }

 private:
  const Json* json_;
  std::string file_;
  std::string path_;
};

/// The leaves of nested objects by their dotted keys.
void flatten(const Json& json, const std::string& key, KeyWords& into) {
  if (!json.is_object()) {
    into[key] = json.is_null() ? "-" : yaml::spell(json);
    return;
  }
  for (const auto& [name, value] : json.items()) {
    flatten(value, key.empty() ? name : key + "." + name, into);
  }
}

/// What may differ between two runs on one machine without saying anything.
constexpr auto fleeting = std::to_array<const char*>(
    {"host.available_bytes", "device.free_bytes", "device.pcie_gen", "device.pcie_width",
     "device.sm_clock_mhz", "device.memory_clock_mhz"});

KeyWords provenance(const Value& result) {
  KeyWords all;
  for (const char* part : {"build", "host", "device"}) flatten(result.at(part).json(), part, all);
  for (const char* key : fleeting) all.erase(key);
  return all;
}

KeyWords deck_keys(const Value& deck) {
  Json keys = deck.at("resolved").json();
  for (const char* other : {"title", "measure", "acceptance", "require"}) keys.erase(other);
  KeyWords all;
  flatten(keys, "", all);
  return all;
}

/// The link, while the device was awake if that is known.
std::optional<std::string> link(const Value& result, const Value& device) {
  const auto of = [](const Value& state) -> std::optional<std::string> {
    std::vector<std::optional<int>> numbers;
    for (const char* key : {"pcie_gen", "pcie_width"}) {
      const Value value = state.at(key);
      numbers.push_back(value.is_null() ? std::nullopt
                                        : std::optional(static_cast<int>(value.number())));
    }
    return experiment::link_words(numbers[0], numbers[1]);
  };
  if (result.has("health")) {
    const Value health = result.at("health");
    if (health.has("after") && !health.at("after").is_null()) return of(health.at("after"));
  }
  return of(device);
}

experiment::Run read_run(const Value& value) {
  experiment::Run run;
  run.order = value.at("order").word<deck::Order>();
  if (const Value disturb = value.at("disturb"); !disturb.is_null()) {
    run.disturbance = disturb.word<deck::Disturbance>();
  }
  if (const Value work = value.at("host_work"); !work.is_null()) {
    run.host_work = true;
    run.host_work_samples.samples_s = work.at("samples_s").times();
  }
  run.samples_s = value.at("samples_s").times();
  if (run.samples_s.empty()) value.at("samples_s").fail("a prediction", "measured runs");
  if (const Value wrong = value.at("wrong"); !wrong.is_null()) wrong.fail("wrong data", "null");
  run.verified = value.at("verified").flag();
  if (!run.verified) value.at("verified").fail("false", "true");
  if (const Value error = value.at("max_error"); !error.is_null()) run.max_error = error.number();
  if (const Value bound = value.at("bound_s"); !bound.is_null()) {
    run.bounds = model::Bounds{.bound_s = bound.number(),
                               .schedule_bound_s = value.at("schedule_bound_s").number()};
  }
  const double bytes = value.at("bytes").number();
  if (bytes < 0) value.at("bytes").fail(value.at("bytes").json().dump(), "a size");
  run.schedule.tasks = {{.stage = schedule::Stage::h2d, .bytes = static_cast<std::size_t>(bytes)}};
  return run;
}

std::vector<experiment::RecordedPoint> read_points(const Value& runs) {
  std::vector<experiment::RecordedPoint> points;
  for (const Value& value : runs.items()) {
    std::vector<deck::Point::Value> values;
    const Value swept = value.at("point");
    for (const auto& [key, of] : swept.json().items()) values.push_back({key, yaml::spell(of)});
    const std::string words = point_words(values);
    auto point = std::ranges::find(points, words, &experiment::RecordedPoint::words);
    if (point == points.end()) point = points.insert(points.end(), {words, {}});
    point->runs.push_back(read_run(value));
  }
  if (points.empty()) runs.fail("no run", "measured runs");
  return points;
}

experiment::DeviceSamples read_rates(const Value& rates) {
  if (rates.is_null()) return {};
  experiment::DeviceSamples device;
  device.link_bytes = static_cast<std::int64_t>(rates.at("bytes").number());
  device.h2d_s = rates.at("h2d_s").times();
  device.d2h_s = rates.at("d2h_s").times();
  device.duplex_s = rates.at("duplex_s").times();
  if (device.d2h_s.size() != device.h2d_s.size() || device.duplex_s.size() != device.h2d_s.size()) {
    rates.fail("lists of different lengths", "one time of each kind per repetition");
  }
  return device;
}

std::vector<deck::Criterion> read_acceptance(const Value& deck) {
  std::vector<deck::Criterion> criteria;
  for (const Value& value : deck.at("acceptance").items()) {
    deck::Criterion& criterion = criteria.emplace_back();
    criterion.metric = value.at("metric").word<deck::Metric>();
    if (value.has("order")) criterion.order = value.at("order").word<deck::Order>();
  }
  return criteria;
}

Recorded read_result(const std::string& file, const Value& result) {
  if (!result.has("schema") || result.at("schema").json() != result_schema) {
    result.fail(result.has("schema") ? result.at("schema").json().dump() : "no schema",
                fmt::format("a result file, schema {}", result_schema));
  }
  if (const Value error = result.at("error"); !error.is_null()) {
    error.fail(yaml::quoted(error.text()), "null");
  }
  if (const Value interrupted = result.at("interrupted"); interrupted.flag()) {
    interrupted.fail("true", "false");
  }
  const Value deck = result.at("deck");
  // Member by member: GCC 16 destroys members of an aggregate twice when a later one throws.
  Recorded recorded;
  recorded.file = file;
  recorded.machine.device = result.at("host").at("cpu").text();
  recorded.machine.backend = result.at("build").at("backend").text();
  recorded.machine.deck = deck.at("identity").text();
  recorded.unit = result.at("host").at("name").text();
  recorded.deck_path = deck.at("path").text();
  recorded.started = result.at("started").text();
  recorded.version = result.at("build").at("version").text();
  recorded.provenance = provenance(result);
  recorded.deck = deck_keys(deck);
  recorded.acceptance = read_acceptance(deck.at("resolved"));
  recorded.points = read_points(result.at("runs"));
  recorded.device = read_rates(result.at("rates"));
  if (const Value device = result.at("device"); !device.is_null()) {
    recorded.machine.device = device.at("name").text();
    recorded.machine.link = link(result, device);
    recorded.unit = device.at("uuid").text_or_nothing();
    if (device.has("driver")) recorded.driver = device.at("driver").text_or_nothing();
  }
  return recorded;
}

std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (auto at = fs::directory_iterator(path, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path().string());
  }
  if (error) fail(path + ": cannot read: " + error.message());
  if (files.empty()) fail(path + ": found no file *.json; allowed: a folder with result files");
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<Recorded> results_of(const std::string& file, const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) fail(file + ": found no JSON; allowed: a result file");
  const Value root(json, file);
  std::vector<Value> values = {root};
  if (root.has("results")) values = root.at("results").items();
  std::vector<Recorded> results;
  for (const Value& value : values) results.push_back(read_result(file, value));
  return results;
}

std::vector<Recorded> read_results(const std::vector<std::string>& files_or_folders) {
  std::vector<Recorded> results;
  for (const std::string& path : files_or_folders) {
    for (const std::string& file : files_of(path)) {
      std::ifstream stream(file, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      if (!stream) fail(fmt::format("{}: cannot read: {}", file, std::strerror(errno)));
      for (Recorded& result : results_of(file, text)) results.push_back(std::move(result));
    }
  }
  return results;
}

}  // namespace overlap::report
