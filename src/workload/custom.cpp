#include <algorithm>
#include <map>

#include "workload/check.hpp"
#include "workload/kernel.hpp"
#include "workload/steps.hpp"

/// Copies and busy kernels as a deck lists them. Copies to the device move words that depend on
/// position, repetition and array; what is copied back lies on the device before the run, and the
/// kernels of its chunk update words spread over it. An update takes in the kernel's number, words
/// of all inputs of the chunk, and the end of the steps that kept the kernel busy: a kernel that is
/// missing, repeated, too early or out of turn shows, and no compiler can leave the steps out.
namespace overlap::workload {
namespace custom {
namespace {

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
/// part of the device, and concurrent kernels do not slow each other down.
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

/// Writes the words that an array holds before the run.
struct Preset {
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

/// The arrays and kernels of one of the deck's chunks.
struct Group {
  int number = 0;  ///< as the deck counts
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::vector<Listed> kernels;
};

/// The groups by the numbers of the deck's chunks. Arrays have the order of the list's copies;
/// those of chunks without copies back follow. `listed_at`: each array's place in the list.
std::vector<Group> groups_of(const std::vector<schedule::Array>& arrays,
                             const std::vector<deck::CustomTask>& tasks,
                             std::vector<int>& listed_at) {
  std::map<int, Group> by_number;
  listed_at.assign(arrays.size(), static_cast<int>(tasks.size()));
  std::size_t array = 0;
  for (int i = 0; i < static_cast<int>(tasks.size()); ++i) {
    const deck::CustomTask& task = tasks[static_cast<std::size_t>(i)];
    if (task.chunk > 0) by_number[task.chunk].number = task.chunk;
    if (schedule::is_copy(task.stage)) listed_at[array++] = i;
    if (task.stage == deck::Stage::kernel) {
      by_number[task.chunk].kernels.push_back({i, task.duration_s});
    }
  }
  std::vector<Group> groups;
  for (auto& [number, group] : by_number) groups.push_back(std::move(group));
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    Group& group = groups[static_cast<std::size_t>(arrays[i].op)];
    (arrays[i].to_device ? group.inputs : group.outputs).push_back(static_cast<int>(i));
  }
  return groups;
}

Word* words(const Bytes& array) { return reinterpret_cast<Word*>(array.data()); }
std::int64_t word_count(const Bytes& array) {
  return static_cast<std::int64_t>(array.size() / sizeof(Word));
}

/// Memory of a space as bytes.
template <class Memory>
auto view(void* data, std::size_t bytes) {
  return Kokkos::View<Byte*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      static_cast<Byte*>(data), bytes);
}

/// The parts of all groups in the space's memory, and the first of each group in it.
struct Table {
  Bytes parts;
  std::vector<std::size_t> first;
};

Table table_of(const Workload& w, const std::vector<Group>& groups) {
  Table table;
  std::vector<Part> parts;
  for (const Group& group : groups) {
    table.first.push_back(parts.size());
    for (const auto* arrays : {&group.inputs, &group.outputs}) {
      for (const int i : *arrays) {
        const Bytes& array = w.device[static_cast<std::size_t>(i)];
        parts.push_back({words(array), word_count(array)});
      }
    }
  }
  const std::size_t bytes = parts.size() * sizeof(Part);
  with_space(w.space, [&](auto space) {
    using Memory = typename decltype(space)::type::memory_space;
    table.parts = Bytes::in<Memory>("overlap::custom::parts", bytes);
    Kokkos::deep_copy(view<Memory>(table.parts.data(), bytes),
                      view<Kokkos::HostSpace>(parts.data(), bytes));
  });
  return table;
}

/// A device array's contents on the host, outside the timed region.
std::vector<Word> contents(SpaceId space, const Bytes& array) {
  std::vector<Word> copy(static_cast<std::size_t>(word_count(array)));
  with_space(space, [&](auto type) {
    using Memory = typename decltype(type)::type::memory_space;
    Kokkos::deep_copy(view<Kokkos::HostSpace>(copy.data(), array.size()),
                      view<Memory>(array.data(), array.size()));
  });
  return copy;
}

/// Compares arrays after a run with what the listed kernels should have left in them.
class Reference {
 public:
  Reference(const std::vector<schedule::Array>& arrays, std::uint32_t repetition,
            std::int64_t steps_per_s)
      : arrays_(arrays), repetition_(repetition), steps_per_s_(steps_per_s) {}

  /// An array of a group after the kernels that the list has before `listed_before`.
  void check(std::span<const Word> found, const std::string& name, int array, const Group& group,
             int listed_before) {
    const Samples samples(static_cast<std::int64_t>(found.size()));
    const bool clean = !result.mismatch;
    std::vector<Word> gathered;
    std::vector<Word> updated;
    for (std::int64_t i = 0; i < samples.count; ++i) {
      gathered.push_back(found[static_cast<std::size_t>(samples.position(i))]);
      updated.push_back(sample_after(samples, i, array, group, listed_before));
    }
    const auto expected = [](Word word) {
      return Expected{.value = 0, .tolerance = 0, .whole = word};
    };
    compare<Word>(
        std::span<const Word>(gathered), name,
        [&](std::int64_t i) { return expected(updated[static_cast<std::size_t>(i)]); }, result);
    if (clean && result.mismatch) result.mismatch->index *= samples.stride;
    // The others hold what they held before the run.
    compare<Word>(
        found, name,
        [&](std::int64_t i) {
          const Word before = initial(i, repetition_, array);
          const Word now = found[static_cast<std::size_t>(i)];
          const bool sample = i % samples.stride == 0 && i / samples.stride < samples.count;
          return expected(sample ? now : before);
        },
        result);
    if (clean && result.mismatch) result.mismatch->chunk = group.number;
  }

  Verification result;

 private:
  Word sample_after(const Samples& samples, std::int64_t i, int array, const Group& group,
                    int listed_before) {
    Word x = initial(samples.position(i), repetition_, array);
    if (arrays_[static_cast<std::size_t>(array)].to_device) return x;
    for (const Listed& kernel : group.kernels) {
      if (kernel.number >= listed_before) break;
      for (const int input : group.inputs) {
        const auto bytes = arrays_[static_cast<std::size_t>(input)].unit_bytes;
        const Samples of(static_cast<std::int64_t>(bytes / sizeof(Word)));
        x = with_input(x, initial(of.position(i), repetition_, input));
      }
      x = with_kernel(x, end_of(steps(kernel.duration_s, steps_per_s_)), kernel.number);
    }
    return x;
  }

  Word end_of(std::int64_t steps) {
    const auto [end, is_new] = ends_.try_emplace(steps, 0);
    if (is_new) end->second = chain(steps);
    return end->second;
  }

  const std::vector<schedule::Array>& arrays_;
  std::uint32_t repetition_;
  std::int64_t steps_per_s_;
  std::map<std::int64_t, Word> ends_;  ///< of the chains, by their steps
};

}  // namespace
}  // namespace custom

template <>
void set_up<deck::WorkloadKind::custom>(Workload& w, const deck::Workload& deck) {
  using namespace custom;
  std::vector<int> listed_at;
  const std::vector<Group> groups = groups_of(w.arrays, deck.tasks, listed_at);

  w.launch = [table = table_of(w, groups), groups](const InstanceRef& instance, const Call& call) {
    Busy busy{nullptr, 0, 0, call.number, call.repeats};
    if (call.op >= 0) {
      const auto op = static_cast<std::size_t>(call.op);
      busy.parts = reinterpret_cast<const Part*>(table.parts.data()) + table.first[op];
      busy.inputs = static_cast<int>(groups[op].inputs.size());
      busy.outputs = static_cast<int>(groups[op].outputs.size());
    }
    instance.with([&](const auto& space) { custom::launch(space, busy, call.share); });
  };
  w.generate = [host = w.host, arrays = w.arrays](std::uint32_t repetition) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (!arrays[i].to_device) continue;
      fill<Word>(host[i],
                 [=](std::int64_t at) { return initial(at, repetition, static_cast<int>(i)); });
    }
  };
  w.place = [device = w.device, arrays = w.arrays](const InstanceRef& instance,
                                                   std::uint32_t repetition) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (arrays[i].to_device) continue;
      enqueue("overlap::custom::preset", instance, word_count(device[i]),
              Preset{words(device[i]), repetition, static_cast<int>(i)});
    }
  };
  w.verify = [space = w.space, host = w.host, device = w.device, arrays = w.arrays, groups,
              listed_at, end = static_cast<int>(deck.tasks.size())](std::uint32_t repetition,
                                                                    std::int64_t steps_per_s) {
    Reference reference(arrays, repetition, steps_per_s);
    for (const Group& group : groups) {
      for (const auto* list : {&group.inputs, &group.outputs}) {
        for (const int array : *list) {
          const auto i = static_cast<std::size_t>(array);
          const bool copied_back = !arrays[i].to_device && listed_at[i] < end;
          if (copied_back) {
            reference.check(elements<Word>(host[i]), arrays[i].name, array, group, listed_at[i]);
          }
          reference.check(contents(space, device[i]), arrays[i].name + " on the device", array,
                          group, end);
        }
      }
    }
    return reference.result;
  };
}

}  // namespace overlap::workload
