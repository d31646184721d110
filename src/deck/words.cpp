#include "deck/words.hpp"

namespace overlap::deck {

std::vector<Order> orders_of(WorkloadKind kind) {
  const Parts parts = kind == WorkloadKind::dgemm    ? Parts::tiles
                      : kind == WorkloadKind::custom ? Parts::listed
                                                     : Parts::chunks;
  std::vector<Order> suitable;
  for (const OrderRow& row : orders) {
    if (row.suits(parts)) suitable.push_back(row.order);
  }
  return suitable;
}

}  // namespace overlap::deck
