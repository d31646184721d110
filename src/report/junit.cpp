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

struct JunitSuite {
  std::string name;
  std::string host;
  std::string started;  ///< UTC
  std::vector<std::pair<const char*, std::string>> properties;
  std::vector<JunitCase> tests;
  std::string output;  ///< output of the program
};

/// The element of a test that did not pass.
std::string element_of(Verdict verdict) {
  return verdict == Verdict::fail ? "failure" : verdict == Verdict::skipped ? "skipped" : "error";
}

pugi::xml_node add(pugi::xml_node parent, const char* name,
                   const std::vector<std::pair<const char*, std::string>>& attributes = {},
                   const std::string& text = "") {
  pugi::xml_node node = parent.append_child(name);
  for (const auto& [key, value] : attributes) {
    node.append_attribute(key).set_value(base::one_line(value).c_str());
  }
  if (!text.empty()) node.text().set(base::safe_lines(text).c_str());
  return node;
}

std::string seconds(double time_s) { return fmt::format("{:.6f}", time_s); }

/// `names`: how often each was used in the file, since harnesses drop tests whose name is taken.
void add_suite(pugi::xml_node suites, std::size_t id, const JunitSuite& suite,
               std::map<std::string, int>& names) {
  double time_s = 0;
  for (const JunitCase& test : suite.tests) time_s += test.time_s;
  const auto count = [&](const char* element) {
    return std::to_string(std::ranges::count_if(suite.tests, [&](const JunitCase& test) {
      return test.verdict != Verdict::pass && element_of(test.verdict) == element;
    }));
  };
  pugi::xml_node node = add(suites, "testsuite",
                            {{"name", suite.name},
                             {"package", "overlap"},
                             {"id", std::to_string(id)},
                             {"hostname", suite.host},
                             {"timestamp", suite.started.substr(0, suite.started.find('Z'))},
                             {"tests", std::to_string(suite.tests.size())},
                             {"failures", count("failure")},
                             {"errors", count("error")},
                             {"skipped", count("skipped")},
                             {"time", seconds(time_s)}});
  pugi::xml_node properties = add(node, "properties");
  for (const auto& [name, value] : suite.properties) {
    add(properties, "property", {{"name", name}, {"value", value}});
  }
  for (const JunitCase& test : suite.tests) {
    const int nth = ++names[test.where + " " + test.name];
    pugi::xml_node testcase = add(node, "testcase",
                                  {{"classname", test.where},
                                   {"name", test.name + (nth > 1 ? fmt::format("#{}", nth) : "")},
                                   {"time", seconds(test.time_s)}});
    if (test.verdict == Verdict::pass) continue;
    add(testcase, element_of(test.verdict).c_str(),
        {{"type", std::string(deck::to_string(test.verdict))}}, test.text);
  }
  add(node, "system-out", {}, suite.output.substr(0, suite.output.find_last_not_of('\n') + 1));
  add(node, "system-err");
}

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
  if (!point.outcome) {
    test.verdict = Verdict::error;
    test.text = "not run";
  } else if (std::ranges::any_of(point.runs, [](const auto& run) { return !!run.wrong; })) {
    test.verdict = Verdict::fail;
    test.text = fmt::format("{}", fmt::join(point.outcome->reasons, "\n"));
  } else if (!point.is_finished()) {
    test.verdict = results::verdict_of(point.outcome->exit_code);
    test.text = point.ended_by();
  } else if (!point.ran()) {
    test.verdict = Verdict::skipped;
    test.text = "predicted, not run";
  }
  return test;
}

/// The verdict of a check, and what findings say about its order.
JunitCase check_case(const results::Point& point, const results::Check& check) {
  JunitCase test{.verdict = check.verdict, .text = check.text};
  for (const results::Finding& finding : point.findings) {
    const bool twin = finding.disturbance || finding.host_work;
    if (!twin && check.order == finding.order) test.text += "\n" + finding.text;
  }
  return test;
}

/// A result as one suite.
JunitSuite suite_of(const results::Result& result) {
  const auto& [build, host, device, job, placement] = result.machine;
  JunitSuite suite{.name = result.deck.name(),
                   .host = host.name,
                   .started = result.started,
                   .properties = {{"version", build.version},
                                  {"backend", build.backend},
                                  {"device", device ? device->name : host.cpu},
                                  {"deck", result.deck.path},
                                  {"sha256", result.deck.sha256}},
                   .output = result_lines(result) + verdict_line({&result, 1})};
  const auto add_case = [&](std::string name, JunitCase test) {
    test.where = host.name + "." + (device ? device->id() : build.backend);
    test.name = std::move(name);
    suite.tests.push_back(std::move(test));
  };
  bool explained = !result.error;
  for (const results::Point& point : result.points) {
    const std::string place = place_of(result, point);
    add_case(place + "/-/data", data_case(point));
    explained = explained || (point.outcome && point.outcome->error == result.error);
    for (const results::Check& check : point.checks) {
      add_case(
          fmt::format("{}/{}/{}", place, results::order_name(check), deck::to_string(check.metric)),
          check_case(point, check));
    }
  }
  if (!explained) add_case("files", {.verdict = Verdict::error, .text = *result.error});
  return suite;
}

/// The file. FAIL is a failure, SKIPPED skipped, any other verdict except PASS an error; repeated
/// names are numbered.
std::string junit_text(const std::vector<JunitSuite>& suites) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  pugi::xml_node root = add(document, "testsuites");
  std::map<std::string, int> names;
  for (std::size_t i = 0; i < suites.size(); ++i) add_suite(root, i, suites[i], names);
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

}  // namespace

std::string junit(const Results& results) {
  std::vector<JunitSuite> suites;
  for (const results::Result& result : results) suites.push_back(suite_of(result));
  return junit_text(suites);
}

std::string junit(const results::Fleet& fleet) {
  JunitSuite suite{.name = "fleet",
                   .host = "-",
                   .started = "1970-01-01T00:00:00Z",
                   .output = fleet_lines(fleet, true)};
  for (const results::Device& device : fleet.devices) {
    suite.started = std::max(suite.started, device.started);
    std::vector<std::string> texts;
    for (const results::Reason& reason : device.reasons) texts.push_back(reason.text);
    suite.tests.push_back({.where = device.host + "." + device.unit,
                           .name = device.deck_name + "/device",
                           .verdict = results::verdict_of(exit_code_of(device)),
                           .text = fmt::format("{}", fmt::join(texts, "\n"))});
  }
  std::ranges::move(faults(fleet), std::back_inserter(suite.tests));
  return junit_text({suite});
}

}  // namespace overlap::report
