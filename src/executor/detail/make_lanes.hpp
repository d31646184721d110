#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/parallel.hpp"
#include "executor/detail/cuda_lanes.hpp"
#include "executor/detail/fenced_lanes.hpp"
#include "executor/detail/host_lanes.hpp"

// Lanes copy views from several threads.
#if defined(KOKKOS_ENABLE_ATOMICS_BYPASS)
#error "Kokkos was built with KOKKOS_ENABLE_ATOMICS_BYPASS: view reference counts are no atomics"
#endif

namespace overlap::executor::detail {

/// The lanes that suit the space: streams on CUDA, worker threads on Serial and OpenMP, instances
/// and fences elsewhere.
template <class Space>
std::unique_ptr<Lanes<Space>> make_lanes(int lanes, const deck::Issue& options = {},
                                         [[maybe_unused]] const deck::Memory& memory = {}) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
    return std::make_unique<CudaLanes>(lanes, options, memory);
  }
#endif
  const auto need_cuda = [](bool wanted, const std::string& key, std::string_view word) {
    if (!wanted) return;
    throw base::Error(
        base::ExitCode::skipped,
        key + ": " + std::string(word) + " needs CUDA, this back end is " + Space().name());
  };
  need_cuda(options.mechanism != deck::Mechanism::streams, "issue.mechanism",
            deck::to_string(options.mechanism));
  need_cuda(options.streams != deck::Streams::own, "issue.streams",
            deck::to_string(options.streams));
  need_cuda(options.sync == deck::Sync::event, "issue.sync", deck::to_string(options.sync));
  need_cuda(memory.host == deck::HostMemory::pageable_staged ||
                memory.host == deck::HostMemory::registered,
            "memory.host", deck::to_string(memory.host));
  [[maybe_unused]] const bool poll = options.sync == deck::Sync::query;
#if defined(KOKKOS_ENABLE_SERIAL)
  if constexpr (std::is_same_v<Space, Kokkos::Serial>) {
    std::vector<Space> instances;
    for (int lane = 0; lane < lanes; ++lane) instances.emplace_back(Kokkos::NewInstance{});
    return std::make_unique<HostLanes<Space>>(std::move(instances), poll);
  }
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<Space, Kokkos::OpenMP>) {
    // partition_space would return copies of the default instance where nesting is off.
    const int threads = std::max(1, Space().concurrency() / lanes);
    std::vector<Space> instances;
    for (int lane = 0; lane < lanes; ++lane) instances.emplace_back(threads);
    return std::make_unique<HostLanes<Space>>(std::move(instances), poll);
  }
#endif
  need_cuda(poll, "issue.sync", deck::to_string(options.sync));
  return std::make_unique<FencedLanes<Space>>(lanes);
}

}  // namespace overlap::executor::detail
