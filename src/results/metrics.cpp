#include "results/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "deck/fields.hpp"

namespace overlap::results {
namespace {

using deck::Repetition;

/// The undisturbed run of an order, with or without host work; null: none.
const Run* undisturbed_run(const Run& run, deck::Order order, bool host_work, const Runs& runs) {
  const auto found = std::ranges::find_if(runs, [&](const Run* other) {
    return other->order == order && other->host_work.has_value() == host_work &&
           !other->disturbance && other->device == run.device;
  });
  return found == runs.end() ? nullptr : *found;
}

/// What all repetitions of a run have in common.
Repetition common(const Run& run) {
  Repetition repetition;
  if (run.bounds) repetition.bound_s = run.bounds->bound_s;
  if (run.bounds) repetition.schedule_bound_s = run.bounds->schedule_bound_s;
  if (run.bytes() > 0) repetition.bytes = static_cast<double>(run.bytes());
  if (run.product) repetition.flops = run.product->flops;
  return repetition;
}

double sample(const std::vector<double>& samples, std::size_t i) {
  return i < samples.size() ? samples[i] : Repetition::none;
}

/// `alone`: the same run in phase alone; null: none.
std::vector<Repetition> repetitions(const Run& run, const Runs& runs, const Run* alone = nullptr) {
  const Run* const baseline = baseline_of(run, runs);
  const bool is_variant = run.disturbance || run.host_work;
  const Run* const undisturbed =
      is_variant ? undisturbed_run(run, run.order, false, runs) : nullptr;
  const std::size_t alone_count = alone != nullptr ? alone->samples_s.size() : 0;
  std::vector<Repetition> repetitions(std::max(run.samples_s.size(), alone_count), common(run));
  for (std::size_t i = 0; i < repetitions.size(); ++i) {
    Repetition& repetition = repetitions[i];
    repetition.time_s = sample(run.samples_s, i);
    if (run.bounds && !run.bound_samples_s.empty()) {
      repetition.bound_s = sample(run.bound_samples_s, i);
      repetition.schedule_bound_s *= repetition.bound_s / run.bounds->bound_s;
    }
    if (baseline != nullptr) repetition.sequential_s = sample(baseline->samples_s, i);
    if (undisturbed != nullptr) repetition.undisturbed_s = sample(undisturbed->samples_s, i);
    if (alone != nullptr) repetition.alone_s = sample(alone->samples_s, i);
    if (run.host_work) repetition.host_work_s = sample(run.host_work->samples_s, i);
    if (run.order != deck::Order::sequential) {
      repetition.hideable_s = repetition.sequential_s - repetition.bound_s;
    }
  }
  const auto& max_error = run.value(deck::Metric::max_error);
  if (max_error && !repetitions.empty()) repetitions.front().max_error = max_error->median;
  return repetitions;
}

/// Health changes over all runs, as one repetition.
Repetition counted(const HealthRecord& health) {
  const auto more = [&](std::optional<std::int64_t> base::Health::* counter) {
    const auto before = health.before.*counter, after = health.after.*counter;
    return before && after ? static_cast<double>(*after - *before) : Repetition::none;
  };
  Repetition changes;
  changes.pcie_replays = more(&base::Health::pcie_replays);
  changes.ecc_errors = more(&base::Health::ecc_corrected) + more(&base::Health::ecc_uncorrected);
  if (health.throttled) changes.throttled_s = health.throttled->slowed_s;
  return changes;
}

std::vector<Repetition> repetitions(const DeviceSamples& device) {
  const LinkSamples link = device.link.value_or(LinkSamples());
  std::vector<Repetition> repetitions(link.duplex_s.size());
  for (std::size_t i = 0; i < repetitions.size(); ++i) {
    repetitions[i].link_bytes = static_cast<double>(link.bytes);
    repetitions[i].h2d_s = sample(link.h2d_s, i);
    repetitions[i].d2h_s = sample(link.d2h_s, i);
    repetitions[i].duplex_s = sample(link.duplex_s, i);
    repetitions[i].duplex_h2d_s = sample(link.duplex_h2d_s, i);
    repetitions[i].duplex_d2h_s = sample(link.duplex_d2h_s, i);
  }
  if (device.health) repetitions.push_back(counted(*device.health));
  return repetitions;
}

/// Values of a formula for the repetitions with all inputs.
std::vector<double> values(double (*formula)(const Repetition&),
                           const std::vector<Repetition>& repetitions) {
  std::vector<double> found;
  for (const Repetition& repetition : repetitions) {
    const double value = formula(repetition);
    if (!std::isnan(value)) found.push_back(value);
  }
  return found;
}

/// A metric over some repetitions.
std::optional<base::Summary> value(const deck::MetricRow& row,
                                   const std::vector<Repetition>& repetitions) {
  if (row.formula == nullptr) return row.options.summary_formula(repetitions);
  return base::summary_if_any(values(row.formula, repetitions));
}

}  // namespace

std::vector<double> values(deck::Metric metric, const Run& run, const Runs& runs) {
  const deck::MetricRow& row = deck::row_of(metric);
  if (deck::of_device(row.needs) || row.formula == nullptr) return {};
  return values(row.formula, repetitions(run, runs));
}

std::vector<double> values(deck::Metric metric, const DeviceSamples& device) {
  if (!deck::of_device(deck::row_of(metric).needs)) return {};
  return values(deck::row_of(metric).formula, repetitions(device));
}

std::optional<base::Summary> value(deck::Metric metric, const Run& run, const Runs& runs) {
  return value(deck::row_of(metric), repetitions(run, runs));
}

std::optional<base::Summary> value(deck::Metric metric, const DeviceSamples& device) {
  return base::summary_if_any(values(metric, device));
}

std::optional<base::Summary> predicted(deck::Metric metric, const Run& run, const Runs& runs) {
  const Run* const baseline = baseline_of(run, runs);
  Repetition expected = common(run);
  expected.time_s = run.predicted_s.value_or(Repetition::none);
  if (baseline != nullptr) expected.sequential_s = baseline->predicted_s.value_or(Repetition::none);
  const auto formula = deck::row_of(metric).formula;
  return formula == nullptr ? std::nullopt : base::summary_if_any(values(formula, {expected}));
}

void evaluate(std::vector<Run>& runs, const std::vector<Run>& alone) {
  for (Run& run : runs) {
    const auto same =
        std::ranges::find_if(alone, [&](const Run& other) { return name(other) == name(run); });
    const auto all = repetitions(run, runs, same != alone.end() ? &*same : nullptr);
    for (const deck::MetricRow& row : deck::run_metrics) {
      run.metrics[static_cast<std::size_t>(row.value)] = value(row, all);
    }
  }
}

bool applies_to(deck::Metric metric, const Run& run) {
  const deck::Needs needs = deck::row_of(metric).needs;
  if (deck::of_device(needs)) return false;
  if (needs == deck::Needs::baseline && run.order == deck::Order::sequential) return false;
  return !run.disturbance && run.host_work.has_value() == (needs == deck::Needs::host_work);
}

const Run* baseline_of(const Run& run, const Runs& runs) {
  return undisturbed_run(run, deck::Order::sequential, run.host_work.has_value(), runs);
}

base::Summary time_s(const Run& run) { return base::summarize(run.samples_s); }

std::string name(const Run& run) {
  std::string name(deck::to_string(run.order));
  if (run.disturbance) name += " + " + std::string(deck::to_string(*run.disturbance));
  if (run.host_work) name += " + host work";
  return name;
}

std::optional<base::Summary> disturbance_loss(const Run& run, const Runs& runs) {
  if (!run.disturbance) return std::nullopt;
  return base::summary_if_any(values(
      [](const Repetition& r) { return r.time_s / r.undisturbed_s - 1; }, repetitions(run, runs)));
}

std::optional<double> overlap_potential(const Run& run, const Runs& runs) {
  const Run* const baseline = baseline_of(run, runs);
  if (baseline == nullptr || !run.bounds || !baseline->ran()) return std::nullopt;
  return 1 - run.bounds->bound_s / time_s(*baseline).median;
}

std::optional<base::Summary> shown_efficiency(const Run& run, const Runs& runs) {
  const auto potential = overlap_potential(run, runs);
  if (!potential || *potential < least_potential) return std::nullopt;
  return run.value(deck::Metric::overlap_efficiency);
}

std::string spell(deck::Metric metric, double value) {
  const std::string_view unit = deck::row_of(metric).unit;
  if (unit == "s") return base::format_seconds(value);
  const std::string number = base::format_number(value);
  return unit == "1" ? number : fmt::format("{} {}", number, unit);
}

std::vector<deck::Criterion> criteria(const Result& result) {
  constexpr const char* place = "deck.resolved.acceptance";
  const Json limits = result.deck.resolved.value("acceptance", Json::array());
  const describe::Document document{.kind = "result file",
                                    .origins = {result.file},
                                    .json = true,
                                    .root = {{"deck", {{"resolved", {{"acceptance", limits}}}}}}};
  std::vector<deck::Criterion> criteria;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    deck::Criterion criterion;
    describe::read_map(describe::Reader(document).at_path(place).item(i),
                       [&](describe::Visitor& v) { deck::describe(v, criterion, deck::Deck()); });
    if (criterion.holds_here(result.machine.device.has_value())) criteria.push_back(criterion);
  }
  return criteria;
}

Verdict judge(const base::Summary& value, bool at_least, double limit) {
  const bool lo_keeps = at_least ? value.lo >= limit : value.lo <= limit;
  const bool hi_keeps = at_least ? value.hi >= limit : value.hi <= limit;
  if (lo_keeps && hi_keeps) return Verdict::pass;
  return lo_keeps || hi_keeps ? Verdict::inconclusive : Verdict::fail;
}

Verdict verdict_of(base::ExitCode code) {
  using enum base::ExitCode;
  if (code == wrong_data || code == performance) return Verdict::fail;
  return code == pass           ? Verdict::pass
         : code == inconclusive ? Verdict::inconclusive
         : code == skipped      ? Verdict::skipped
         : code == interrupted  ? Verdict::interrupted
                                : Verdict::error;
}

base::ExitCode code_of(deck::Metric metric, Verdict verdict) {
  if (verdict == Verdict::pass || verdict == Verdict::skipped) return base::ExitCode::pass;
  if (verdict != Verdict::fail) return base::ExitCode::inconclusive;
  return metric == deck::Metric::max_error ? base::ExitCode::wrong_data
                                           : base::ExitCode::performance;
}

bool decides(const Check& check) {
  return code_of(check.key.metric, check.verdict) != base::ExitCode::pass;
}

std::string_view order_name(const FigureKey& key) {
  return key.order ? deck::to_string(*key.order) : "-";
}

std::string name(const FigureKey& key) {
  const std::string metric(deck::to_string(key.metric));
  return key.order ? fmt::format("{} of {}", metric, order_name(key)) : metric;
}

std::string name_with_phase(const FigureKey& key) {
  return fmt::format("{}, {}", name(key), deck::to_string(key.phase));
}

std::string limit_text(const Check& check) {
  if (std::isnan(check.limit)) return "unknown";
  const std::string limit =
      fmt::format("{} {}", check.at_least ? ">=" : "<=", base::format_number(check.limit));
  if (!check.source) return limit;
  return fmt::format("{} ({} {} {} of {})", limit, base::format_number(check.source->value),
                     check.at_least ? "-" : "+", base::spell_part(check.source->below),
                     check.source->file);
}

std::string unjudgeable(deck::Metric metric, const Run& run, const Runs& runs) {
  const auto potential = overlap_potential(run, runs);
  const bool compared = deck::row_of(metric).needs == deck::Needs::baseline;
  if (!compared || !potential || *potential >= least_potential) return "";
  return fmt::format(
      "overlap could save at most {:.2f} % of the sequential time, less than {:.0f} %",
      100 * std::max(0.0, *potential), 100 * least_potential);
}

std::string check_text(const Check& check) {
  const auto number = [](double value) { return base::format_number(value); };
  const base::Summary& value = check.value;
  const std::string verdict = check.verdict == Verdict::skipped ? "skipped" : "inconclusive";
  return fmt::format(
      "{}{}: {}, limit {}{}{}", name(check.key), check.device.empty() ? "" : " on " + check.device,
      std::isnan(value.median) ? "unknown"
      : !check.device.empty()
          ? number(value.median)
          : fmt::format("{} ({} .. {})", number(value.median), number(value.lo), number(value.hi)),
      limit_text(check), check.reason.empty() ? "" : "; " + verdict + ": ", check.reason);
}

std::string_view run_verdict(const Run& run, const std::vector<Check>& checks) {
  if (run.wrong) return "WRONG DATA";
  auto worst = Verdict::pass;
  for (const Check& check : checks) {
    const bool of_run = check.key.order == run.order && check.device == run.device &&
                        applies_to(check.key.metric, run);
    if (of_run && decides(check) && worst != Verdict::fail) worst = check.verdict;
  }
  return deck::to_string(worst);
}

std::string stop_text(const Stop& stop) {
  const std::string after = fmt::format("after {} repetitions", stop.repetitions);
  if (stop.reason == StopReason::duration) {
    return fmt::format("{}, which took {}", after, base::format_seconds(stop.elapsed_s));
  }
  const double percent = 100 * stop.width.value_or(0);
  const std::string width = !stop.width      ? "unknown"
                            : percent < 99.5 ? fmt::format("{:.2g} %", percent)
                                             : fmt::format("{:.0f} %", percent);
  if (stop.reason == StopReason::precision) {
    return fmt::format("precision {} reached {}", width, after);
  }
  return fmt::format("precision not reached: {} {} ({})", width, after,
                     deck::to_string(stop.reason));
}

}  // namespace overlap::results
