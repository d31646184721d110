#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"

/// The section `acceptance`.
namespace overlap::deck {
namespace {

using namespace describe;

std::optional<double> parse_rate(std::string_view text) {
  const auto bytes_per_s = base::parse_bandwidth(text);
  return bytes_per_s ? std::optional(*bytes_per_s / 1e9) : base::parse_number(text);
}

/// A limit in the unit of a metric; without one it may be any.
Real limit(std::string_view unit) {
  if (unit.empty()) {
    return {.allowed =
                "a non-negative number with or without the metric's unit, such as 1.3, 90 %, 20 "
                "GB/s or 5 ms",
            .least = 0};
  }
  if (unit == "s") {
    return seconds("a non-negative time, such as 0.005 (seconds), 5 ms or 50 us", 0, any<double>);
  }
  if (unit == "1") return part("a non-negative number or percentage", 0, any<double>);
  return {.allowed = "a non-negative rate, such as 90 (GB/s), 90 GB/s or 300 MB/s",
          .least = 0,
          .unit = "B/s",
          .parser = parse_rate};
}

/// What a deck needs so that a metric can be judged; empty: nothing that it lacks.
std::string lacks(const Criterion& c, const Deck& deck) {
  const Needs needs = row_of(c.metric).needs;
  if (needs == Needs::baseline && !deck.issue.has(Order::sequential)) {
    return "the baseline 'sequential' among issue.orders";
  }
  if (needs == Needs::baseline && deck.issue.orders.size() == 1) {
    return "an order other than 'sequential' among issue.orders";
  }
  if (needs == Needs::alone && (c.phase == Phase::alone || !deck.fleet.compares())) {
    return "phase together, or none, and fleet.phases [alone, together]";
  }
  return needs == Needs::host_work && !deck.host_work ? "host_work" : "";
}

/// Rejects what contradicts the metric or the rest of the deck.
void check_criterion(const Reader& item, const Criterion& c, const Deck& deck) {
  const MetricRow& metric = row_of(c.metric);
  const auto refuse = [&](bool found, const char* key, const std::string& allowed) {
    if (found) item.at(key).fail_allowed(allowed);
  };
  if (!c.min && !c.max && !c.reference) {
    item.fail("found no limit; allowed: min, max or both, or reference");
  }
  item.expect_one("min", "reference");
  item.expect_one("max", "reference");
  refuse(c.below && !c.reference, "below", "next to reference");
  refuse(c.min && c.max && *c.min > *c.max, "min", "at most max");
  refuse(metric.options.is_fraction && c.min && *c.min > 1, "min",
         fmt::format("at most 100 % for '{}', a part of a whole", metric.name));
  refuse(c.reference && !has_reference(c.metric), "reference",
         fmt::format("min or max for '{}'", metric.name));
  const std::string origin = "issue.orders (" + item.root().at("issue").at("orders").origin() + ")";
  refuse(c.order && !deck.issue.has(*c.order), "order",
         fmt::format("{}, those in {}", fmt::join(names_of(deck.issue.orders), ", "), origin));
  const std::string lacking = lacks(c, deck);
  refuse(!lacking.empty(), "metric", "with " + base::replaced(lacking, "issue.orders", origin));
  refuse(metric.needs == Needs::baseline && c.order == Order::sequential, "order",
         "the orders that are compared with it");
  refuse(of_device(metric.needs) && c.order, "order",
         fmt::format("no order for '{}', a metric of the device", metric.name));
  refuse(c.phase && !deck.fleet.has(*c.phase), "phase",
         fmt::format("{}, as in fleet.phases", to_string(deck.fleet.phases.front())));
  std::vector<std::string> places = shipped_names("devices");
  places.insert(places.begin(), any_gpu);
  for (std::size_t i = 0; i < c.where.size(); ++i) {  // a misspelled name would never be judged
    if (std::ranges::find(places, c.where[i]) != places.end()) continue;
    fail_value(item.at("where").item(i), words_values(places));
  }
}

}  // namespace

void describe(Visitor& v, Criterion& c, const Deck& deck) {
  const Reader* const map = v.reader();
  v("metric", c.metric, "What is judged.", OneOf<Metric>(), required);
  v("order", c.order, "The order it applies to, one of issue.orders.", optional(OneOf<Order>()),
    defaults_to("every order"));
  v("phase", c.phase, "The phase of a fleet it applies to; without --fleet there is only `alone`.",
    optional(OneOf<Phase>()), defaults_to("every phase"));
  const auto number = optional(limit(map == nullptr ? "" : row_of(c.metric).unit));
  v("min", c.min, "At least this, in the metric's unit.", number, defaults_to("not set"));
  v("max", c.max, "At most this, in the metric's unit.", number, defaults_to("not set"));
  v("reference", c.reference,
    "Instead of min and max: a reference file, its path relative to the deck, or `given`, the file "
    "of --reference.",
    optional(line()), defaults_to("not set"));
  v("below", c.below, "How much worse than the reference a value may be.",
    optional(part("a fraction from 0 to 100 %, such as 3 %", 0, 1)),
    defaults_to("the reference's tolerance"));
  v("where", c.where,
    "Where it is judged: with --predict of these devices; `gpu`: runs on a GPU. Elsewhere its "
    "check is SKIPPED and decides nothing.",
    unless(c.where.empty(),
           list_of(line(), "a list of `gpu` and names of devices, such as [c2070, gpu]", 1)),
    defaults_to("every run, no prediction"));
  if (map != nullptr && !map->document().json) check_criterion(*map, c, deck);
}

}  // namespace overlap::deck
