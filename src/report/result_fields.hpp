#pragma once

#include "base/machine.hpp"
#include "experiment/judge.hpp"
#include "report/fields.hpp"

/// Records of a result file. Their fields in result_fields.cpp define the format; the JSON Schema
/// derives from them.
namespace overlap::report {

/// A run with its outcome.
struct RunOf {
  const experiment::Run& run = example<experiment::Run>();
  const experiment::Outcome& outcome = example<experiment::Outcome>();
};

struct CheckOf {
  const experiment::Check& check = example<experiment::Check>();
  const experiment::Outcome& outcome = example<experiment::Outcome>();
};

struct FindingOf {
  const experiment::Finding& finding = example<experiment::Finding>();
  const experiment::Run& run = example<experiment::Run>();
  const experiment::Outcome& outcome = example<experiment::Outcome>();
};

/// Data of phase together other than its runs, as written by part_of().
struct Together {
  Json rates, health, window;
};

void fields(Record& add, const base::Summary& of);
void fields(Record& add, const base::Estimate& of);
void fields(Record& add, const base::Placement& of);
void fields(Record& add, const base::BuildInfo& of);
void fields(Record& add, const base::HostInfo& of);
void fields(Record& add, const base::DeviceInfo& of);
void fields(Record& add, const base::Job& of);
void fields(Record& add, const experiment::Balance& of);
void fields(Record& add, const experiment::DeviceSamples& of);
void fields(Record& add, const experiment::HealthRecord& of);
void fields(Record& add, const experiment::Window& of);
void fields(Record& add, const Together& of);
void fields(Record& add, const RunOf& of);
void fields(Record& add, const CheckOf& of);
void fields(Record& add, const FindingOf& of);

}  // namespace overlap::report
