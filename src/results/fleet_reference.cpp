#include <algorithm>

#include "results/checks.hpp"
#include "results/fleet.hpp"

namespace overlap::results {
namespace {

Subject subject_of(const Device& device, const FigureKey& key) {
  Subject subject = device.machine;
  subject.phase = key.phase;
  subject.order = key.order;
  subject.metric = key.metric;
  return subject;
}

/// How much worse than the reference a figure may be, once per criterion of the deck that names it;
/// without such criteria all compared figures have the tolerance of the reference.
std::vector<std::optional<double>> tolerances(const Device& device, const FigureKey& key) {
  std::vector<std::optional<double>> all;
  for (const deck::Criterion& criterion : device.referenced) {
    const bool covers = criterion.metric == key.metric && criterion.covers(key.order, key.phase);
    if (covers) all.push_back(criterion.below);
  }
  if (device.referenced.empty() && is_compared(device, key)) all.emplace_back();
  return all;
}

Check check_of(const Reference& reference, const Entry& entry, const DeviceFigure& figure,
               std::optional<double> below) {
  Check check{.metric = figure.key.metric, .order = figure.key.order, .value = figure.value};
  limit_by(reference, entry, below, check);
  check.reason = figure.unjudgeable;
  check.verdict = check.reason.empty() ? judge(check.value, check.at_least, check.limit)
                                       : Verdict::inconclusive;
  return check;
}

}  // namespace

void judge_by(const Reference& reference, Device& device) {
  std::erase_if(device.reasons, [&](const Reason& reason) {
    return reason.undecided && find(device, *reason.undecided) != nullptr &&
           find(reference, subject_of(device, *reason.undecided)) != nullptr;
  });
  bool known = device.figures.empty();
  for (Reason& reason : device.reasons) {
    if (!reason.undecided) continue;
    const Subject subject = subject_of(device, *reason.undecided);
    reason.text = find(reference, subject) == nullptr
                      ? missing_entry(reference, subject)
                      : name_with_phase(*reason.undecided) + " was not measured";
    known = true;
  }
  for (const DeviceFigure& figure : device.figures) {
    const Entry* const entry = find(reference, subject_of(device, figure.key));
    if (entry == nullptr) {
      const bool told = std::ranges::any_of(
          device.reasons, [&](const Reason& reason) { return reason.undecided == figure.key; });
      if (device.referenced.empty() || tolerances(device, figure.key).empty() || told) continue;
      device.reasons.push_back({.code = base::ExitCode::inconclusive,
                                .text = missing_entry(reference, subject_of(device, figure.key)),
                                .phase = figure.key.phase});
      known = true;
      continue;
    }
    for (const std::optional<double> below : tolerances(device, figure.key)) {
      known = true;
      const Check check = check_of(reference, *entry, figure, below);
      if (check.verdict == Verdict::pass) continue;
      device.reasons.push_back({.code = code_of(check.metric, check.verdict),
                                .text = check_text(check),
                                .phase = figure.key.phase});
    }
  }
  if (known) return;
  const auto wanted = std::ranges::find_if(device.figures, [&](const DeviceFigure& figure) {
    return !tolerances(device, figure.key).empty();
  });
  device.reasons.push_back(
      {.code = base::ExitCode::inconclusive,
       .text = wanted == device.figures.end()
                   ? reference.path + " judges nothing: no criterion with a reference is about a "
                                      "figure that was measured"
                   : missing_entry(reference, subject_of(device, wanted->key))});
}

}  // namespace overlap::results
