#include <algorithm>
#include <map>
#include <set>

#include "workload/check.hpp"
#include "workload/data.hpp"

/// Copies and busy kernels as listed in a deck. Copies to the device move words that depend on
/// position, repetition and array. Data to be copied back are on the device before the run. The
/// first word of each such array is a state: each kernel of the chunk updates it with its number,
/// the first words of the chunk's inputs, and the last of the steps that kept the kernel busy. This
/// reveals a kernel that is missing, repeated, too early or out of order, and prevents the compiler
/// from removing the steps.
namespace overlap::workload {
namespace {

/// The first word of an array: an address, because views of views would need a kernel that
/// constructs them.
struct First {
  Word* word;
};

/// Updates of a state: with the first word of an input, then with the kernel.
KOKKOS_INLINE_FUNCTION Word with_input(Word x, Word input) { return step(x) + input; }
KOKKOS_INLINE_FUNCTION Word with_kernel(Word x, Word busy, int number) {
  return step(x + busy) + static_cast<Word>(number);
}

/// The kernel on one chunk. One thread of each team executes the steps while the others wait: the
/// teams occupy their share of the device, and concurrent kernels do not slow each other down. The
/// first team updates the states.
struct Busy {
  Kokkos::View<const First*, Space> arrays;  ///< of the chunk: inputs, then outputs
  int inputs;
  int number;
  std::int64_t steps;
  Kokkos::View<Word, Space> last;  ///< receives the last step of any team, so that all are needed

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Word busy = 0;
    Kokkos::single(Kokkos::PerTeam(team), [&](Word& x) { x = chain(steps); }, busy);
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      Kokkos::atomic_store(last.data(), busy);
      const int outputs_end = team.league_rank() == 0 ? static_cast<int>(arrays.extent(0)) : 0;
      for (int output = inputs; output < outputs_end; ++output) {
        Word& state = *arrays(output).word;
        for (int k = 0; k < inputs; ++k) state = with_input(state, *arrays(k).word);
        state = with_kernel(state, busy, number);
      }
    });
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
  Kokkos::View<First*, Space> first = {};  ///< of the arrays
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
    chunk.first = Kokkos::View<First*, Space>("overlap::custom::first", chunk.arrays.size());
    const auto on_host = Kokkos::create_mirror_view(chunk.first);
    for (std::size_t i = 0; i < on_host.size(); ++i) on_host(i) = {chunk.arrays[i].device.data()};
    Kokkos::deep_copy(chunk.first, on_host);
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
    const auto initial = [&](int array_number, std::int64_t position) {
      return word(position, repetition, array_number);
    };
    Word state = initial(number, 0);  // expected
    const auto check = [&](const HostData<Word>& found) {
      return compare(found, [&](std::int64_t i) {
        return Expected<Word>{i == 0 ? state : initial(number, i)};
      });
    };
    Verification result;
    int copies = 0;  // arrays listed so far
    const bool output = !listed[static_cast<std::size_t>(number)].to_device;
    for (std::size_t task = 0; task < tasks.size() && output; ++task) {
      if (schedule::is_copy(tasks[task].stage) && copies++ == number)
        add(result, check(array.host));
      if (tasks[task].stage != deck::Stage::kernel || tasks[task].chunk != chunk.chunk) continue;
      for (int k = 0; k < chunk.inputs; ++k) {
        const auto& input = chunk.arrays[static_cast<std::size_t>(k)];
        state = with_input(state, initial(input.host.number, 0));
      }
      state = with_kernel(state, ends[task], static_cast<int>(task));
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
  const Kokkos::View<Word, Space> last("overlap::custom::last");
  w.launch = [chunks = reference.chunks, last](const Space& instance, const Call& call) {
    Busy busy{{}, 0, call.number, call.repeats, last};
    if (call.op >= 0) {
      const auto& chunk = chunks[static_cast<std::size_t>(call.op)];
      busy.arrays = chunk.first;
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
