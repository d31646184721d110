#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/verdict.hpp"

/// JUnit XML output for tests of any kind.
namespace overlap::report {

/// One test case.
struct JunitCase {
  std::string where;  ///< class name
  std::string name;
  results::Verdict verdict = results::Verdict::pass;
  std::string text;  ///< reason for the verdict; empty for PASS
  double time_s = 0;
};

struct JunitSuite {
  std::string name;
  std::string host;
  std::string started;  ///< UTC
  std::vector<std::pair<const char*, std::string>> properties;
  std::vector<JunitCase> tests;
  std::string output;  ///< output of the program
};

/// The JUnit file. FAIL is a failure, SKIPPED skipped, any other verdict except PASS an error;
/// repeated names are numbered.
std::string junit_text(const std::vector<JunitSuite>& suites);

}  // namespace overlap::report
