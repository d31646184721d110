#include <algorithm>

#include "experiment/fleet_parts.hpp"

namespace overlap::experiment {
namespace {

Subject subject_of(const DeviceRecord& record, const FigureKey& key) {
  Subject subject = record.machine;
  subject.phase = key.phase;
  subject.order = key.order;
  subject.metric = key.metric;
  return subject;
}

/// The criterion of the deck with a reference for this figure; null: none.
const deck::Criterion* criterion_of(const DeviceRecord& record, const FigureKey& key) {
  const auto criterion = std::ranges::find_if(record.referenced, [&](const auto& one) {
    return one.metric == key.metric && one.covers(key.order, key.phase);
  });
  return criterion == record.referenced.end() ? nullptr : &*criterion;
}

/// Whether a reference judges a figure: with referenced criteria in the deck, the figures that they
/// name; otherwise all compared figures.
bool is_judged(const DeviceRecord& record, const FigureKey& key) {
  return record.referenced.empty() ? is_compared(record, key)
                                   : criterion_of(record, key) != nullptr;
}

Check check_of(const Reference& reference, const Entry& entry, const DeviceRecord& record,
               const Figure& figure) {
  Check check;
  check.metric = figure.key.metric;
  check.order = figure.key.order;
  check.value = figure.value;
  check.at_least = deck::row_of(check.metric).better == deck::Better::more;
  const deck::Criterion* const criterion = criterion_of(record, figure.key);
  const double below =
      criterion != nullptr ? criterion->below.value_or(entry.tolerance) : entry.tolerance;
  check.limit = entry.value * (check.at_least ? 1 - below : 1 + below);
  check.source = LimitSource{reference.path, entry.value, below};
  check.verdict = judge(check.value, check.at_least, check.limit);
  return check;
}

base::ExitCode code_of(Verdict verdict) {
  return verdict == Verdict::fail ? base::ExitCode::performance : base::ExitCode::inconclusive;
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
    trouble.text = missing_words(reference, subject_of(record, *trouble.undecided));
    known = true;
  }
  for (const Figure& figure : record.figures) {
    if (!is_judged(record, figure.key)) continue;
    const Entry* const entry = find(reference, subject_of(record, figure.key));
    if (entry == nullptr) continue;
    known = true;
    const Check check = check_of(reference, *entry, record, figure);
    if (check.verdict == Verdict::pass) continue;
    record.troubles.push_back(
        {.code = code_of(check.verdict), .text = words(check), .phase = figure.key.phase});
  }
  if (known) return;
  record.troubles.push_back(
      {.code = base::ExitCode::inconclusive,
       .text = missing_words(reference, subject_of(record, record.figures.front().key))});
}

}  // namespace overlap::experiment
