#include "report/junit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <pugixml.hpp>
#include <sstream>
#include <string_view>

#include "base/text.hpp"
#include "report/lines.hpp"
#include "report/writers.hpp"
#include "results/checks.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using results::Verdict;

/// The element of a test that did not pass, by verdict.
constexpr std::array<const char*, deck::words<Verdict>.size()> elements = {
    nullptr, "failure", "error", "error", "skipped", "error"};

const char* element_of(Verdict verdict) { return elements[static_cast<std::size_t>(verdict)]; }

using Attributes = std::vector<std::pair<const char*, std::string>>;

pugi::xml_node add(pugi::xml_node parent, const char* name, const Attributes& attributes = {}) {
  pugi::xml_node node = parent.append_child(name);
  for (const auto& [key, value] : attributes) {
    node.append_attribute(key).set_value(base::one_line(value).c_str());
  }
  return node;
}

/// How often each name was used in the file: harnesses drop tests whose name is taken.
using Names = std::map<std::string, int>;

void add_suite(pugi::xml_node suites, int id, const JunitSuite& of, Names& names) {
  std::map<std::string_view, int> counts;
  double time_s = 0;
  for (const JunitCase& test : of.tests) {
    if (const char* const element = element_of(test.verdict)) ++counts[element];
    time_s += test.time_s;
  }
  const auto seconds = [](double time) { return fmt::format("{:.6f}", time); };
  pugi::xml_node suite = add(suites, "testsuite",
                             {{"name", of.name},
                              {"package", "overlap"},
                              {"id", std::to_string(id)},
                              {"hostname", of.host},
                              {"timestamp", of.started.substr(0, of.started.find('Z'))},
                              {"tests", std::to_string(of.tests.size())},
                              {"failures", std::to_string(counts["failure"])},
                              {"errors", std::to_string(counts["error"])},
                              {"skipped", std::to_string(counts["skipped"])},
                              {"time", seconds(time_s)}});
  pugi::xml_node properties = add(suite, "properties");
  for (const auto& [name, value] : of.properties) {
    add(properties, "property", {{"name", name}, {"value", value}});
  }
  for (const JunitCase& test : of.tests) {
    const int nth = ++names[test.where + " " + test.name];
    pugi::xml_node node = add(suite, "testcase",
                              {{"classname", test.where},
                               {"name", test.name + (nth > 1 ? fmt::format("#{}", nth) : "")},
                               {"time", seconds(test.time_s)}});
    if (const char* const element = element_of(test.verdict)) {
      add(node, element, {{"type", std::string(deck::to_string(test.verdict))}})
          .text()
          .set(base::safe_lines(test.text).c_str());
    }
  }
  add(suite, "system-out")
      .text()
      .set(base::safe_lines(of.output.substr(0, of.output.find_last_not_of('\n') + 1)).c_str());
  add(suite, "system-err");
}

/// "rowsum[chunks.count=4,memory.host=pinned]/alone".
std::string prefix_of(const results::Result& result, const results::Point& point) {
  std::string values;
  for (const auto& [key, value] : point.values.items()) {
    const auto spelled = point.text.find(key);
    values += fmt::format("{}{}={}", values.empty() ? "" : ",", key,
                          spelled != point.text.end() ? spelled->second : describe::spell(value));
  }
  return result.deck.name() + (values.empty() ? "" : "[" + values + "]") + "/" +
         std::string(deck::to_string(point.phase));
}

/// Whether a point ran to its end and its data are right.
JunitCase data_case(const results::Point& point, const std::vector<const results::Run*>& runs) {
  JunitCase test{.name = "/-/data"};
  bool wrong = false, ran = false;
  for (const results::Run* const run : runs) {
    wrong = wrong || run->wrong;
    ran = ran || run->ran();
    if (run->ran()) {
      test.time_s += static_cast<double>(run->repetitions) * results::time_s(*run).median;
    }
  }
  if (!point.exit_code) {
    test.verdict = Verdict::error;
    test.text = "not run";
  } else if (wrong) {
    test.verdict = Verdict::fail;
    test.text = fmt::format("{}", fmt::join(point.reasons, "\n"));
  } else if (!point.ended_by.empty()) {
    test.verdict = results::verdict_of(*point.exit_code);
    test.text = point.ended_by;
  } else if (!ran) {
    test.verdict = Verdict::skipped;
    test.text = "predicted, not run";
  }
  return test;
}

/// The check, and what findings say about its order.
JunitCase check_case(const results::Result& result, const results::Check& check) {
  JunitCase test{
      .name = fmt::format("/{}/{}", results::order_name(check), deck::to_string(check.metric)),
      .verdict = check.verdict,
      .text = check.text};
  for (const results::Finding& finding : result.findings) {
    const bool twin = finding.disturbance || finding.host_work;
    if (!twin && check.order == finding.order && check.phase == finding.phase &&
        check.point == finding.point) {
      test.text += "\n" + finding.text;
    }
  }
  return test;
}

std::vector<JunitCase> cases_of(const results::Result& result) {
  std::vector<JunitCase> tests;
  const auto runs = result.runs_by_point();
  bool explained = false;
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    const results::Point& point = result.points[i];
    const auto add = [&, prefix = prefix_of(result, point)](JunitCase test) {
      test.name = prefix + test.name;
      tests.push_back(std::move(test));
    };
    add(data_case(point, runs[i]));
    explained = explained || point.ended_by == result.error;
    for (const results::Check& check : result.checks) {
      if (point.is(check.point, check.phase)) add(check_case(result, check));
    }
  }
  if (!result.error.empty() && !explained) {
    tests.push_back({.name = "files", .verdict = Verdict::error, .text = result.error});
  }
  return tests;
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
                   .tests = cases_of(result),
                   .output = result_lines(result) + verdict_line({&result, 1})};
  for (JunitCase& test : suite.tests) {
    test.where = host.name + "." + (device ? device->id() : build.backend);
  }
  return suite;
}

}  // namespace

std::string junit_text(const std::vector<JunitSuite>& all) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  pugi::xml_node suites = add(document, "testsuites");
  Names names;
  int id = 0;
  for (const JunitSuite& suite : all) add_suite(suites, id++, suite, names);
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

std::string junit(const Results& results) {
  std::vector<JunitSuite> suites;
  for (const results::Result& result : results) suites.push_back(suite_of(result));
  return junit_text(suites);
}

}  // namespace overlap::report
