#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "deck/deck.hpp"

/// The spelling of every enumerator: in decks, on the console and in result files alike.
namespace overlap::deck {

template <class Enum>
struct Word {
  Enum value;
  std::string_view name;
  std::string_view help = {};
};

template <class Enum>
inline constexpr std::array<Word<Enum>, 0> words = {};

template <>
inline constexpr auto words<WorkloadKind> = std::to_array<Word<WorkloadKind>>({
#define OVERLAP_WORKLOAD(name, help, ...) {WorkloadKind::name, #name, help},
#include "deck/workloads.def"
#undef OVERLAP_WORKLOAD
});

template <>
inline constexpr auto words<Order> = [] {
  std::array<Word<Order>, orders.size()> all;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    all[i] = {orders[i].order, orders[i].name, orders[i].help};
  }
  return all;
}();

template <>
inline constexpr auto words<Stage> =
    std::to_array<Word<Stage>>({{Stage::h2d, "h2d"},
                                {Stage::kernel, "kernel"},
                                {Stage::d2h, "d2h"},
                                {Stage::host, "host"},
                                {Stage::query, "query"},
                                {Stage::default_stream, "default_stream"},
                                {Stage::disturbance, "disturbance"}});
template <>
inline constexpr auto words<Type> = std::to_array<Word<Type>>({{Type::int32, "int32"},
                                                               {Type::int64, "int64"},
                                                               {Type::float32, "float32"},
                                                               {Type::float64, "float64"}});
template <>
inline constexpr auto words<SumType> =
    std::to_array<Word<SumType>>({{SumType::same, "same"}, {SumType::int64, "int64"}});
template <>
inline constexpr auto words<Axis> =
    std::to_array<Word<Axis>>({{Axis::rows, "rows"}, {Axis::columns, "columns"}});
template <>
inline constexpr auto words<RowsumKernel> =
    std::to_array<Word<RowsumKernel>>({{RowsumKernel::automatic, "auto"},
                                       {RowsumKernel::thread_per_row, "thread_per_row"},
                                       {RowsumKernel::team_per_row, "team_per_row"}});
template <>
inline constexpr auto words<Profile> =
    std::to_array<Word<Profile>>({{Profile::uniform, "uniform"}, {Profile::ramp, "ramp"}});
template <>
inline constexpr auto words<HostMemory> =
    std::to_array<Word<HostMemory>>({{HostMemory::pinned, "pinned"},
                                     {HostMemory::pageable, "pageable"},
                                     {HostMemory::registered, "registered"},
                                     {HostMemory::pageable_staged, "pageable_staged"}});
template <>
inline constexpr auto words<Transfer> = std::to_array<Word<Transfer>>(
    {{Transfer::staged, "staged"}, {Transfer::zero_copy, "zero_copy"}});
template <>
inline constexpr auto words<Mechanism> =
    std::to_array<Word<Mechanism>>({{Mechanism::streams, "streams"}, {Mechanism::graph, "graph"}});
template <>
inline constexpr auto words<Sync> = std::to_array<Word<Sync>>({{Sync::device, "device"},
                                                               {Sync::stream, "stream"},
                                                               {Sync::event, "event"},
                                                               {Sync::query, "query"}});
template <>
inline constexpr auto words<Streams> =
    std::to_array<Word<Streams>>({{Streams::own, "own"},
                                  {Streams::blocking, "blocking"},
                                  {Streams::legacy_default, "legacy_default"},
                                  {Streams::per_thread_default, "per_thread_default"}});
template <>
inline constexpr auto words<Disturbance> =
    std::to_array<Word<Disturbance>>({{Disturbance::default_stream, "default_stream"},
                                      {Disturbance::malloc, "malloc"},
                                      {Disturbance::malloc_host, "malloc_host"},
                                      {Disturbance::memset, "memset"},
                                      {Disturbance::blocking_copy, "blocking_copy"},
                                      {Disturbance::small_copy, "small_copy"},
                                      {Disturbance::device_copy, "device_copy"},
                                      {Disturbance::cache_config, "cache_config"},
                                      {Disturbance::timing_event, "timing_event"},
                                      {Disturbance::stream_query, "stream_query"},
                                      {Disturbance::synchronize, "synchronize"}});
template <>
inline constexpr auto words<Verify> =
    std::to_array<Word<Verify>>({{Verify::every, "every"}, {Verify::ends, "ends"}});
template <>
inline constexpr auto words<Metric> =
    std::to_array<Word<Metric>>({{Metric::time, "time", "s"},
                                 {Metric::speedup, "speedup", "1"},
                                 {Metric::throughput, "throughput", "GB/s"},
                                 {Metric::max_error, "max_error", "1"},
                                 {Metric::overlap_efficiency, "overlap_efficiency", "1"},
                                 {Metric::bound_fraction, "bound_fraction", "1"},
                                 {Metric::schedule_bound_fraction, "schedule_bound_fraction", "1"},
                                 {Metric::host_work_hidden, "host_work_hidden", "1"}});

/// The enumerator's spelling.
template <class Enum>
constexpr std::string_view to_string(Enum value) {
  for (const auto& word : words<Enum>) {
    if (word.value == value) return word.name;
  }
  return "?";
}

/// All spellings, for error messages.
template <class Enum>
std::vector<std::string> spellings() {
  std::vector<std::string> names;
  for (const auto& word : words<Enum>) names.emplace_back(word.name);
  return names;
}

/// Keys under `workload:` that a kind reads, `kind` first.
std::vector<std::string> keys_of(WorkloadKind kind);

/// The keys that a task of a custom workload may have at a stage.
std::vector<std::string> task_keys(Stage stage);

/// The orders that a kind of workload can be issued in.
std::vector<Order> orders_of(WorkloadKind kind);

struct Record;
/// A value as decks spell it: a number, a word, or a list of numbers, words or maps.
using Value = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                           std::vector<std::string>, std::vector<Record>>;
/// A map of a deck.
struct Record {
  std::vector<std::pair<std::string, Value>> fields;
  bool operator==(const Record&) const = default;
};

/// Every key of keys_of(workload.kind) with its value, defaults included.
std::vector<std::pair<std::string, Value>> values_of(const Workload& workload);

}  // namespace overlap::deck
