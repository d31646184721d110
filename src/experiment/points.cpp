#include <fmt/format.h>

#include <algorithm>

#include "deck/fields.hpp"
#include "experiment/judge.hpp"
#include "results/metrics.hpp"

namespace overlap::experiment {
namespace {

using describe::Json;

results::DataLayout layout_of(const deck::Deck& deck, const schedule::Layout& layout) {
  results::DataLayout result{.chunks = layout.chunks_per_iteration, .slots = layout.slots};
  if (layout.out_of_core) result.device_limit = layout.device_limit;
  if (layout.tiles) {
    const schedule::TilePlan& tiles = *layout.tiles;
    const deck::Workload& w = deck.workload;
    result.chunks = std::ssize(tiles.turns);
    result.a_panels = tiles.slots[0];
    result.b_panels = tiles.slots[1];
    result.slots = tiles.slots[2];
    result.loaded_bytes = static_cast<std::int64_t>(tiles.loaded_bytes);
    result.once_bytes = static_cast<std::int64_t>(schedule::size_of(w.type)) * w.k * (w.m + w.n);
  }
  return result;
}

results::Point point_of(const deck::DeckPoint& point) {
  results::Point result{.phase = point.phase};
  const describe::Json keys = point.is_swept() ? deck::resolved(point.deck) : describe::Json();
  for (const auto& [key, text] : point.values) {
    result.values[key] = describe::value_at(keys, key);
    result.text[key] = text;
  }
  return result;
}

/// The keys of a deck. A sweep of measure.duration has points with more keys than others; keys that
/// only some of them take would make the deck invalid.
Json keys_of(const std::vector<deck::DeckPoint>& points, const results::Result& result) {
  Json keys = deck::resolved(points.front().deck);
  if (!result.sweeps()) return keys;
  std::size_t least = keys.flatten().size();
  for (const deck::DeckPoint& point : points) {
    Json point_keys = deck::resolved(point.deck);
    const std::size_t size = point_keys.flatten().size();
    if (size >= least) continue;
    least = size;
    keys = std::move(point_keys);
  }
  Json& sweep = keys["sweep"] = Json::object();
  for (const results::Axis& axis : result.axes()) {
    Json& values = sweep[axis.key] = Json::array();
    for (const results::Axis::Value& value : axis.values) {
      const auto found = std::ranges::find_if(result.points, [&](const results::Point& other) {
        return other.text.at(axis.key) == value.text;
      });
      values.push_back(found->values.at(axis.key));
    }
  }
  return keys;
}

}  // namespace

results::Result new_result(const std::vector<deck::DeckPoint>& points, base::Machine machine) {
  const deck::Deck& deck = points.front().deck;
  results::Result result;
  result.machine = std::move(machine);
  result.title = deck.title;
  for (const deck::DeckPoint& point : points) result.points.push_back(point_of(point));
  result.deck = {.path = deck.path,
                 .mark = deck.mark,
                 .sha256 = deck.sha256,
                 .identity = deck::identity(deck)};
  result.deck.resolved = keys_of(points, result);
  return result;
}

results::Point planned_point(const Plan& plan) {
  results::Point point = point_of(plan.point);
  point.notes = plan.notes;
  point.balance = plan.balance;
  if (plan.point.deck.workload.kind != deck::WorkloadKind::custom) {
    point.layout = layout_of(plan.point.deck, plan.layout);
  }
  return point;
}

void conclude(results::Point& point, base::ExitCode code) {
  Outcome& outcome = *point.outcome;
  outcome.reasons.clear();
  for (const results::Run& run : point.runs) {
    if (!run.wrong) continue;
    code = base::worst(code, base::ExitCode::wrong_data);
    outcome.reasons.push_back(fmt::format("{} left wrong data", name(run)));
  }
  if (outcome.interrupted) code = base::worst(code, base::ExitCode::interrupted);
  if (outcome.error) outcome.reasons.push_back(*outcome.error);
  for (const results::Check& check : point.checks) {
    code = base::worst(code, results::code_of(check.key.metric, check.verdict));
    if (results::decides(check)) outcome.reasons.push_back(check.text);
  }
  outcome.exit_code = code;
}

results::Point failed_point(const deck::DeckPoint& point, const base::Error& error) {
  results::Point failed = point_of(point);
  Outcome& outcome = failed.outcome.emplace();
  outcome.interrupted = error.code() == base::ExitCode::interrupted;
  if (!outcome.interrupted) outcome.error = error.what();
  conclude(failed, error.code());
  return failed;
}

void interrupt(results::Point& point) {
  point.outcome->interrupted = true;
  conclude(point, point.outcome->exit_code);
}

}  // namespace overlap::experiment
