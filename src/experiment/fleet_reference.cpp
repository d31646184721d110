#include <algorithm>

#include "experiment/fleet.hpp"

namespace overlap::experiment {
namespace {

Subject subject_of(const DeviceRecord& record, const FigureKey& key) {
  Subject subject = record.machine;
  subject.phase = key.phase;
  subject.order = key.order;
  subject.metric = key.metric;
  return subject;
}

/// How much worse than the reference a figure may be, once per criterion of the deck that names it;
/// without such criteria all compared figures have the tolerance of the reference.
std::vector<std::optional<double>> tolerances(const DeviceRecord& record, const FigureKey& key) {
  std::vector<std::optional<double>> all;
  for (const deck::Criterion& one : record.referenced) {
    if (one.metric == key.metric && one.covers(key.order, key.phase)) all.push_back(one.below);
  }
  if (record.referenced.empty() && is_compared(record, key)) all.emplace_back();
  return all;
}

Check check_of(const Reference& reference, const Entry& entry, const Figure& figure,
               std::optional<double> below) {
  Check check{.metric = figure.key.metric, .order = figure.key.order, .value = figure.value};
  limit_by(reference, entry, below, check);
  check.reason = figure.unjudgeable;
  check.verdict = check.reason.empty() ? judge(check.value, check.at_least, check.limit)
                                       : Verdict::inconclusive;
  return check;
}

}  // namespace

void judge_by(const Reference& reference, DeviceRecord& record) {
  std::erase_if(record.troubles, [&](const Trouble& trouble) {
    return trouble.undecided && find(record, *trouble.undecided) != nullptr &&
           find(reference, subject_of(record, *trouble.undecided)) != nullptr;
  });
  bool known = record.figures.empty();
  for (Trouble& trouble : record.troubles) {
    if (!trouble.undecided) continue;
    const Subject subject = subject_of(record, *trouble.undecided);
    trouble.text = find(reference, subject) == nullptr
                       ? missing_words(reference, subject)
                       : words(*trouble.undecided) + " was not measured";
    known = true;
  }
  for (const Figure& figure : record.figures) {
    const Entry* const entry = find(reference, subject_of(record, figure.key));
    if (entry == nullptr) {
      const bool told = std::ranges::any_of(
          record.troubles, [&](const Trouble& trouble) { return trouble.undecided == figure.key; });
      if (record.referenced.empty() || tolerances(record, figure.key).empty() || told) continue;
      record.troubles.push_back({.code = base::ExitCode::inconclusive,
                                 .text = missing_words(reference, subject_of(record, figure.key)),
                                 .phase = figure.key.phase});
      known = true;
      continue;
    }
    for (const std::optional<double> below : tolerances(record, figure.key)) {
      known = true;
      const Check check = check_of(reference, *entry, figure, below);
      if (check.verdict == Verdict::pass) continue;
      record.troubles.push_back({.code = code_of(check.metric, check.verdict),
                                 .text = words(check),
                                 .phase = figure.key.phase});
    }
  }
  if (known) return;
  const auto wanted = std::ranges::find_if(record.figures, [&](const Figure& figure) {
    return !tolerances(record, figure.key).empty();
  });
  record.troubles.push_back(
      {.code = base::ExitCode::inconclusive,
       .text = wanted == record.figures.end()
                   ? reference.path + " judges nothing: no criterion with a reference is about a "
                                      "figure that was measured"
                   : missing_words(reference, subject_of(record, wanted->key))});
}

}  // namespace overlap::experiment
