#include "workload/workload.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/units.hpp"
#include "deck/words.hpp"
#include "workload/gemm.hpp"
#include "workload/kernel.hpp"

namespace overlap::workload {
namespace {

/// Calls the kind's own function; one without a specialization does not link.
template <std::size_t... kinds>
void set_up_kind(Workload& workload, const deck::Workload& deck, std::index_sequence<kinds...>) {
  constexpr std::array of = {&set_up<deck::words<deck::WorkloadKind>[kinds].value>...};
  of[static_cast<std::size_t>(deck.kind)](workload, deck);
}

/// Host and device memory for an array; throws whatever Kokkos throws.
void allocate(Workload& workload, const schedule::Array& array, std::size_t device_bytes,
              const HostArray& host) {
  with_space(workload.space, [&](auto space) {
    using Space = typename decltype(space)::type;
    const std::string label = "overlap::host::" + array.name;
    workload.host.push_back(host);
    workload.host.back().bytes = host.memory == deck::HostMemory::pinned
                                     ? Bytes::in<PinnedSpace<Space>>(label, array.host_bytes)
                                     : Bytes::in<Kokkos::HostSpace>(label, array.host_bytes);
    workload.device.push_back(
        Bytes::in<typename Space::memory_space>("overlap::device::" + array.name, device_bytes));
  });
}

/// Allocates the arrays; throws base::Error{precondition} when memory does not suffice.
void allocate(Workload& workload, const schedule::Costs& costs,
              const std::vector<std::size_t>& device_bytes, deck::HostMemory memory) {
  for (std::size_t i = 0; i < costs.arrays.size(); ++i) {
    const schedule::Array& array = costs.arrays[i];
    try {
      allocate(workload, array, device_bytes[i],
               {.memory = memory, .region = schedule::merged(array.host)});
    } catch (const std::exception& error) {
      std::string reason = error.what();
      reason.resize(std::min(reason.size(), reason.find('\n')));
      const bool locked = memory == deck::HostMemory::pinned && !on_host(workload.space);
      throw base::Error(base::ExitCode::precondition,
                        "not enough memory for array " + array.name + ", " +
                            base::format_bytes(array.host_bytes) +
                            (locked ? " page-locked on the host (with memory.host: pageable_staged "
                                      "a ring of slots is enough) and "
                                    : " on the host and ") +
                            base::format_bytes(device_bytes[i]) + " on the device: " + reason);
    }
  }
}

/// Sets bytes of device memory.
struct SetBytes {
  Byte* data;
  Byte value;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { data[i] = value; }
};

}  // namespace

bool on_host(SpaceId space) {
  return with_space(space, [](auto type) { return is_host<typename decltype(type)::type>; });
}

int concurrency(SpaceId space) {
  return with_space(space, [](auto type) { return typename decltype(type)::type().concurrency(); });
}

std::string name(SpaceId space) {
  return with_space(space, [](auto type) { return std::string(decltype(type)::type::name()); });
}

std::optional<std::string> unavailable(deck::WorkloadKind kind) {
  if (kind != deck::WorkloadKind::dgemm || why_no_gemm() == nullptr) return std::nullopt;
  return why_no_gemm();
}

Workload make(SpaceId space, const deck::Deck& deck, const schedule::Costs& costs,
              const std::vector<std::size_t>& device_bytes, std::int64_t repeats) {
  const deck::WorkloadKind kind = deck.workload.kind;
  if (const auto why = unavailable(kind)) {
    throw deck::error_at(
        deck, base::ExitCode::skipped, "workload.kind",
        std::string(deck::to_string(kind)) + " cannot run in this program: " + *why);
  }
  Workload workload{.space = space, .arrays = costs.arrays, .repeats = repeats};
  allocate(workload, costs, device_bytes, deck.memory.host);
  constexpr std::size_t kinds = deck::words<deck::WorkloadKind>.size();
  set_up_kind(workload, deck.workload, std::make_index_sequence<kinds>());
  return workload;
}

// Not by Kokkos::deep_copy of a value: with Kokkos 4.6.99 and GCC 11 that wrote to addresses
// outside the array.
void poison(const Workload& workload, const InstanceRef& instance) {
  constexpr Byte pattern = 0xff;
  for (const Bytes& array : workload.device) {
    enqueue("overlap::poison", instance, static_cast<std::int64_t>(array.size()),
            SetBytes{array.data(), pattern});
  }
}

}  // namespace overlap::workload
