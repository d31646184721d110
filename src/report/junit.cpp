#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <pugixml.hpp>
#include <sstream>

#include "base/version.hpp"
#include "report/lines.hpp"
#include "report/svg.hpp"
#include "report/writers.hpp"

namespace overlap::report {
namespace {

using experiment::Verdict;

/// One test, as harnesses show it.
struct Case {
  std::string name;
  Verdict verdict = Verdict::pass;
  std::string text;  ///< the reason for the verdict; empty: PASS needs none
  double time_s = 0;
};

/// The element of a test that did not pass, by verdict.
constexpr std::array<const char*, deck::words<Verdict>.size()> elements = {
    nullptr, "failure", "error", "error", "skipped", "error"};

const char* element_of(Verdict verdict) { return elements[static_cast<std::size_t>(verdict)]; }

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
Case data_case(const PointResult& point) {
  Case test{.name = data};
  bool wrong = false, ran = false;
  for (const Row& row : point.rows) {
    wrong = wrong || row.verdict == "WRONG DATA";
    ran = ran || row.time;
    if (row.time) test.time_s += row.time->n * row.time->median;
  }
  if (wrong) {
    test.verdict = Verdict::fail;
    test.text = fmt::format("{}", fmt::join(point.reasons, "\n"));
  } else if (!point.ended_by.empty()) {
    test.verdict = point.verdict;
    test.text = point.ended_by;
  } else if (!ran) {
    test.verdict = Verdict::skipped;
    test.text = "predicted, not run";
  }
  return test;
}

/// The check, and what a finding says about its order.
Case check_case(const PointResult& point, const CheckRow& check) {
  Case test{"/" + check.order + "/" + check.metric, check.verdict, check.text};
  if (!point.outcome) return test;
  for (const experiment::Run& run : point.outcome->runs) {
    if (deck::to_string(run.order) != check.order) continue;
    for (const experiment::Finding& finding : run.findings) test.text += "\n" + finding.text;
  }
  return test;
}

std::vector<Case> cases_of(const Study& study) {
  std::vector<Case> tests;
  std::size_t next = 0;  // point that is due
  const auto add = [&](std::size_t point, Case test) {
    test.name = prefix_of(study, point) + test.name;
    tests.push_back(std::move(test));
  };
  const auto add_missing = [&](std::size_t until) {
    for (; next < until; ++next) add(next, {data, Verdict::error, "not run"});
  };
  for (const PointResult& point : study.done) {
    add_missing(point.number);
    next = point.number + 1;
    add(point.number, data_case(point));
    for (const CheckRow& check : point.checks) add(point.number, check_case(point, check));
  }
  add_missing(study.points.size());
  return tests;
}

using Attributes = std::vector<std::pair<const char*, std::string>>;

pugi::xml_node add(pugi::xml_node parent, const char* name, const Attributes& attributes = {}) {
  pugi::xml_node node = parent.append_child(name);
  for (const auto& [key, value] : attributes) {
    node.append_attribute(key).set_value(plain_text(value).c_str());
  }
  return node;
}

/// Text of several lines.
void set_text(pugi::xml_node node, const std::string& text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines += (at == 0 ? "" : "\n") + plain_text(text.substr(at, end - at));
    at = end + 1;
  }
  node.text().set(lines.c_str());
}

/// How often each name was used in the file: harnesses drop tests whose name is taken.
using Names = std::map<std::string, int>;

void add_suite(pugi::xml_node suites, int id, const Study& study, Names& names) {
  const auto& [build, host, device, job, placement] = study.machine;
  const std::string where = host.name + "." + (device ? device->uuid : build.backend);
  const std::vector<Case> tests = cases_of(study);
  std::map<std::string_view, int> counts;
  double time_s = 0;
  for (const Case& test : tests) {
    if (const char* const element = element_of(test.verdict)) ++counts[element];
    time_s += test.time_s;
  }
  const auto seconds = [](double time) { return fmt::format("{:.6f}", time); };
  pugi::xml_node suite = add(suites, "testsuite",
                             {{"name", study.deck().name()},
                              {"package", "overlap"},
                              {"id", std::to_string(id)},
                              {"hostname", host.name},
                              {"timestamp", study.started.substr(0, study.started.find('Z'))},
                              {"tests", std::to_string(tests.size())},
                              {"failures", std::to_string(counts["failure"])},
                              {"errors", std::to_string(counts["error"])},
                              {"skipped", std::to_string(counts["skipped"])},
                              {"time", seconds(time_s)}});
  pugi::xml_node properties = add(suite, "properties");
  for (const auto& [name, value] : Attributes{{"version", base::version().version},
                                              {"backend", build.backend},
                                              {"device", device ? device->name : host.cpu},
                                              {"deck", study.deck().path},
                                              {"sha256", study.deck().sha256}}) {
    add(properties, "property", {{"name", name}, {"value", value}});
  }
  for (const Case& test : tests) {
    const int nth = ++names[where + " " + test.name];
    pugi::xml_node node = add(suite, "testcase",
                              {{"classname", where},
                               {"name", test.name + (nth > 1 ? fmt::format("#{}", nth) : "")},
                               {"time", seconds(test.time_s)}});
    if (const char* const element = element_of(test.verdict)) {
      set_text(add(node, element, {{"type", std::string(deck::to_string(test.verdict))}}),
               test.text);
    }
  }
  set_text(add(suite, "system-out"), result_lines(study));
  add(suite, "system-err");
}

}  // namespace

std::string junit(const Studies& studies) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  pugi::xml_node suites = add(document, "testsuites");
  Names names;
  int id = 0;
  for (const Study& study : studies) add_suite(suites, id++, study, names);
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

}  // namespace overlap::report
