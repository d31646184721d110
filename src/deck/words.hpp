#pragma once

#include <vector>

#include "deck/deck.hpp"
#include "yaml/words.hpp"

/// The spelling of every enumerator of a deck.
namespace overlap::yaml {

template <>
inline constexpr auto words<deck::WorkloadKind> = std::to_array<Word<deck::WorkloadKind>>({
    {deck::WorkloadKind::increment, "increment", "a[i] += sqrt(sin(x)^2 + cos(x)^2), in place"},
    {deck::WorkloadKind::rowsum, "rowsum", "sums of a 2-D array along its contiguous axis"},
    {deck::WorkloadKind::pipeline, "pipeline",
     "two operations, two inputs and one output each, iterated"},
    {deck::WorkloadKind::dgemm, "dgemm", "matrix products C = alpha A B + beta C, by tiles of C"},
    {deck::WorkloadKind::custom, "custom", "copies, busy kernels and host work as listed"},
});

template <>
inline constexpr auto words<deck::Order> = [] {
  std::array<Word<deck::Order>, deck::orders.size()> all;
  for (std::size_t i = 0; i < deck::orders.size(); ++i) {
    all[i] = {deck::orders[i].order, deck::orders[i].name, deck::orders[i].help};
  }
  return all;
}();

template <>
inline constexpr auto words<deck::Stage> =
    in_order<deck::Stage>("h2d", "kernel", "d2h", "host", "query", "default_stream", "disturbance");
template <>
inline constexpr auto words<deck::Type> =
    in_order<deck::Type>("int32", "int64", "float32", "float64");
template <>
inline constexpr auto words<deck::SumType> = in_order<deck::SumType>("same", "int64");
template <>
inline constexpr auto words<deck::SumAxis> = in_order<deck::SumAxis>("rows", "columns");
template <>
inline constexpr auto words<deck::RowsumKernel> =
    in_order<deck::RowsumKernel>("auto", "thread_per_row", "team_per_row");
template <>
inline constexpr auto words<deck::Profile> = in_order<deck::Profile>("uniform", "ramp");
template <>
inline constexpr auto words<deck::HostMemory> =
    in_order<deck::HostMemory>("pinned", "pageable", "registered", "pageable_staged");
template <>
inline constexpr auto words<deck::Transfer> = in_order<deck::Transfer>("staged", "zero_copy");
template <>
inline constexpr auto words<deck::Mechanism> = in_order<deck::Mechanism>("streams", "graph");
template <>
inline constexpr auto words<deck::Sync> =
    in_order<deck::Sync>("device", "stream", "event", "query");
template <>
inline constexpr auto words<deck::Streams> =
    in_order<deck::Streams>("own", "blocking", "legacy_default", "per_thread_default");
template <>
inline constexpr auto words<deck::Disturbance> = in_order<deck::Disturbance>(
    "default_stream", "malloc", "malloc_host", "memset", "blocking_copy", "small_copy",
    "device_copy", "cache_config", "timing_event", "stream_query", "synchronize");
template <>
inline constexpr auto words<deck::Verify> = in_order<deck::Verify>("every", "ends");
template <>
inline constexpr auto words<deck::Metric> = [] {
  std::array<Word<deck::Metric>, deck::metrics.size()> all;
  for (std::size_t i = 0; i < deck::metrics.size(); ++i) {
    all[i] = {deck::metrics[i].metric, deck::metrics[i].name, deck::metrics[i].unit};
  }
  return all;
}();

}  // namespace overlap::yaml

namespace overlap::deck {

using yaml::spellings;
using yaml::to_string;
using yaml::words;

/// The orders that a kind of workload can be issued in.
std::vector<Order> orders_of(WorkloadKind kind);

}  // namespace overlap::deck
