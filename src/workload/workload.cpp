#include "workload/workload.hpp"

#include <array>
#include <utility>

#include "base/caches.hpp"
#include "base/units.hpp"
#include "deck/words.hpp"
#include "workload/buffers.hpp"

namespace overlap::workload {
namespace {

/// One function per kind; a kind without a specialization does not link.
constexpr auto set_ups = []<std::size_t... kind>(std::index_sequence<kind...>) {
  return std::array{&set_up<deck::words<deck::WorkloadKind>[kind].value>...};
}(std::make_index_sequence<deck::words<deck::WorkloadKind>.size()>());

// Not Kokkos::deep_copy of a value, which wrote outside the array with Kokkos 4.6.99 and GCC 11.
struct Poison {
  Byte* array;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { array[i] = 0xff; }
};

}  // namespace

base::Error Setup::no_memory(std::size_t number, const std::exception& error) const {
  const schedule::Array& array = workload.arrays[number];
  const bool locked = memory == deck::HostMemory::pinned && !is_host;
  return {base::ExitCode::precondition, "not enough memory for array " + array.name + ", " +
                                            base::format_bytes(array.host_bytes) +
                                            (locked ? " page-locked" : "") + " on the host and " +
                                            base::format_bytes(device_bytes[number]) +
                                            " on the device: " + base::error_of(error).what()};
}

void require_available(const deck::Deck& deck) {
  const deck::WorkloadKind kind = deck.workload.kind;
  const auto why = unavailable(kind);
  if (!why) return;
  throw deck::error_at(deck, base::ExitCode::skipped, "workload.kind",
                       std::string(deck::to_string(kind)) + " cannot run in this program: " + *why);
}

Workload make(const deck::Deck& deck, const schedule::Costs& costs,
              const std::vector<std::size_t>& device_bytes, std::int64_t repeats) {
  require_available(deck);
  Workload workload{.arrays = costs.arrays, .repeats = repeats};
  workload.host.resize(costs.arrays.size());
  workload.device.resize(costs.arrays.size());
  set_ups[static_cast<std::size_t>(deck.workload.kind)](
      {workload, deck.workload, deck.memory.host, device_bytes});
  if (!is_host) {
    workload.generate = [generate = std::move(workload.generate),
                         host = workload.host](std::uint32_t repetition) {
      generate(repetition);
      for (const HostArray& array : host) base::flush_caches(array.data(), array.size());
    };
  }
  return workload;
}

void poison(const Workload& workload, const Space& instance) {
  for (const std::span<Byte> array : workload.device) {
    for_parts(std::ssize(array), [&](std::int64_t begin, std::int64_t end) {
      Kokkos::parallel_for("overlap::poison", RangePolicy(instance, begin, end),
                           Poison{array.data()});
    });
  }
}

}  // namespace overlap::workload
