#include "report/resolved.hpp"

#include <algorithm>

#include "deck/words.hpp"

namespace overlap::report {
namespace {

/// A map of the deck.
Json map(const std::vector<std::pair<std::string, deck::Value>>& fields) {
  Json json = Json::object();
  for (const auto& [key, value] : fields) {
    std::visit(
        [&json, &name = key](const auto& v) {
          if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::vector<deck::Record>>) {
            json[name] = Json::array();
            for (const deck::Record& record : v) json[name].push_back(map(record.fields));
          } else {
            json[name] = v;
          }
        },
        value);
  }
  return json;
}

}  // namespace

Json resolved(const deck::Deck& deck) {
  Json chunks = {{"profile", deck::to_string(deck.chunks.profile)}};
  if (deck.chunks.count) chunks["count"] = *deck.chunks.count;
  if (deck.chunks.bytes) chunks["bytes"] = *deck.chunks.bytes;
  if (deck.chunks.profile == deck::Profile::ramp) {
    chunks["growth"] = deck.chunks.growth;
    chunks["spread"] = deck.chunks.spread;
  }
  Json orders = Json::array();
  for (const deck::Order order : deck.issue.orders) orders.push_back(deck::to_string(order));
  Json acceptance = Json::array();
  for (const deck::Criterion& criterion : deck.acceptance) {
    Json entry = {{"metric", deck::to_string(criterion.metric)}};
    if (criterion.order) entry["order"] = deck::to_string(*criterion.order);
    if (criterion.min) entry["min"] = *criterion.min;
    if (criterion.max) entry["max"] = *criterion.max;
    acceptance.push_back(entry);
  }
  Json memory = {
      {"host", deck::to_string(deck.memory.host)},
      {"transfer", deck::to_string(deck.memory.transfer)},
      {"device_limit", deck.memory.device_limit ? Json(*deck.memory.device_limit) : Json("none")}};
  if (deck.memory.host == deck::HostMemory::pageable_staged) {
    memory["ring_slots"] = deck.memory.ring_slots;
    memory["ring_bytes"] = deck.memory.ring_bytes;
  }
  Json disturb = "none";
  if (deck.disturb) {
    disturb = {{"operation", deck::to_string(deck.disturb->operation)},
               {"at", deck.disturb->at},
               {"times", deck.disturb->times}};
  }
  return {{"title", deck.title},
          {"workload", map(deck::values_of(deck.workload))},
          {"chunks", chunks},
          {"memory", memory},
          {"issue",
           {{"orders", orders},
            {"lanes", deck.issue.lanes},
            {"mechanism", deck::to_string(deck.issue.mechanism)},
            {"sync", deck::to_string(deck.issue.sync)},
            {"streams", deck::to_string(deck.issue.streams)}}},
          {"host_work",
           deck.host_work ? Json{{"per_chunk", deck.host_work->per_chunk_s}} : Json("none")},
          {"disturb", disturb},
          {"measure",
           {{"warmup", deck.measure.warmup},
            {"repetitions", deck.measure.repetitions},
            {"verify", deck::to_string(deck.measure.verify)}}},
          {"acceptance", acceptance}};
}

Json value_at(Json deck, const std::string& key) {
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t dot = std::min(key.find('.', begin), key.size());
    const std::string part = key.substr(begin, dot - begin);
    if (!deck.is_object() || !deck.contains(part)) return nullptr;
    deck = Json(deck[part]);
    begin = dot + 1;
  }
  return deck;
}

}  // namespace overlap::report
