#include <algorithm>
#include <map>
#include <set>

#include "workload/check.hpp"
#include "workload/data.hpp"

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
  Word* first;  ///< an address: views of views would need a kernel that constructs them
  int count;
  int stride;

  template <class View>
  explicit SampledWords(const View& array)
      : first(array.data()),
        count(static_cast<int>(std::min<std::size_t>(array.size(), 1024))),
        stride(static_cast<int>(array.size() / static_cast<std::size_t>(count))) {}
  SampledWords() = default;
  KOKKOS_FUNCTION std::int64_t position(int i) const { return std::int64_t{i % count} * stride; }
  KOKKOS_FUNCTION Word& operator()(int i) const { return first[position(i)]; }
};

/// Updates of a word: with a word of each input of the chunk, then with the kernel.
KOKKOS_INLINE_FUNCTION Word with_input(Word x, Word input) { return step(x) + input; }
KOKKOS_INLINE_FUNCTION Word with_kernel(Word x, Word busy, int number) {
  return step(x + busy) + static_cast<Word>(number);
}

/// The kernel on one chunk. One thread of each team executes the steps while the others wait: the
/// teams occupy their share of the device, and concurrent kernels do not slow each other down. Each
/// team updates its part of the samples.
struct Busy {
  Kokkos::View<const SampledWords*, Space> arrays;  ///< of the chunk: inputs, then outputs
  int inputs;
  int number;
  std::int64_t steps;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Word busy = 0;
    Kokkos::single(Kokkos::PerTeam(team), [&](Word& x) { x = chain(steps); }, busy);
    const int rank = team.league_rank();
    const int teams = team.league_size();
    for (int output = inputs; output < static_cast<int>(arrays.extent(0)); ++output) {
      const SampledWords& out = arrays(output);
      const auto update = [&](const auto& with) {
        Kokkos::parallel_for(
            Kokkos::TeamThreadRange(team, out.count * rank / teams, out.count * (rank + 1) / teams),
            [&](int i) { out(i) = with(out(i), i); });
      };
      for (int k = 0; k < inputs; ++k) {
        const SampledWords& in = arrays(k);
        update([&](Word x, int i) { return with_input(x, in(i)); });
      }
      update([&](Word x, int) { return with_kernel(x, busy, number); });
    }
  }
};

/// Writes the initial words of an array.
struct Preset {
  Kokkos::View<Word*, Space> words;
  std::uint32_t repetition;
  int array;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { words(i) = word(i, repetition, array); }
};

void enqueue_busy(const Space& instance, const Busy& busy, double share) {
  constexpr unsigned size = is_host ? 1 : 512;
  // Limits registers so that teams can fill the device. Ignored where an SM has fewer than 2048
  // threads, which have more registers.
  using LaunchLimits = Kokkos::LaunchBounds<size, 2048 / size>;
  const auto teams = std::max<std::int64_t>(
      1, std::llround(share * static_cast<double>(instance.concurrency()) / size));
  Kokkos::parallel_for(
      "overlap::custom::busy",
      Kokkos::TeamPolicy<Space, LaunchLimits>(instance, static_cast<int>(teams), int{size}), busy);
}

/// The arrays of one chunk of the deck.
struct ChunkArrays {
  int chunk = 0;                      ///< number in the deck
  std::vector<Buffers<Word>> arrays;  ///< inputs first
  int inputs = 0;
  Kokkos::View<SampledWords*, Space> samples = {};  ///< of the arrays
};

/// Allocates the arrays of all chunks, which are sorted by number.
std::vector<ChunkArrays> allocate_chunks(const Setup& setup) {
  const std::vector<schedule::Array>& listed = setup.workload.arrays;
  std::set<int> numbers;
  for (const deck::CustomTask& task : setup.deck.tasks) {
    if (task.chunk > 0) numbers.insert(task.chunk);
  }
  std::vector<ChunkArrays> chunks;
  for (const int number : numbers) chunks.push_back({.chunk = number});
  for (const bool input : {true, false}) {
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (listed[i].to_device != input) continue;
      ChunkArrays& chunk = chunks[static_cast<std::size_t>(listed[i].op)];
      chunk.arrays.push_back(setup.array<Word>(i));
      if (input) ++chunk.inputs;
    }
  }
  for (ChunkArrays& chunk : chunks) {
    chunk.samples = Kokkos::View<SampledWords*, Space>(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "overlap::custom::samples"),
        chunk.arrays.size());
    const auto on_host = Kokkos::create_mirror_view(chunk.samples);
    for (std::size_t i = 0; i < on_host.size(); ++i)
      on_host(i) = SampledWords(chunk.arrays[i].device);
    Kokkos::deep_copy(chunk.samples, on_host);
  }
  return chunks;
}

/// Last words of the chains of the listed kernels; computes each length once, because it may be
/// slow.
std::vector<Word> chain_ends(const std::vector<deck::CustomTask>& tasks, std::int64_t steps_per_s) {
  std::map<std::int64_t, Word> end_by_steps;
  std::vector<Word> ends(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].stage != deck::Stage::kernel) continue;
    const std::int64_t count = steps(tasks[i].duration_s, steps_per_s);
    const auto [end, is_new] = end_by_steps.try_emplace(count, 0);
    if (is_new) end->second = chain(count);
    ends[i] = end->second;
  }
  return ends;
}

/// The reference of a custom workload.
struct ListReference {
  std::vector<schedule::Array> listed;
  std::vector<deck::CustomTask> tasks;
  std::vector<ChunkArrays> chunks;

  /// Compares an array of a chunk with the expected result of the listed kernels: at the point of
  /// the list where it is copied back, and on the device after all kernels.
  Verification verify(const ChunkArrays& chunk, const Buffers<Word>& array,
                      std::uint32_t repetition, const std::vector<Word>& ends) const {
    const int number = array.host.number;
    const SampledWords samples(array.device);
    const auto initial = [&](int array_number, std::int64_t position) {
      return word(position, repetition, array_number);
    };
    std::vector<Word> updated;  // expected samples
    for (int i = 0; i < samples.count; ++i) updated.push_back(initial(number, samples.position(i)));
    const auto check = [&](const HostData<Word>& found) {
      return compare(found, [&](std::int64_t i) {
        const std::int64_t sample = i / samples.stride;
        const bool is_updated = i % samples.stride == 0 && sample < samples.count;
        return Expected<Word>{is_updated ? updated[static_cast<std::size_t>(sample)]
                                         : initial(number, i)};
      });
    };
    Verification result;
    int copies = 0;  // arrays listed so far
    const bool output = !listed[static_cast<std::size_t>(number)].to_device;
    for (std::size_t task = 0; task < tasks.size() && output; ++task) {
      if (schedule::is_copy(tasks[task].stage) && copies++ == number)
        add(result, check(array.host));
      if (tasks[task].stage != deck::Stage::kernel || tasks[task].chunk != chunk.chunk) continue;
      for (int i = 0; i < samples.count; ++i) {
        Word& x = updated[static_cast<std::size_t>(i)];
        for (int k = 0; k < chunk.inputs; ++k) {
          const auto& input = chunk.arrays[static_cast<std::size_t>(k)];
          x = with_input(x, initial(input.host.number, SampledWords(input.device).position(i)));
        }
        x = with_kernel(x, ends[task], static_cast<int>(task));
      }
    }
    const auto on_device = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array.device);
    add(result, check({.memory = on_device,
                       .region = {.line_bytes = on_device.size() * sizeof(Word)},
                       .name = array.host.name + " on the device"}));
    if (result.mismatch) result.mismatch->chunk = chunk.chunk;
    return result;
  }

  Verification verify(std::uint32_t repetition, std::int64_t steps_per_s) const {
    const std::vector<Word> ends = chain_ends(tasks, steps_per_s);
    Verification result;
    for (const auto& chunk : chunks) {
      for (const auto& array : chunk.arrays) add(result, verify(chunk, array, repetition, ends));
    }
    return result;
  }
};

}  // namespace

template <>
void set_up<deck::WorkloadKind::custom>(const Setup& setup) {
  Workload& w = setup.workload;
  const ListReference reference{w.arrays, setup.deck.tasks, allocate_chunks(setup)};
  w.launch = [chunks = reference.chunks](const Space& instance, const Call& call) {
    Busy busy{{}, 0, call.number, call.repeats};
    if (call.op >= 0) {
      const auto& chunk = chunks[static_cast<std::size_t>(call.op)];
      busy.arrays = chunk.samples;
      busy.inputs = chunk.inputs;
    }
    enqueue_busy(instance, busy, call.share);
  };
  std::vector<HostData<Word>> inputs;
  std::vector<Buffers<Word>> outputs;
  for (const auto& chunk : reference.chunks) {
    for (const auto& array : chunk.arrays) {
      const bool input = w.arrays[static_cast<std::size_t>(array.host.number)].to_device;
      input ? inputs.push_back(array.host) : outputs.push_back(array);
    }
  }
  fill_inputs_with<Word>(w, inputs, [](auto... place) { return word(place...); });
  w.place = [outputs](const Space& instance, std::uint32_t repetition) {
    for (const auto& output : outputs) {
      for_parts(std::ssize(output.device), [&](std::int64_t begin, std::int64_t end) {
        Kokkos::parallel_for("overlap::custom::preset", RangePolicy(instance, begin, end),
                             Preset{output.device, repetition, output.host.number});
      });
    }
  };
  w.verify = [reference](std::uint32_t repetition, std::int64_t steps_per_s) {
    return reference.verify(repetition, steps_per_s);
  };
}

}  // namespace overlap::workload
