#include <algorithm>
#include <bit>

#include "workload/check.hpp"
#include "workload/data.hpp"
#include "workload/kernel.hpp"

namespace overlap::workload {
namespace {

/// Sums of lines that lie one after the other: rows of a row-major array, or columns of a
/// column-major one (seed 003). Integers are summed modulo 2^32 or 2^64, where overflow is defined.
template <class T, class Sum>
struct LineSums {
  using Accumulator = typename std::conditional_t<std::is_integral_v<Sum>, std::make_unsigned<Sum>,
                                                  std::type_identity<Sum>>::type;
  const T* lines;
  Sum* sums;
  std::int64_t length;
  std::int64_t count;  ///< of lines

  KOKKOS_FUNCTION static Accumulator widen(T x) {
    return static_cast<Accumulator>(static_cast<Sum>(x));
  }
};

/// The seed's kernel: each thread sums a line.
template <class T, class Sum>
struct ThreadPerLine : LineSums<T, Sum> {
  KOKKOS_FUNCTION void operator()(std::int64_t line) const {
    const T* const x = this->lines + line * this->length;
    typename LineSums<T, Sum>::Accumulator sum = 0;
    for (std::int64_t i = 0; i < this->length; ++i) sum += this->widen(x[i]);
    this->sums[line] = static_cast<Sum>(sum);
  }
};

/// Long lines, which several threads sum in packs: 16-byte loads where every line is aligned to
/// that.
template <class T, class Sum, int pack_size>
struct PackedSums : LineSums<T, Sum> {
  using Accumulator = typename LineSums<T, Sum>::Accumulator;
  struct alignas(sizeof(T) * std::size_t{pack_size}) Pack {
    T element[std::size_t{pack_size}];
  };

  KOKKOS_FUNCTION std::int64_t packs() const { return this->length / pack_size; }

  /// The line's sum by the threads of a range of packs.
  template <class Range>
  KOKKOS_FUNCTION Accumulator sum(std::int64_t line, const Range& range) const {
    const auto* const x = reinterpret_cast<const Pack*>(this->lines + line * this->length);
    Accumulator sum = 0;
    Kokkos::parallel_reduce(
        range,
        [&](std::int64_t i, Accumulator& partial) {
          const Pack pack = x[i];
          for (int k = 0; k < pack_size; ++k) partial += this->widen(pack.element[k]);
        },
        sum);
    return sum;
  }
};

/// The vector lanes of a thread sum a line together, the threads of a team neighbouring lines.
template <class T, class Sum, int pack_size>
struct VectorPerLine : PackedSums<T, Sum, pack_size> {
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t line =
        std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
    if (line >= this->count) return;
    const auto sum = this->sum(line, Kokkos::ThreadVectorRange(team, this->packs()));
    Kokkos::single(Kokkos::PerThread(team), [&] { this->sums[line] = static_cast<Sum>(sum); });
  }
};

/// Few, very long lines: a whole team sums one.
template <class T, class Sum, int pack_size>
struct TeamPerLine : PackedSums<T, Sum, pack_size> {
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t line = team.league_rank();
    const auto sum = this->sum(line, Kokkos::TeamVectorRange(team, this->packs()));
    Kokkos::single(Kokkos::PerTeam(team), [&] { this->sums[line] = static_cast<Sum>(sum); });
  }
};

template <int pack_size, class Space, class T, class Sum>
void launch_team_sums(const Space& instance, const LineSums<T, Sum>& sums) {
  using Policy = Kokkos::TeamPolicy<Space>;
  constexpr int block = 256;
  constexpr std::int64_t long_line = 1 << 15;  // packs; from here on a team shares a line
  const PackedSums<T, Sum, pack_size> packed{sums};
  const auto league = [](std::int64_t lines) { return static_cast<int>(lines); };
  if constexpr (is_host<Space>) {
    enqueue("overlap::rowsum::vector_per_row", Policy(instance, league(sums.count), 1, 1),
            VectorPerLine<T, Sum, pack_size>{packed});
  } else if (packed.packs() >= long_line) {
    enqueue("overlap::rowsum::team_per_row", Policy(instance, league(sums.count), block / 32, 32),
            TeamPerLine<T, Sum, pack_size>{packed});
  } else {
    // Each lane adds up about four packs: enough loads in flight, little to combine at the end.
    const auto packs = static_cast<std::uint64_t>(packed.packs());
    const int vector = static_cast<int>(std::clamp<std::uint64_t>(std::bit_ceil(packs) / 4, 1, 32));
    const int team = block / vector;
    enqueue("overlap::rowsum::vector_per_row",
            Policy(instance, league((sums.count + team - 1) / team), team, vector),
            VectorPerLine<T, Sum, pack_size>{packed});
  }
}

/// Enqueues the sums of a task's lines.
template <class T, class Sum>
void launch_sums(const InstanceRef& instance, const LineSums<T, Sum>& task, bool teams) {
  if (!teams) {
    enqueue("overlap::rowsum::thread_per_row", instance, task.count, ThreadPerLine<T, Sum>{task});
    return;
  }
  constexpr int pack = 16 / sizeof(T);
  constexpr std::int64_t most_lines = 1 << 30;  // a league's size is an int
  for (std::int64_t begin = 0; begin < task.count; begin += most_lines) {
    const LineSums<T, Sum> part{task.lines + begin * task.length, task.sums + begin, task.length,
                                std::min(most_lines, task.count - begin)};
    instance.with([&](const auto& space) {
      if (part.length % pack == 0) {
        launch_team_sums<pack>(space, part);
      } else {
        launch_team_sums<1>(space, part);
      }
    });
  }
}

template <class T, class Sum>
void set_up(Workload& w, std::int64_t length, bool teams) {
  w.launch = [lines = operand<T>(w, 0, length), sums = operand<Sum>(w, 1), length, teams](
                 const InstanceRef& instance, const Call& call) {
    launch_sums<T, Sum>(instance, {lines.at(call), sums.at(call), length, call.size}, teams);
  };
  w.generate = [host = w.host[0]](std::uint32_t repetition) {
    fill<T>(host, [=](std::int64_t i) { return value<T>(i, repetition, 0); });
  };
  w.verify = [host = w.host[1], length](std::uint32_t repetition, std::int64_t /*repeats*/) {
    Verification result;
    compare<Sum>(
        host, "sums",
        [=](std::int64_t line) {
          // The inputs are whole numbers times a power of two: their sums are exact.
          std::int64_t sum = 0;
          std::int64_t magnitude = 0;
          for (std::int64_t i = line * length; i < (line + 1) * length; ++i) {
            const std::int64_t x = whole_value<T>(i, repetition, 0);
            sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                            static_cast<std::uint64_t>(x));
            magnitude += x < 0 ? -x : x;
          }
          if constexpr (std::is_integral_v<Sum>) {
            return Expected{.value = 0, .tolerance = 0, .whole = sum};
          } else {
            // Any order of n - 1 additions errs by at most (n - 1) u sum |x| to first order, u half
            // an epsilon (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2); an
            // n-th covers the higher orders.
            return Expected{static_cast<double>(sum) * data_scale<T>,
                            static_cast<double>(length) * std::numeric_limits<Sum>::epsilon() / 2 *
                                static_cast<double>(magnitude) * data_scale<T>};
          }
        },
        result, std::max<std::int64_t>(1, (1 << 14) / length));
    return result;
  };
}

}  // namespace

template <>
void set_up<deck::WorkloadKind::rowsum>(Workload& w, const deck::Workload& deck) {
  const std::int64_t length = deck.axis == deck::SumAxis::rows ? deck.columns : deck.rows;
  // Measured on an H200: below this length one thread per line is the faster kernel (4.4 TB/s at 6
  // int32).
  constexpr std::int64_t shortest_for_teams = 16;
  const bool teams = deck.kernel == deck::RowsumKernel::team_per_row ||
                     (deck.kernel == deck::RowsumKernel::automatic && !on_host(w.space) &&
                      length >= shortest_for_teams);
  w.kernel = teams ? "team_per_row" : "thread_per_row";
  switch (deck.type) {
    case deck::Type::int32:
      if (deck.sum_type == deck::SumType::int64) {
        return set_up<std::int32_t, std::int64_t>(w, length, teams);
      }
      return set_up<std::int32_t, std::int32_t>(w, length, teams);
    case deck::Type::int64:
      return set_up<std::int64_t, std::int64_t>(w, length, teams);
    case deck::Type::float32:
      return set_up<float, float>(w, length, teams);
    case deck::Type::float64:
      return set_up<double, double>(w, length, teams);
  }
}

}  // namespace overlap::workload
