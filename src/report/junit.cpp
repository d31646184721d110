#include "report/junit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <pugixml.hpp>
#include <sstream>
#include <string_view>

#include "base/text.hpp"
#include "base/version.hpp"
#include "report/lines.hpp"
#include "report/writers.hpp"

namespace overlap::report {
namespace {

using experiment::Verdict;

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
std::string prefix_of(const Study& study, std::size_t point) {
  std::string words;
  for (const auto& [key, value] : study.points[point].values) {
    words += fmt::format("{}{}={}", words.empty() ? "" : ",", key, value);
  }
  return study.deck().name() + (words.empty() ? "" : "[" + words + "]") + "/" +
         std::string(deck::to_string(study.points[point].phase));
}

constexpr const char* data = "/-/data";  ///< name of the test of a point's data

/// Whether a point ran to its end and its data are right.
JunitCase data_case(const PointResult& point) {
  JunitCase test{.name = data};
  bool wrong = false, ran = false;
  for (const Row& row : point.rows) {
    wrong = wrong || row.verdict == "WRONG DATA";
    ran = ran || row.time;
    if (row.time) test.time_s += static_cast<double>(row.repetitions) * row.time->median;
  }
  if (wrong) {
    test.verdict = Verdict::fail;
    test.text = fmt::format("{}", fmt::join(point.reasons, "\n"));
  } else if (!point.ended_by.empty()) {
    test.verdict = experiment::verdict_of(point.code);
    test.text = point.ended_by;
  } else if (!ran) {
    test.verdict = Verdict::skipped;
    test.text = "predicted, not run";
  }
  return test;
}

/// The check, and what a finding says about its order.
JunitCase check_case(const PointResult& point, const CheckRow& check) {
  JunitCase test{
      .name = "/" + check.order + "/" + check.metric, .verdict = check.verdict, .text = check.text};
  if (!point.outcome) return test;
  for (const experiment::Run& run : point.outcome->runs) {
    if (run.disturbance || run.host_work || deck::to_string(run.order) != check.order) continue;
    for (const experiment::Finding& finding : run.findings) test.text += "\n" + finding.text;
  }
  return test;
}

std::vector<JunitCase> cases_of(const Study& study) {
  std::vector<JunitCase> tests;
  std::size_t next = 0;  // point that is due
  const auto add = [&](std::size_t point, JunitCase test) {
    test.name = prefix_of(study, point) + test.name;
    tests.push_back(std::move(test));
  };
  const auto add_missing = [&](std::size_t until) {
    for (; next < until; ++next) {
      add(next, {.name = data, .verdict = Verdict::error, .text = "not run"});
    }
  };
  for (const PointResult& point : study.done) {
    add_missing(point.number);
    next = point.number + 1;
    add(point.number, data_case(point));
    for (const CheckRow& check : point.checks) add(point.number, check_case(point, check));
  }
  add_missing(study.points.size());
  if (study.unwritten) {
    tests.push_back({.name = "files", .verdict = Verdict::error, .text = study.unwritten->what()});
  }
  return tests;
}

/// A study as one suite.
JunitSuite suite_of(const Study& study) {
  const auto& [build, host, device, job, placement] = study.machine;
  JunitSuite suite{.name = study.deck().name(),
                   .host = host.name,
                   .started = study.started,
                   .properties = {{"version", base::version().version},
                                  {"backend", build.backend},
                                  {"device", device ? device->name : host.cpu},
                                  {"deck", study.deck().path},
                                  {"sha256", study.deck().sha256}},
                   .tests = cases_of(study),
                   .output = result_lines(study) + verdict_line({&study, 1})};
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

std::string junit(const Studies& studies) {
  std::vector<JunitSuite> suites;
  for (const Study& study : studies) suites.push_back(suite_of(study));
  return junit_text(suites);
}

}  // namespace overlap::report
