#include "deck/words.hpp"

namespace overlap::deck {

std::vector<Order> orders_of(WorkloadKind kind) {
  // Of those that not every kind has.
  const auto has = [kind](Order order) {
    switch (order) {
      case Order::two_way:
      case Order::three_way:
      case Order::four_way:
      case Order::four_plus:
        return kind == WorkloadKind::dgemm;
      case Order::custom:
        return kind == WorkloadKind::custom;
      case Order::by_engine:  // a product's is three_way; a list has its own lanes
      case Order::automatic:
        return kind != WorkloadKind::dgemm && kind != WorkloadKind::custom;
      default:
        return true;
    }
  };
  std::vector<Order> orders;
  for (const auto& word : words<Order>) {
    if (has(word.value)) orders.push_back(word.value);
  }
  return orders;
}

}  // namespace overlap::deck
