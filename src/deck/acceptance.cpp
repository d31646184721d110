#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "deck/shipped.hpp"
#include "deck/words.hpp"

/// The section `acceptance`.
namespace overlap::deck {
namespace {

using namespace describe;

/// A limit in the unit of a metric; without one it may be any.
Real limit(std::string_view unit) {
  const auto codec = [](std::string_view allowed, std::string_view written, auto parser) {
    return Real{.allowed = allowed, .least = 0, .unit = written, .parser = parser};
  };
  if (unit.empty()) {
    return codec(
        "a non-negative number with or without the metric's unit, such as 1.3, 90 %, 20 GB/s or "
        "5 ms",
        "", nullptr);
  }
  if (unit == "s") {
    return codec("a non-negative time, such as 0.005 (seconds), 5 ms or 50 us", "s",
                 base::parse_seconds);
  }
  if (unit == "1") return codec("a non-negative number or percentage", "", base::parse_part);
  return codec(
      "a non-negative rate, such as 90 (GB/s), 90 GB/s or 300 MB/s", "B/s",
      +[](std::string_view text) {
        const auto bytes_per_s = base::parse_bandwidth(text);
        return bytes_per_s ? std::optional(*bytes_per_s / 1e9) : base::parse_number(text);
      });
}

std::vector<std::string> names_of_places() {
  std::vector<std::string> names = shipped_names("devices");
  names.insert(names.begin(), any_gpu);
  return names;
}

/// A place where a criterion is judged. A name that is misspelled would never be judged.
constexpr Spelling<std::string> place_name = {
    .values =
        [] {
          Values values = words_values(names_of_places());
          values.schema = {{"type", "string"}};
          return values;
        },
    .from =
        [](const std::string& text) {
          const auto names = names_of_places();
          return std::ranges::find(names, text) != names.end() ? std::optional(text) : std::nullopt;
        },
    .write = [](const std::string& text) { return Json(text); }};

/// Where the orders of the deck come from.
std::string origin_of_orders(const Reader& item) {
  return item.root().at("issue").at("orders").origin();
}

void check_order(const Reader& item, const Deck& deck) {
  const Reader order = item.at("order");
  const std::vector<std::string> names = names_of(deck.issue.orders);
  if (!order.exists() || std::ranges::find(names, order.text()) != names.end()) return;
  order.fail_allowed(fmt::format("{}, those in issue.orders ({}){}", fmt::join(names, ", "),
                                 origin_of_orders(item), suggestion(order.text(), names)));
}

/// Checks that the deck has the baseline and other orders for a metric that compares them.
void check_comparison(const Reader& item, const Criterion& criterion, const Deck& deck) {
  const auto fail = [&](std::string_view need) {
    std::vector<std::string> allowed;
    for (const MetricRow& row : metrics) {
      const bool lacks = (row.needs == Needs::host_work && !deck.host_work) ||
                         (row.needs == Needs::alone && !deck.fleet.compares());
      if (row.needs != Needs::baseline && !lacks) allowed.emplace_back(row.name);
    }
    item.at("metric").fail(fmt::format(
        "found '{}', which needs {} among issue.orders ({}); allowed: {}",
        to_string(criterion.metric), need, origin_of_orders(item), fmt::join(allowed, ", ")));
  };
  std::vector<std::string> others = names_of(deck.issue.orders);
  std::erase(others, to_string(Order::sequential));
  if (others.size() == deck.issue.orders.size()) fail("the baseline 'sequential'");
  if (others.empty()) fail("an order other than 'sequential'");
  if (criterion.order == Order::sequential) {
    item.at("order").fail(
        fmt::format("found 'sequential', which would be compared with itself; allowed: {}",
                    fmt::join(others, ", ")));
  }
}

void check_limits(const Reader& item, const Criterion& criterion) {
  const std::string_view metric = to_string(criterion.metric);
  if (!criterion.min && !criterion.max && !criterion.reference) {
    item.fail("found no limit; allowed: min, max or both, or reference");
  }
  item.expect_one("min", "reference");
  item.expect_one("max", "reference");
  if (criterion.below && !criterion.reference) {
    item.fail_at_key("below", "found in a criterion without reference; allowed: next to reference");
  }
  if (criterion.min && criterion.max && *criterion.min > *criterion.max) {
    item.at("min").fail(fmt::format("found {}, above max {}; allowed: at most max",
                                    quoted(item.at("min").text()), quoted(item.at("max").text())));
  }
  if (is_part(criterion.metric) && criterion.min && *criterion.min > 1) {
    item.at("min").fail(fmt::format("found {} for '{}', a part of a whole; allowed: at most 100 %",
                                    quoted(item.at("min").text()), metric));
  }
  if (criterion.reference && !has_reference(criterion.metric)) {
    item.at("reference")
        .fail(fmt::format("found a reference for '{}'; allowed: min or max", metric));
  }
}

void check_criterion(const Reader& item, const Criterion& criterion, const Deck& deck) {
  check_limits(item, criterion);
  const MetricRow& metric = row_of(criterion.metric);
  if (metric.needs == Needs::baseline) check_comparison(item, criterion, deck);
  if (of_device(metric.needs) && criterion.order) {
    item.at("order").fail(fmt::format(
        "found an order for '{}', a metric of the device; allowed: no order", metric.name));
  }
  const bool alone = criterion.phase == Phase::alone;
  if (metric.needs == Needs::alone && (alone || !deck.fleet.compares())) {
    item.at("metric").fail(
        fmt::format("found '{}', time together / time alone, with {}; allowed: {}", metric.name,
                    alone ? "phase alone" : "one of the phases in fleet.phases",
                    alone ? "phase together, or no phase" : "fleet.phases [alone, together]"));
  }
  if (criterion.phase && !deck.fleet.has(*criterion.phase)) {
    item.at("phase").fail(fmt::format("found '{}', which is not in fleet.phases; allowed: {}",
                                      to_string(*criterion.phase),
                                      to_string(deck.fleet.phases.front())));
  }
  if (metric.needs == Needs::host_work && !deck.host_work) {
    item.at("metric").fail(
        fmt::format("found '{}' without host_work; allowed: the other metrics", metric.name));
  }
}

}  // namespace

void describe(Visitor& v, Criterion& c, const Deck& deck) {
  const Reader* const map = v.reader();
  if (map != nullptr) check_order(*map, deck);
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
           list_of(place_name, "a list of `gpu` and names of devices, such as [c2070, gpu]", 1)),
    defaults_to("every run, no prediction"));
  if (map != nullptr) check_criterion(*map, c, deck);
}

}  // namespace overlap::deck
