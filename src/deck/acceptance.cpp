#include <algorithm>

#include "deck/fields.hpp"
#include "deck/words.hpp"
#include "yaml/shipped.hpp"

/// The section `acceptance`.
namespace overlap::deck {
namespace {

using namespace yaml;

Field<Criterion> limit(const std::string& key, std::optional<double> Criterion::* member,
                       const std::string& help) {
  constexpr double most = any<double>;
  const auto any_metric = number(
      "a non-negative number with or without the metric's unit, such as 1.3, 90 %, 20 GB/s or 5 ms",
      0, most);
  return field(key, member, optional(any_metric), help)
      .reads([=](const Reader& map, Criterion& c) {
        const std::string unit(row_of(c.metric).unit), any_number = "a non-negative ";
        const Kind<double> kind =
            unit == "s"
                ? seconds(any_number + "time, such as 0.005 (seconds), 5 ms or 50 us", 0, most)
            : unit == "1"
                ? part(any_number + "number or percentage", 0, most)
                : rate(any_number + "rate, such as 90 (GB/s), 90 GB/s or 300 MB/s", 0, most);
        if (map.has(key)) c.*member = kind.read(map.at(key));
      })
      .defaults_to("not set");
}

/// A place where a criterion is judged. A name that is misspelled would never be judged.
Kind<std::string> place() {
  std::vector<std::string> names = shipped_names("devices");
  names.insert(names.begin(), any_gpu);
  return {.values = {.allowed = fmt::format("{}", fmt::join(names, ", ")),
                     .schema = {{"type", "string"}},
                     .words = names},
          .parse = [names](const std::string& text) {
            const bool known = std::ranges::find(names, text) != names.end();
            return known ? std::optional(text) : std::nullopt;
          }};
}

/// Checks that the deck has the baseline and other orders for a metric that compares them.
void check_comparison(const Reader& item, const Criterion& criterion, const Deck& deck,
                      const std::string& orders) {
  const auto fail = [&](std::string_view need) {
    std::vector<std::string> allowed;
    for (const MetricRow& row : metrics) {
      const bool lacks = (row.needs == Needs::host_work && !deck.host_work) ||
                         (row.needs == Needs::alone && !deck.fleet.compares());
      if (row.needs != Needs::baseline && !lacks) allowed.emplace_back(row.name);
    }
    item.at("metric").fail(
        fmt::format("found '{}', which needs {} among issue.orders ({}); allowed: {}",
                    to_string(criterion.metric), need, orders, fmt::join(allowed, ", ")));
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

void check_criterion(const Reader& item, const Criterion& criterion, const Deck& deck,
                     const std::string& orders) {
  if (!criterion.min && !criterion.max && !criterion.reference) {
    item.fail("found no limit; allowed: min, max or both, or reference");
  }
  item.expect_one("min", "reference");
  item.expect_one("max", "reference");
  if (criterion.below && !criterion.reference) {
    item.at_key("below").fail("found in a criterion without reference; allowed: next to reference");
  }
  if (criterion.min && criterion.max && *criterion.min > *criterion.max) {
    item.at("min").fail(fmt::format("found {}, above max {}; allowed: at most max",
                                    quoted(item.at("min").text()), quoted(item.at("max").text())));
  }
  const MetricRow& metric = row_of(criterion.metric);
  if (is_part(criterion.metric) && criterion.min && *criterion.min > 1) {
    item.at("min").fail(fmt::format("found {} for '{}', a part of a whole; allowed: at most 100 %",
                                    quoted(item.at("min").text()), metric.name));
  }
  if (metric.needs == Needs::baseline) check_comparison(item, criterion, deck, orders);
  if (of_device(metric.needs) && criterion.order) {
    item.at("order").fail(
        fmt::format("found an order for '{}', a metric of the device; allowed: "
                    "no order",
                    metric.name));
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
  if (criterion.reference && !has_reference(criterion.metric)) {
    item.at("reference")
        .fail(fmt::format("found a reference for '{}'; allowed: min or max", metric.name));
  }
  if (metric.needs == Needs::host_work && !deck.host_work) {
    item.at("metric").fail(
        fmt::format("found '{}' without host_work; allowed: the other metrics", metric.name));
  }
}

}  // namespace

const Table<Criterion>& criterion_table() {
  static const Table<Criterion> table = {
      {field("metric", &Criterion::metric, word<Metric>(), "What is judged.").required(),
       field("order", &Criterion::order, optional(word<Order>()),
             "The order it applies to, one of issue.orders.")
           .defaults_to("every order"),
       field("phase", &Criterion::phase, optional(word<Phase>()),
             "The phase of a fleet it applies to; without --fleet there is only `alone`.")
           .defaults_to("every phase"),
       limit("min", &Criterion::min, "At least this, in the metric's unit."),
       limit("max", &Criterion::max, "At most this, in the metric's unit."),
       field("reference", &Criterion::reference, optional(line()),
             "Instead of min and max: a reference file, its path relative to the deck, or `given`, "
             "the "
             "file of --reference.")
           .defaults_to("not set"),
       field("below", &Criterion::below,
             optional(part("a fraction from 0 to 100 %, such as 3 %", 0, 1)),
             "How much worse than the reference a value may be.")
           .defaults_to("the reference's tolerance"),
       field("where", &Criterion::where,
             nonzero(
                 list_of(place(), "a list of `gpu` and names of devices, such as [c2070, gpu]", 1)),
             "Where it is judged: with --predict of these devices; `gpu`: runs on a GPU. Elsewhere "
             "its check is SKIPPED and decides nothing.")
           .defaults_to("every run, no prediction")},
      {{"anyOf", {given("min"), given("max"), given("reference")}}}};
  return table;
}

void read_acceptance(const Reader& deck, Deck& into) {
  if (!deck.has("acceptance")) return;
  const std::string origin = deck.at("issue").at("orders").origin();
  const std::vector<std::string> names = names_of(into.issue.orders);
  for (const Reader& item : deck.at("acceptance").items(criteria)) {
    const Reader order = item.at("order");
    if (item.has("order") && std::ranges::find(names, order.text()) == names.end()) {
      order.fail_allowed(fmt::format("{}, those in issue.orders ({}){}", fmt::join(names, ", "),
                                     origin, suggestion(order.text(), names)));
    }
    Criterion& criterion = into.acceptance.emplace_back();
    read(criterion_table(), item, criterion);
    check_criterion(item, criterion, into, origin);
  }
}

}  // namespace overlap::deck
