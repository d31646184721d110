#include <algorithm>
#include <map>
#include <set>

#include "workload/arithmetic.hpp"
#include "workload/check.hpp"
#include "workload/kernel.hpp"

/// Copies and busy kernels as listed in a deck. Copies to the device move words that depend on
/// position, repetition and array. Data to be copied back are on the device before the run; the
/// kernels of the chunk update words distributed over them. An update combines the number of the
/// kernel, words of all inputs of the chunk, and the last of the steps that kept the kernel busy.
/// This reveals a kernel that is missing, repeated, too early or out of order, and prevents the
/// compiler from removing the steps.
namespace overlap::workload {
namespace {

/// The words of an array that kernels access: few enough for the shortest kernel.
struct SampledWords {
  int count;
  int stride;

  explicit SampledWords(std::int64_t words)
      : count(static_cast<int>(std::min<std::int64_t>(words, 1024))),
        stride(static_cast<int>(words / count)) {}
  KOKKOS_FUNCTION std::int64_t position(int i) const { return std::int64_t{i % count} * stride; }
};

/// An array of a chunk on the device.
struct DeviceArray {
  Word* data;
  std::int64_t words;
  SampledWords samples = SampledWords(words);
};

DeviceArray part_of(const Bytes& array) {
  return {reinterpret_cast<Word*>(array.data()),
          static_cast<std::int64_t>(array.size() / sizeof(Word))};
}

/// Updates of a word: with a word of each input of the chunk, then with the kernel.
KOKKOS_INLINE_FUNCTION Word with_input(Word x, Word input) { return step(x) + input; }
KOKKOS_INLINE_FUNCTION Word with_kernel(Word x, Word busy, int number) {
  return step(x + busy) + static_cast<Word>(number);
}

/// The kernel on one chunk. One thread of each team executes the steps while the others wait: the
/// teams occupy their share of the device, and concurrent kernels do not slow each other down. Each
/// team updates its part of the samples.
struct Busy {
  const DeviceArray* parts;  ///< of the chunk: inputs, then outputs
  int inputs;
  int outputs;
  int number;
  std::int64_t steps;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Word busy = 0;
    Kokkos::single(Kokkos::PerTeam(team), [&](Word& x) { x = chain(steps); }, busy);
    const int rank = team.league_rank();
    const int teams = team.league_size();
    for (int output = 0; output < outputs; ++output) {
      const DeviceArray& out = parts[inputs + output];
      const auto update = [&](const auto& with) {
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, out.samples.count * rank / teams,
                                                     out.samples.count * (rank + 1) / teams),
                             [&](int i) {
                               Word& x = out.data[out.samples.position(i)];
                               x = with(x, i);
                             });
      };
      for (int k = 0; k < inputs; ++k) {
        const DeviceArray& in = parts[k];
        update([&](Word x, int i) { return with_input(x, in.data[in.samples.position(i)]); });
      }
      update([&](Word x, int) { return with_kernel(x, busy, number); });
    }
  }
};

/// Writes the initial words of an array.
struct Preset {
  Word* data;
  std::uint32_t repetition;
  int array;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { data[i] = word(i, repetition, array); }
};

template <class Space>
void enqueue_busy(const Space& instance, const Busy& busy, double share) {
  constexpr unsigned size = is_host<Space> ? 1 : 512;
  // Limits registers so that teams can fill the device. Ignored where an SM has fewer than 2048
  // threads, which have more registers.
  using LaunchLimits = Kokkos::LaunchBounds<size, 2048 / size>;
  const auto teams = std::max<std::int64_t>(
      1, std::llround(share * static_cast<double>(instance.concurrency()) / size));
  enqueue("overlap::custom::busy",
          Kokkos::TeamPolicy<Space, LaunchLimits>(instance, static_cast<int>(teams), int{size}),
          busy);
}

/// Memory of a space as a view of bytes.
template <class Memory>
auto view(void* data, std::size_t bytes) {
  return Kokkos::View<Byte*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      static_cast<Byte*>(data), bytes);
}

/// The arrays of one chunk of the deck.
struct ChunkArrays {
  int chunk = 0;                    ///< number in the deck
  std::vector<std::size_t> arrays;  ///< inputs first
  int inputs = 0;
  Bytes parts = {};  ///< device copy of the DeviceArrays of the arrays
};

/// The groups, sorted by chunk number.
std::vector<ChunkArrays> groups_of(const Workload& w, const std::vector<deck::CustomTask>& tasks) {
  std::set<int> chunks;
  for (const deck::CustomTask& task : tasks) {
    if (task.chunk > 0) chunks.insert(task.chunk);
  }
  std::vector<ChunkArrays> groups;
  for (const int chunk : chunks) groups.push_back({.chunk = chunk});
  for (const bool input : {true, false}) {
    for (std::size_t i = 0; i < w.arrays.size(); ++i) {
      if (w.arrays[i].to_device != input) continue;
      ChunkArrays& group = groups[static_cast<std::size_t>(w.arrays[i].op)];
      group.arrays.push_back(i);
      if (input) ++group.inputs;
    }
  }
  for (ChunkArrays& group : groups) {
    std::vector<DeviceArray> parts;
    for (const std::size_t i : group.arrays) parts.push_back(part_of(w.device[i]));
    const std::size_t bytes = parts.size() * sizeof(DeviceArray);
    const auto copy_in = [&]<class Space>(std::type_identity<Space>) {
      using Memory = typename Space::memory_space;
      group.parts = Bytes::in<Memory>("overlap::custom::parts", bytes);
      Kokkos::deep_copy(view<Memory>(group.parts.data(), bytes),
                        view<Kokkos::HostSpace>(parts.data(), bytes));
    };
    std::visit(copy_in, w.space);
  }
  return groups;
}

/// Copies a device array to the host, outside the timed region.
HostArray contents(SpaceId space, const Bytes& array) {
  HostArray copy{Bytes::in<Kokkos::HostSpace>("overlap::custom::contents", array.size())};
  copy.region.line_bytes = array.size();
  const auto copy_from = [&]<class Space>(std::type_identity<Space>) {
    using Memory = typename Space::memory_space;
    Kokkos::deep_copy(view<Kokkos::HostSpace>(copy.data(), array.size()),
                      view<Memory>(array.data(), array.size()));
  };
  std::visit(copy_from, space);
  return copy;
}

/// Last words of the chains of the listed kernels; computes each length once, because it may be
/// slow.
std::vector<Word> ends_of(const std::vector<deck::CustomTask>& tasks, std::int64_t steps_per_s) {
  std::map<std::int64_t, Word> known;  // by steps
  std::vector<Word> ends(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].stage != deck::Stage::kernel) continue;
    const std::int64_t count = steps(tasks[i].duration_s, steps_per_s);
    const auto [end, is_new] = known.try_emplace(count, 0);
    if (is_new) end->second = chain(count);
    ends[i] = end->second;
  }
  return ends;
}

/// The reference of a custom workload.
struct ListReference {
  Workload w;
  std::vector<deck::CustomTask> tasks;
  std::vector<ChunkArrays> groups;

  /// Compares an array of a group with the expected result of the listed kernels: at the point of
  /// the list where it is copied back, and on the device after all kernels.
  Verification verify(const ChunkArrays& group, std::size_t array, std::uint32_t repetition,
                      const std::vector<Word>& ends) const {
    const schedule::Array& listed = w.arrays[array];
    const SampledWords samples = part_of(w.device[array]).samples;
    const auto before = [&](std::size_t of, std::int64_t position) {
      return word(position, repetition, static_cast<int>(of));
    };
    std::vector<Word> updated;  // expected samples
    for (int i = 0; i < samples.count; ++i) {
      updated.push_back(before(array, samples.position(i)));
    }
    const auto check = [&](const HostArray& found, const std::string& name) {
      return compare<Word>(found, name, [&](std::int64_t i) {
        const std::int64_t sample = i / samples.stride;
        const bool is_updated = i % samples.stride == 0 && sample < samples.count;
        return Expected<Word>{is_updated ? updated[static_cast<std::size_t>(sample)]
                                         : before(array, i)};
      });
    };
    Verification result;
    std::size_t copies = 0;  // arrays listed so far
    for (std::size_t task = 0; task < tasks.size() && !listed.to_device; ++task) {
      if (schedule::is_copy(tasks[task].stage) && copies++ == array) {
        add(result, check(w.host[array], listed.name));
      }
      if (tasks[task].stage != deck::Stage::kernel || tasks[task].chunk != group.chunk) continue;
      for (int i = 0; i < samples.count; ++i) {
        Word& x = updated[static_cast<std::size_t>(i)];
        for (int k = 0; k < group.inputs; ++k) {
          const std::size_t input = group.arrays[static_cast<std::size_t>(k)];
          const SampledWords of = part_of(w.device[input]).samples;
          x = with_input(x, before(input, of.position(i)));
        }
        x = with_kernel(x, ends[task], static_cast<int>(task));
      }
    }
    add(result, check(contents(w.space, w.device[array]), listed.name + " on the device"));
    if (result.mismatch) result.mismatch->chunk = group.chunk;
    return result;
  }

  Verification verify(std::uint32_t repetition, std::int64_t steps_per_s) const {
    const std::vector<Word> ends = ends_of(tasks, steps_per_s);
    Verification result;
    for (const ChunkArrays& group : groups) {
      for (const std::size_t array : group.arrays) {
        add(result, verify(group, array, repetition, ends));
      }
    }
    return result;
  }
};

}  // namespace

template <>
void set_up<deck::WorkloadKind::custom>(Workload& w, const deck::Workload& deck) {
  const ListReference reference{w, deck.tasks, groups_of(w, deck.tasks)};
  w.launch = [groups = reference.groups](const InstanceRef& instance, const Call& call) {
    Busy busy{nullptr, 0, 0, call.number, call.repeats};
    if (call.op >= 0) {
      const ChunkArrays& group = groups[static_cast<std::size_t>(call.op)];
      busy.parts = reinterpret_cast<const DeviceArray*>(group.parts.data());
      busy.inputs = group.inputs;
      busy.outputs = static_cast<int>(group.arrays.size()) - group.inputs;
    }
    instance.with([&](const auto& space) { enqueue_busy(space, busy, call.share); });
  };
  fill_inputs_with<Word>(w, [](auto... place) { return word(place...); });
  w.place = [device = w.device, arrays = w.arrays](const InstanceRef& instance,
                                                   std::uint32_t repetition) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (arrays[i].to_device) continue;
      const DeviceArray part = part_of(device[i]);
      enqueue("overlap::custom::preset", instance, part.words,
              Preset{part.data, repetition, static_cast<int>(i)});
    }
  };
  w.verify = [reference](std::uint32_t repetition, std::int64_t steps_per_s) {
    return reference.verify(repetition, steps_per_s);
  };
}

}  // namespace overlap::workload
