#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiment/judge.hpp"

/// JUnit XML, whatever its tests are about.
namespace overlap::report {

/// One test, as harnesses show it.
struct JunitCase {
  std::string where;  ///< its class
  std::string name;
  experiment::Verdict verdict = experiment::Verdict::pass;
  std::string text;  ///< the reason for the verdict; empty: PASS needs none
  double time_s = 0;
};

struct JunitSuite {
  std::string name;
  std::string host;
  std::string started;  ///< UTC
  std::vector<std::pair<const char*, std::string>> properties;
  std::vector<JunitCase> tests;
  std::string output;  ///< what the program printed
};

/// The file. FAIL is a failure, SKIPPED skipped, any other verdict but PASS an error; a name that
/// occurs again gets a number.
std::string junit_text(const std::vector<JunitSuite>& suites);

}  // namespace overlap::report
