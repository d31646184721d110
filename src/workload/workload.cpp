#include "workload/workload.hpp"

#include <array>
#include <utility>

#include "base/caches.hpp"
#include "base/units.hpp"
#include "deck/words.hpp"
#include "workload/kernel.hpp"

namespace overlap::workload {
namespace {

/// One function per kind; a kind without a specialization does not link.
constexpr auto set_ups = []<std::size_t... kind>(std::index_sequence<kind...>) {
  return std::array{&set_up<deck::words<deck::WorkloadKind>[kind].value>...};
}(std::make_index_sequence<deck::words<deck::WorkloadKind>.size()>());

/// Allocates an array on host and device. Throws base::Error{precondition} if memory is short.
void allocate(Workload& workload, const schedule::Array& array, std::size_t device_bytes,
              deck::HostMemory memory) {
  const bool pinned = memory == deck::HostMemory::pinned;
  const auto allocate_in = [&]<class Space>(std::type_identity<Space>) {
    const std::string label = "overlap::host::" + array.name;
    workload.host.push_back({pinned ? Bytes::in<PinnedSpace<Space>>(label, array.host_bytes)
                                    : Bytes::in<Kokkos::HostSpace>(label, array.host_bytes),
                             memory, schedule::merged(array.host)});
    workload.device.push_back(
        Bytes::in<typename Space::memory_space>("overlap::device::" + array.name, device_bytes));
  };
  try {
    std::visit(allocate_in, workload.space);
  } catch (const std::exception& error) {
    throw base::Error(
        base::ExitCode::precondition,
        "not enough memory for array " + array.name + ", " + base::format_bytes(array.host_bytes) +
            (pinned && !on_host(workload.space)
                 ? " page-locked on the host (with memory.host: pageable_staged "
                   "a ring of slots is enough) and "
                 : " on the host and ") +
            base::format_bytes(device_bytes) + " on the device: " + base::error_of(error).what());
  }
}

}  // namespace

void require_available(const deck::Deck& deck) {
  const deck::WorkloadKind kind = deck.workload.kind;
  const auto why = unavailable(kind);
  if (!why) return;
  throw deck::error_at(deck, base::ExitCode::skipped, "workload.kind",
                       std::string(deck::to_string(kind)) + " cannot run in this program: " + *why);
}

Workload make(SpaceId space, const deck::Deck& deck, const schedule::Costs& costs,
              const std::vector<std::size_t>& device_bytes, std::int64_t repeats) {
  require_available(deck);
  Workload workload{.space = space, .arrays = costs.arrays, .repeats = repeats};
  for (std::size_t i = 0; i < costs.arrays.size(); ++i) {
    allocate(workload, costs.arrays[i], device_bytes[i], deck.memory.host);
  }
  set_ups[static_cast<std::size_t>(deck.workload.kind)](workload, deck.workload);
  if (!on_host(space)) {
    workload.generate = [generate = std::move(workload.generate),
                         host = workload.host](std::uint32_t repetition) {
      generate(repetition);
      for (const HostArray& array : host) base::flush_caches(array.data(), array.size());
    };
  }
  return workload;
}

// Does not use Kokkos::deep_copy of a value, which wrote outside the array with Kokkos 4.6.99 and
// GCC 11.
void poison(const Workload& workload, const InstanceRef& instance) {
  constexpr Byte pattern = 0xff;
  for (const Bytes& array : workload.device) {
    Byte* const data = array.data();
    enqueue(
        "overlap::poison", instance, static_cast<std::int64_t>(array.size()),
        KOKKOS_LAMBDA(std::int64_t i) { data[i] = pattern; });
  }
}

}  // namespace overlap::workload
