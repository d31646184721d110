#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <pugixml.hpp>
#include <sstream>

#include "base/text.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using results::Verdict;
using Attributes = std::vector<std::pair<const char*, std::string>>;

pugi::xml_node add(pugi::xml_node parent, const char* name, const Attributes& attributes = {},
                   const std::string& text = "") {
  pugi::xml_node node = parent.append_child(name);
  for (const auto& [key, value] : attributes) {
    node.append_attribute(key).set_value(base::one_line(value).c_str());
  }
  if (!text.empty()) node.text().set(base::safe_lines(text).c_str());
  return node;
}

/// FAIL is a failure, SKIPPED skipped, any other verdict except PASS an error.
const char* element_of(Verdict verdict) {
  return verdict == Verdict::fail ? "failure" : verdict == Verdict::skipped ? "skipped" : "error";
}

class File {
 public:
  /// Adds a suite; its output is that of the program. Repeated names of tests are numbered, since
  /// harnesses drop tests whose name is taken.
  void add_suite(const std::string& name, const std::string& host, const std::string& started,
                 const Attributes& properties, const std::vector<JunitCase>& tests,
                 const std::string& output) {
    double time_s = 0;
    std::map<std::string, int> counts;
    for (const JunitCase& test : tests) {
      time_s += test.time_s;
      if (test.verdict != Verdict::pass) ++counts[element_of(test.verdict)];
    }
    pugi::xml_node suite = add(suites_, "testsuite",
                               {{"name", name},
                                {"package", "overlap"},
                                {"id", std::to_string(number_++)},
                                {"hostname", host},
                                {"timestamp", started.substr(0, started.find('Z'))},
                                {"tests", std::to_string(tests.size())},
                                {"failures", std::to_string(counts["failure"])},
                                {"errors", std::to_string(counts["error"])},
                                {"skipped", std::to_string(counts["skipped"])},
                                {"time", fmt::format("{:.6f}", time_s)}});
    pugi::xml_node list = add(suite, "properties");
    for (const auto& [key, value] : properties) {
      add(list, "property", {{"name", key}, {"value", value}});
    }
    for (const JunitCase& test : tests) {
      const int nth = ++names_[test.where + " " + test.name];
      pugi::xml_node node = add(suite, "testcase",
                                {{"classname", test.where},
                                 {"name", test.name + (nth > 1 ? fmt::format("#{}", nth) : "")},
                                 {"time", fmt::format("{:.6f}", test.time_s)}});
      if (test.verdict == Verdict::pass) continue;
      add(node, element_of(test.verdict), {{"type", std::string(deck::to_string(test.verdict))}},
          test.text);
    }
    add(suite, "system-out", {}, output.substr(0, output.find_last_not_of('\n') + 1));
    add(suite, "system-err");
  }

  std::string text() const {
    std::ostringstream text;
    document_.save(text, "  ");  // with the declaration
    return text.str();
  }

 private:
  pugi::xml_document document_;
  pugi::xml_node suites_ = add(document_, "testsuites");
  std::size_t number_ = 0;
  std::map<std::string, int> names_;  ///< how often each was used
};

/// "rowsum[chunks.count=4,memory.host=pinned]/alone".
std::string place_of(const results::Result& result, const results::Point& point) {
  std::vector<std::string> values;
  for (const auto& [key, value] : point.values.items()) {
    values.push_back(key + "=" + point.spelled(key));
  }
  return fmt::format("{}{}/{}", result.deck.name(),
                     values.empty() ? "" : fmt::format("[{}]", fmt::join(values, ",")),
                     deck::to_string(point.phase));
}

/// Whether a point ran to its end and its data are right.
JunitCase data_case(const results::Point& point) {
  JunitCase test;
  for (const results::Run& run : point.runs) {
    test.time_s += static_cast<double>(run.repetitions) * results::time_s(run).median;
  }
  const auto end = [&](Verdict verdict, const std::string& text) {
    test.verdict = verdict;
    test.text = text;
    return test;
  };
  if (!point.outcome) return end(Verdict::error, "not run");
  if (std::ranges::any_of(point.runs, [](const auto& run) { return !!run.wrong; })) {
    return end(Verdict::fail, fmt::format("{}", fmt::join(point.outcome->reasons, "\n")));
  }
  if (!point.is_finished()) {
    return end(results::verdict_of(point.outcome->exit_code), point.ended_by());
  }
  return point.ran() ? test : end(Verdict::skipped, "predicted, not run");
}

/// The verdict of a check, and what findings say about its order.
JunitCase check_case(const results::Point& point, const results::Check& check) {
  JunitCase test{.verdict = check.verdict, .text = check.text};
  for (const results::Finding& finding : point.findings) {
    const bool twin = finding.disturbance || finding.host_work;
    if (!twin && check.key.order == finding.order) test.text += "\n" + finding.text;
  }
  return test;
}

std::vector<JunitCase> tests_of(const results::Result& result) {
  const auto& [build, host, device, job, placement] = result.machine;
  std::vector<JunitCase> tests;
  const auto add_test = [&](std::string name, JunitCase test) {
    test.where = host.name + "." + (device ? device->id() : build.backend);
    test.name = std::move(name);
    tests.push_back(std::move(test));
  };
  bool explained = !result.error;
  for (const results::Point& point : result.points) {
    const std::string place = place_of(result, point);
    add_test(place + "/-/data", data_case(point));
    explained = explained || (point.outcome && point.outcome->error == result.error);
    for (const results::Check& check : point.checks) {
      add_test(
          fmt::format("{}/{}/{}", place, order_name(check.key), deck::to_string(check.key.metric)),
          check_case(point, check));
    }
  }
  if (!explained) add_test("files", {.verdict = Verdict::error, .text = *result.error});
  return tests;
}

}  // namespace

std::string junit(const Results& results) {
  File file;
  for (const results::Result& result : results) {
    const auto& [build, host, device, job, placement] = result.machine;
    file.add_suite(result.deck.name(), host.name, result.started,
                   {{"version", build.version},
                    {"backend", build.backend},
                    {"device", device ? device->name : host.cpu},
                    {"deck", result.deck.path},
                    {"sha256", result.deck.sha256}},
                   tests_of(result), result_lines(result) + verdict_line({&result, 1}));
  }
  return file.text();
}

std::string junit(const results::Fleet& fleet) {
  std::string started = "1970-01-01T00:00:00Z";
  std::vector<JunitCase> tests;
  for (const results::FleetDevice& device : fleet.devices) {
    started = std::max(started, device.started);
    std::vector<std::string> texts;
    for (const SharedReason& reason : reasons({&device, 1})) texts.push_back(text_of(reason));
    tests.push_back({.where = device.host + "." + device.unit,
                     .name = device.deck_name + "/device",
                     .verdict = results::verdict_of(exit_code_of(device)),
                     .text = fmt::format("{}", fmt::join(texts, "\n"))});
  }
  std::ranges::move(faults(fleet), std::back_inserter(tests));
  File file;
  file.add_suite("fleet", "-", started, {}, tests, fleet_lines(fleet, true));
  return file.text();
}

}  // namespace overlap::report
