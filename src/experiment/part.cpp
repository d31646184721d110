#include "experiment/part.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/sha256.hpp"
#include "deck/fields.hpp"
#include "results/checks.hpp"

namespace overlap::experiment {
namespace {

using describe::Json;

results::Layout layout_of(const deck::Deck& deck, const schedule::Layout& layout) {
  results::Layout result{.chunks = layout.chunks_per_iteration, .slots = layout.slots};
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
  } else if (deck.chunks.profile == deck::Profile::ramp) {
    result.first_units = layout.borders[1];
    result.largest_units = layout.largest_chunk_units;
  }
  return result;
}

results::Point point_of(const deck::Point& point) {
  results::Point result{.phase = point.phase};
  const describe::Json keys = point.values.empty() ? describe::Json() : deck::resolved(point.deck);
  for (const auto& [key, text] : point.values) {
    result.values[key] = describe::value_at(keys, key);
    result.text[key] = text;
  }
  return result;
}

/// The keys of a deck. A sweep of a selector, such as chunks.profile, has points with more keys
/// than others; keys that only some of them take would make the deck invalid.
Json keys_of(const std::vector<deck::Point>& points, const results::Result& result) {
  Json keys = deck::resolved(points.front().deck);
  if (!result.sweeps()) return keys;
  std::size_t least = keys.flatten().size();
  for (const deck::Point& point : points) {
    Json others = deck::resolved(point.deck);
    const std::size_t size = others.flatten().size();
    if (size >= least) continue;
    least = size;
    keys = std::move(others);
  }
  Json& sweep = keys["sweep"] = Json::object();
  for (const results::Axis& axis : result.axes()) {
    Json& values = sweep[axis.key] = Json::array();
    for (const results::Axis::Value& value : axis.values) {
      const auto at = std::ranges::find_if(result.points, [&](const results::Point& other) {
        return other.text.at(axis.key) == value.text;
      });
      values.push_back(at->values.at(axis.key));
    }
  }
  return keys;
}

}  // namespace

results::Result new_result(const std::vector<deck::Point>& points, base::Machine machine) {
  const deck::Deck& deck = points.front().deck;
  results::Result result;
  result.machine = std::move(machine);
  result.title = deck.title;
  for (const deck::Point& point : points) result.points.push_back(point_of(point));
  result.deck = {.path = deck.path,
                 .mark = deck.mark,
                 .sha256 = deck.sha256,
                 .identity = deck::identity(deck)};
  result.deck.resolved = keys_of(points, result);
  return result;
}

Part planned(const Plan& plan) {
  Part part;
  part.point = point_of(plan);
  part.choices = plan.choices;
  part.balance = plan.balance;
  if (plan.deck.workload.kind != deck::WorkloadKind::custom) {
    part.layout = layout_of(plan.deck, plan.layout);
  }
  return part;
}

void conclude(Part& part, base::ExitCode code) {
  std::vector<std::string> reasons;
  for (const results::Run& run : part.runs) {
    if (!run.wrong) continue;
    code = base::worst(code, base::ExitCode::wrong_data);
    reasons.push_back(fmt::format("{} left wrong data", name(run)));
  }
  if (part.interrupted) code = base::worst(code, base::ExitCode::interrupted);
  if (!part.error.empty()) reasons.push_back(part.error);
  for (const results::Check& check : part.checks) {
    code = base::worst(code, results::code_of(check.metric, check.verdict));
    if (results::decides(check)) reasons.push_back(check.text);
  }
  part.point.exit_code = code;
  part.point.reasons = std::move(reasons);
  part.point.ended_by = part.error;
  if (part.interrupted && part.error.empty()) {
    const bool all = part.ran() || !part.point.values.empty();
    part.point.ended_by = all ? "interrupted" : "interrupted before a repetition was complete";
  }
}

Part failed(const deck::Point& point, const base::Error& error) {
  Part part;
  part.point = point_of(point);
  part.interrupted = error.code() == base::ExitCode::interrupted;
  if (!part.interrupted) part.error = error.what();
  conclude(part, error.code());
  return part;
}

void interrupt(Part& part) {
  part.interrupted = true;
  conclude(part, part.exit_code());
}

std::string fingerprint(const deck::Point& point) {
  std::string text = point.deck.name() + "\n" + deck::resolved(point.deck).dump();
  for (const deck::Point::Value& value : point.values) text += "\n" + value.key;
  return base::sha256(text).substr(0, 16);
}

}  // namespace overlap::experiment
