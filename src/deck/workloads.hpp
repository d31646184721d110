#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/in_sequence.hpp"

/// The workloads. A workload consists of an enumerator and its row here, of its keys in
/// deck/workload.cpp with members in deck/deck.hpp, of its costs in src/schedule/NAME.cpp, and of
/// its kernels and check in src/workload/NAME.cpp.
namespace overlap::deck {

enum class WorkloadKind {
  increment,
  rowsum,
  pipeline,
  dgemm,
  custom,
};

enum class ElementType { int32, int64, float32, float64 };
/// Bytes of one element.
constexpr std::size_t size_of(ElementType type) {
  return type == ElementType::int32 || type == ElementType::float32 ? 4 : 8;
}
constexpr bool is_integer(ElementType type) {
  return type == ElementType::int32 || type == ElementType::int64;
}

/// What the data of a workload are split into: chunks of its arrays, tiles of a matrix product, or
/// what the tasks of a list say.
enum class Split { chunks, tiles, tasks };

struct WorkloadRow {
  WorkloadKind value;
  std::string_view name;
  std::string_view help;
  Split split = Split::chunks;
  int chunks = 4;                           ///< by default, per iteration
  ElementType type = ElementType::float32;  ///< of the elements by default
  bool integers = false;                    ///< whether elements may be integers
};

inline constexpr auto workloads = std::to_array<WorkloadRow>({
    {WorkloadKind::increment, "increment", "a[i] += sqrt(sin(x)^2 + cos(x)^2), in place"},
    {.value = WorkloadKind::rowsum,
     .name = "rowsum",
     .help = "sums of a 2-D array along its contiguous axis",
     .type = ElementType::int32,
     .integers = true},
    {.value = WorkloadKind::pipeline,
     .name = "pipeline",
     .help = "two operations, two inputs and one output each, iterated",
     .chunks = 1},
    {WorkloadKind::dgemm, "dgemm", "matrix products C = A B + beta C, by tiles of C", Split::tiles,
     1, ElementType::float64},
    {WorkloadKind::custom, "custom", "copies, busy kernels and host work as listed", Split::tasks,
     1},
});

constexpr const WorkloadRow& row_of(WorkloadKind kind) {
  return workloads[static_cast<std::size_t>(kind)];
}

static_assert(base::in_sequence(workloads, WorkloadKind::custom), "one row for each workload");

}  // namespace overlap::deck
