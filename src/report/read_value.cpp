#include "report/read_value.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "experiment/reference.hpp"
#include "report/json.hpp"

namespace overlap::report {

namespace fs = std::filesystem;

void fail_to_read(const std::string& message) {
  throw base::Error(base::ExitCode::runtime_error, message);
}

std::vector<Value> results_in(const Value& root) {
  std::vector<Value> results = {root};
  if (root.has("results")) results = root.at("results").items();
  for (const Value& result : results) {
    if (result.has("schema") && result.at("schema").json() == result_schema) continue;
    result.fail(result.has("schema") ? result.at("schema").spelled() : "no schema",
                fmt::format("a result file, schema {}", result_schema));
  }
  return results;
}

std::optional<std::string> link_of(const Value& result) {
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
  return of(result.at("device"));
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
  run.verified = value.at("verified").flag();
  if (const Value error = value.at("max_error"); !error.is_null()) run.max_error = error.number();
  if (const Value bound = value.at("bound_s"); !bound.is_null()) {
    run.bounds = model::Bounds{.bound_s = bound.number(),
                               .schedule_bound_s = value.at("schedule_bound_s").number()};
  }
  const double bytes = value.at("bytes").number();
  if (bytes < 0) value.at("bytes").fail(value.at("bytes").spelled(), "a size");
  run.schedule.tasks = {{.stage = schedule::Stage::h2d, .bytes = static_cast<std::size_t>(bytes)}};
  return run;
}

std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (auto at = fs::directory_iterator(path, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path().string());
  }
  if (error) fail_to_read(path + ": cannot read: " + error.message());
  if (files.empty())
    fail_to_read(path + ": found no file *.json; allowed: a folder with result files");
  std::ranges::sort(files);
  return files;
}

std::string content_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  std::error_code unknown;
  if (const auto size = fs::file_size(file, unknown); !unknown) text.reserve(size + 1);
  std::array<char, 1 << 16> part;
  while (stream.read(part.data(), part.size()) || stream.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (!stream.eof() || stream.bad()) {
    fail_to_read(fmt::format("{}: cannot read: {}", file, std::strerror(errno)));
  }
  return text;
}

}  // namespace overlap::report
