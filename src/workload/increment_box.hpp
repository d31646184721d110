#pragma once

#include "workload/buffers.hpp"
#include "workload/data.hpp"

/// The increment of a box: planes, rows and columns of a larger three-dimensional array, which the
/// device holds without the rest.
namespace overlap::workload {

template <class T>
using BoxView = Kokkos::View<T***, Kokkos::LayoutLeft, Space>;  ///< (column, row, plane)

template <class T>
struct IncrementBox {
  BoxView<T> chunk;
  std::int64_t first;  ///< position of chunk(0, 0, 0) in the box
  int repeats;

  KOKKOS_FUNCTION void operator()(std::int64_t column, std::int64_t row, std::int64_t plane) const {
    const auto columns = static_cast<std::int64_t>(chunk.extent(0));
    const auto rows = static_cast<std::int64_t>(chunk.extent(1));
    const std::int64_t position = first + (plane * rows + row) * columns + column;
    chunk(column, row, plane) += sin_cos_one(static_cast<T>(position), repeats);
  }
};

/// Workload::launch for a box. Chunks are planes, or rows if there is a single plane.
template <class T>
auto launch_box(const Buffers<T>& a, const deck::Box& box) {
  return [a, extent = box.extent](const Space& instance, const Call& call) {
    auto [planes, rows, columns] = extent;
    (planes > 1 ? planes : rows) = call.size;
    const Kokkos::LayoutLeft layout(static_cast<std::size_t>(columns),
                                    static_cast<std::size_t>(rows),
                                    static_cast<std::size_t>(planes));
    const BoxView<T> chunk(a.chunk(call).data(), layout);
    // Neighbouring threads of a GPU work on neighbouring columns, which are adjacent in memory.
    using Left = Kokkos::Rank<3, Kokkos::Iterate::Left, Kokkos::Iterate::Left>;
    using Policy = Kokkos::MDRangePolicy<Space, Left, Kokkos::IndexType<std::int64_t>>;
    const Policy policy(instance, {0, 0, 0}, {columns, rows, planes});
    Kokkos::parallel_for("overlap::increment::box", policy,
                         IncrementBox<T>{chunk, a.first(call), static_cast<int>(call.repeats)});
  };
}

}  // namespace overlap::workload
