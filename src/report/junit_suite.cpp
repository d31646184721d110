#include "report/junit_suite.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <pugixml.hpp>
#include <sstream>
#include <string_view>

#include "base/text.hpp"

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

}  // namespace overlap::report
