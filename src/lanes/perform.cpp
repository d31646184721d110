#include "lanes/perform.hpp"

#include <cstring>

#include "lanes/api.hpp"

namespace overlap::lanes {
namespace {

using workload::Byte;

template <class Space>
void copy_on(const Space& instance, const workload::HostArray& host, Byte* device, bool to_device,
             const schedule::Region& region) {
  if constexpr (workload::is_host<Space>) {
    // Kokkos::deep_copy between host views would use the default instance's threads.
    const auto parts = static_cast<std::size_t>(instance.concurrency());
    const auto copy_part = [=, begin = host.data()](std::size_t part) {
      const std::size_t bytes = region.bytes();
      schedule::for_lines(region, bytes * part / parts, bytes * (part + 1) / parts,
                          [&](std::size_t place, std::size_t position, std::size_t count) {
                            Byte* const line = begin + place;
                            Byte* const packed = device + position;
                            std::memcpy(to_device ? packed : line, to_device ? line : packed,
                                        count);
                          });
    };
    Kokkos::parallel_for("overlap::copy",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::size_t>>(
                             instance, 0, parts, Kokkos::ChunkSize(1)),
                         copy_part);
  } else {
    if constexpr (has_api<Space>) {
      using Api = typename ApiOf<Space>::type;
      if (region.all_lines() > 1 && region.pitch <= Api::longest_pitch) {
        Api::copy_lines(Api::stream_of(instance), host.data(), device, region,
                        to_device ? Api::to_device : Api::to_host);
        return;
      }
    }
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    const auto copy_line = [&](std::size_t place, std::size_t position, std::size_t bytes) {
      const Kokkos::View<Byte*, typename Space::memory_space, Unmanaged> line(device + position,
                                                                              bytes);
      const auto copy_with = [&](const auto& mirror) {
        if (to_device) {
          Kokkos::deep_copy(instance, line, mirror);
        } else {
          Kokkos::deep_copy(instance, mirror, line);
        }
      };
      Byte* const begin = host.data() + place;
      if (deck::page_locked(host.memory)) {
        copy_with(Kokkos::View<Byte*, workload::PinnedSpace<Space>, Unmanaged>(begin, bytes));
      } else {
        copy_with(Kokkos::View<Byte*, Kokkos::HostSpace, Unmanaged>(begin, bytes));
      }
    };
    schedule::for_lines(region, 0, region.bytes(), copy_line);
  }
}

}  // namespace

void copy(const workload::InstanceRef& instance, const workload::Workload& workload,
          std::size_t array, bool to_device, const schedule::Region& region,
          std::size_t device_offset) {
  Byte* const device = workload.device[array].data() + device_offset;
  instance.with(
      [&](const auto& space) { copy_on(space, workload.host[array], device, to_device, region); });
}

void perform(const workload::InstanceRef& instance, const workload::Workload& workload,
             const schedule::Schedule& schedule, const schedule::Task& task) {
  const auto used = schedule::uses(schedule, task);
  if (!schedule::is_kernel(task.stage)) {
    copy(instance, workload, static_cast<std::size_t>(used.front().array),
         task.stage == schedule::Stage::h2d, schedule::host_region(schedule, task),
         schedule::device_begin(schedule, task));
    return;
  }
  workload::Call call{.op = task.stage == schedule::Stage::kernel ? task.op : -1,
                      .repeats = task.duration_s > 0
                                     ? workload::steps(task.duration_s, workload.repeats)
                                     : workload.repeats,
                      .mapped = schedule.transfer == deck::Transfer::zero_copy,
                      .number = task.number,
                      .share = task.share,
                      .product = schedule::product(schedule, task)};
  if (!used.empty()) {
    const schedule::Piece& piece = schedule::piece_of(schedule, used.front());
    call.begin = piece.begin;
    call.size = piece.size();
    if (!call.mapped) call.device_begin = schedule::slot_begin(schedule, used.front());
  }
  workload.launch(instance, call);
}

}  // namespace overlap::lanes
