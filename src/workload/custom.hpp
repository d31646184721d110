#pragma once

#include <algorithm>
#include <map>

#include "workload/workload.hpp"

/// Copies and busy kernels as a deck lists them. Copies to the device move words that depend on
/// position, repetition and array; what is copied back lies on the device before the run, and the
/// kernels of its chunk update words spread over it. An update takes in the kernel's number, words
/// of all inputs of the chunk, and the end of the steps that kept the kernel busy: a kernel that is
/// missing, repeated, too early or out of turn shows, and no compiler can leave the steps out.
namespace overlap::workload {

namespace custom {

using Word = std::uint32_t;

/// The word that an array holds before the run.
KOKKOS_INLINE_FUNCTION Word initial(std::int64_t position, std::uint32_t repetition, int array) {
  std::uint64_t x =
      static_cast<std::uint64_t>(position) * 0x9e3779b97f4a7c15U +
      (std::uint64_t{repetition} << 24 ^ static_cast<std::uint64_t>(array)) * 0xd1b54a32d192ed03U;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93U;
  return static_cast<Word>(x >> 32);
}

/// One step of a chain: its words neither repeat soon nor can be had without the steps before.
KOKKOS_INLINE_FUNCTION Word step(Word x) { return (x ^ x >> 15) * 0x2c1b3c6dU + 0x297a2d39U; }

KOKKOS_INLINE_FUNCTION Word chain(std::int64_t steps, Word x = 0x12345678U) {
  for (std::int64_t i = 0; i < steps; ++i) x = step(x);
  return x;
}

/// The words of an array that kernels work on: a part that even the shortest kernel has time for.
struct Samples {
  std::int64_t count;
  std::int64_t stride;

  KOKKOS_FUNCTION explicit Samples(std::int64_t words)
      : count(words < 1024 ? words : 1024), stride(words / count) {}
  KOKKOS_FUNCTION std::int64_t position(std::int64_t i) const { return i % count * stride; }
};

/// An array of a chunk on the device.
struct Part {
  Word* data;
  std::int64_t words;
};

/// An update of a word: takes in a word of each input of the chunk, then the kernel itself.
KOKKOS_INLINE_FUNCTION Word with_input(Word x, Word input) { return step(x) + input; }
KOKKOS_INLINE_FUNCTION Word with_kernel(Word x, Word busy, int number) {
  return step(x + busy) + static_cast<Word>(number);
}

/// The kernel on one chunk.
struct Busy {
  const Part* parts;  ///< of the chunk: inputs, then outputs
  int inputs;
  int outputs;
  int number;
  std::int64_t steps;

  /// The part-th of `parts` equal shares of the samples, a share for each team or thread.
  template <class ForEach>
  KOKKOS_FUNCTION void update(std::int64_t part, std::int64_t of, Word busy,
                              const ForEach& for_each) const {
    for (int output = 0; output < outputs; ++output) {
      const Part out = parts[inputs + output];
      const Samples samples(out.words);
      for_each(samples.count * part / of, samples.count * (part + 1) / of, [&](std::int64_t i) {
        Word x = out.data[samples.position(i)];
        for (int k = 0; k < inputs; ++k) {
          x = with_input(x, parts[k].data[Samples(parts[k].words).position(i)]);
        }
        out.data[samples.position(i)] = with_kernel(x, busy, number);
      });
    }
  }
};

/// On host spaces each thread takes the steps.
struct BusyThreads : Busy {
  std::int64_t threads;

  KOKKOS_FUNCTION void operator()(std::int64_t thread) const {
    update(thread, threads, chain(steps),
           [](std::int64_t begin, std::int64_t end, const auto& body) {
             for (std::int64_t i = begin; i < end; ++i) body(i);
           });
  }
};

/// On devices one thread of each team takes the steps while the others wait: the teams hold their
/// part of the device, and kernels beside each other do not slow each other down.
struct BusyTeams : Busy {
  static constexpr int size = 512;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Word busy = 0;
    Kokkos::single(Kokkos::PerTeam(team), [&](Word& x) { x = chain(steps); }, busy);
    update(team.league_rank(), team.league_size(), busy,
           [&](std::int64_t begin, std::int64_t end, const auto& body) {
             Kokkos::parallel_for(Kokkos::TeamThreadRange(team, begin, end), body);
           });
  }
};

/// Writes what an array holds before the run.
struct Place {
  Word* data;
  std::uint32_t repetition;
  int array;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { data[i] = initial(i, repetition, array); }
};

template <class Space>
void launch(const Space& instance, const Busy& busy, double share) {
  const double all = static_cast<double>(instance.concurrency());
  if constexpr (is_host<Space>) {
    const auto threads = std::max<std::int64_t>(1, std::llround(share * all));
    enqueue("overlap::custom::busy",
            Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, threads,
                                                                        Kokkos::ChunkSize(1)),
            BusyThreads{busy, threads});
  } else {
    // As few registers as let teams fill the device.
    using Bounds = Kokkos::LaunchBounds<BusyTeams::size, 2048 / BusyTeams::size>;
    const auto teams = std::max<std::int64_t>(1, std::llround(share * all / BusyTeams::size));
    enqueue("overlap::custom::busy",
            Kokkos::TeamPolicy<Space, Bounds>(instance, static_cast<int>(teams), BusyTeams::size),
            BusyTeams{busy});
  }
}

/// A kernel of the deck's list, for the reference.
struct Listed {
  int number;
  double duration_s;
};

/// The arrays and kernels of a chunk.
struct Chunk {
  int number = 0;  ///< as the deck counts
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::vector<Listed> kernels;
};

/// A device array's contents on the host, outside the timed region.
template <class Space>
auto contents(const DeviceArray<Space>& array) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  return Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(),
      Kokkos::View<const Word*, typename Space::memory_space, Unmanaged>(
          reinterpret_cast<const Word*>(array.data()), array.size() / sizeof(Word)));
}

}  // namespace custom

template <class Space>
void set_up_custom(Workload<Space>& w, const deck::Workload& deck) {
  using namespace custom;
  // Arrays have the order of the list's copies; those of chunks without copies back follow.
  std::vector<Chunk> chunks;
  std::vector<int> listed_at(w.arrays.size(), static_cast<int>(deck.tasks.size()));
  {
    std::map<int, std::size_t> ops;
    for (const auto& task : deck.tasks) {
      if (task.chunk > 0) ops.emplace(task.chunk, 0);
    }
    for (auto& [number, op] : ops) {
      op = chunks.size();
      chunks.push_back({.number = number});
    }
    std::size_t array = 0;
    for (int i = 0; i < static_cast<int>(deck.tasks.size()); ++i) {
      const deck::CustomTask& task = deck.tasks[static_cast<std::size_t>(i)];
      if (schedule::is_copy(task.stage)) listed_at[array++] = i;
      if (task.stage == deck::Stage::kernel) {
        chunks[ops.at(task.chunk)].kernels.push_back({i, task.duration_s});
      }
    }
  }
  for (int i = 0; i < static_cast<int>(w.arrays.size()); ++i) {
    const schedule::Array& array = w.arrays[static_cast<std::size_t>(i)];
    Chunk& chunk = chunks[static_cast<std::size_t>(array.op)];
    (array.to_device ? chunk.inputs : chunk.outputs).push_back(i);
  }

  std::vector<std::size_t> first;  // of each chunk's parts in the table
  std::vector<Part> parts;
  for (const Chunk& chunk : chunks) {
    first.push_back(parts.size());
    for (const auto* arrays : {&chunk.inputs, &chunk.outputs}) {
      for (const int i : *arrays) {
        const auto& array = w.device[static_cast<std::size_t>(i)];
        parts.push_back({reinterpret_cast<Word*>(array.data()),
                         static_cast<std::int64_t>(array.size() / sizeof(Word))});
      }
    }
  }
  const Kokkos::View<Part*, typename Space::memory_space> table(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "overlap::custom::parts"), parts.size());
  const auto mirror = Kokkos::create_mirror_view(table);
  std::copy(parts.begin(), parts.end(), mirror.data());
  Kokkos::deep_copy(table, mirror);

  w.launch = [table, first, chunks](const Space& instance, const Call& call) {
    Busy busy{nullptr, 0, 0, call.number, call.repeats};
    if (call.op >= 0) {
      const auto op = static_cast<std::size_t>(call.op);
      busy.parts = table.data() + first[op];
      busy.inputs = static_cast<int>(chunks[op].inputs.size());
      busy.outputs = static_cast<int>(chunks[op].outputs.size());
    }
    custom::launch(instance, busy, call.share);
  };
  w.generate = [host = w.host, arrays = w.arrays](std::uint32_t repetition) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (!arrays[i].to_device) continue;
      fill<Word>(host[i],
                 [=](std::int64_t at) { return initial(at, repetition, static_cast<int>(i)); });
    }
  };
  w.place = [device = w.device, arrays = w.arrays](const Space& instance,
                                                   std::uint32_t repetition) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (arrays[i].to_device) continue;
      enqueue("overlap::custom::place",
              units(instance, static_cast<std::int64_t>(device[i].size() / sizeof(Word))),
              Place{reinterpret_cast<Word*>(device[i].data()), repetition, static_cast<int>(i)});
    }
  };
  w.verify = [host = w.host, device = w.device, arrays = w.arrays, chunks, listed_at,
              tasks = deck.tasks.size()](std::uint32_t repetition, std::int64_t steps_per_s) {
    Verification result;
    std::map<std::int64_t, Word> ends;  // of the chains, by their steps
    const auto end_of = [&](std::int64_t steps) {
      const auto [end, is_new] = ends.try_emplace(steps, 0);
      if (is_new) end->second = chain(steps);
      return end->second;
    };
    const auto check = [&](std::span<const Word> found, const std::string& name, int array,
                           const Chunk& chunk, int listed_before) {
      const Samples samples(static_cast<std::int64_t>(found.size()));
      // After the kernels that the list has before the copy.
      std::vector<Word> sampled(static_cast<std::size_t>(samples.count));
      for (std::int64_t i = 0; i < samples.count; ++i) {
        Word& x = sampled[static_cast<std::size_t>(i)];
        x = initial(samples.position(i), repetition, array);
        if (arrays[static_cast<std::size_t>(array)].to_device) continue;
        for (const Listed& kernel : chunk.kernels) {
          if (kernel.number >= listed_before) break;
          for (const int input : chunk.inputs) {
            const auto bytes = arrays[static_cast<std::size_t>(input)].unit_bytes;
            const Samples of(static_cast<std::int64_t>(bytes / sizeof(Word)));
            x = with_input(x, initial(of.position(i), repetition, input));
          }
          x = with_kernel(x, end_of(steps(kernel.duration_s, steps_per_s)), kernel.number);
        }
      }
      const bool clean = !result.mismatch;
      std::vector<Word> gathered;
      for (std::int64_t i = 0; i < samples.count; ++i) {
        gathered.push_back(found[static_cast<std::size_t>(samples.position(i))]);
      }
      compare<Word>(
          std::span<const Word>(gathered), name,
          [&](std::int64_t i) {
            return Expected{
                .value = 0, .tolerance = 0, .whole = sampled[static_cast<std::size_t>(i)]};
          },
          result);
      if (clean && result.mismatch) result.mismatch->index *= samples.stride;
      // The others hold what they held before the run.
      compare<Word>(
          found, name,
          [&](std::int64_t i) {
            const Word before = initial(i, repetition, array);
            const Word now = found[static_cast<std::size_t>(i)];
            const bool other_sample =
                now != before && i % samples.stride == 0 && i / samples.stride < samples.count;
            return Expected{.value = 0, .tolerance = 0, .whole = other_sample ? now : before};
          },
          result);
      if (clean && result.mismatch) result.mismatch->chunk = chunk.number;
    };
    for (const Chunk& chunk : chunks) {
      for (const auto* list : {&chunk.inputs, &chunk.outputs}) {
        for (const int array : *list) {
          const auto i = static_cast<std::size_t>(array);
          const bool copied_back = !arrays[i].to_device && listed_at[i] < static_cast<int>(tasks);
          if (copied_back) {
            check(elements<Word>(host[i]), arrays[i].name, array, chunk, listed_at[i]);
          }
          const auto on_device = contents<Space>(device[i]);
          check({on_device.data(), on_device.size()}, arrays[i].name + " on the device", array,
                chunk, static_cast<int>(tasks));
        }
      }
    }
    return result;
  };
}

}  // namespace overlap::workload
