#include <algorithm>
#include <bit>

#include "workload/data.hpp"
#include "workload/make.hpp"

namespace overlap::workload {

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

/// Long lines: the vector lanes of a thread sum a line together, in 16-byte loads where every line
/// is aligned to that; the threads of a team sum neighbouring lines.
template <class T, class Sum, int pack_size>
struct VectorPerLine : LineSums<T, Sum> {
  using Accumulator = typename LineSums<T, Sum>::Accumulator;
  struct alignas(sizeof(T) * pack_size) Pack {
    T element[pack_size];
  };

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t line =
        std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
    if (line >= this->count) return;
    const auto* const x = reinterpret_cast<const Pack*>(this->lines + line * this->length);
    Accumulator sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, this->length / pack_size),
        [&](std::int64_t i, Accumulator& partial) {
          const Pack pack = x[i];
          for (int k = 0; k < pack_size; ++k) partial += this->widen(pack.element[k]);
        },
        sum);
    Kokkos::single(Kokkos::PerThread(team), [&] { this->sums[line] = static_cast<Sum>(sum); });
  }
};

/// Few, very long lines: a whole team sums one.
template <class T, class Sum, int pack_size>
struct TeamPerLine : LineSums<T, Sum> {
  using Accumulator = typename LineSums<T, Sum>::Accumulator;
  using Pack = typename VectorPerLine<T, Sum, pack_size>::Pack;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t line = team.league_rank();
    const auto* const x = reinterpret_cast<const Pack*>(this->lines + line * this->length);
    Accumulator sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, this->length / pack_size),
        [&](std::int64_t i, Accumulator& partial) {
          const Pack pack = x[i];
          for (int k = 0; k < pack_size; ++k) partial += this->widen(pack.element[k]);
        },
        sum);
    Kokkos::single(Kokkos::PerTeam(team), [&] { this->sums[line] = static_cast<Sum>(sum); });
  }
};

template <class Space, class T, class Sum, int pack_size>
void launch_team_sums(const Space& instance, const LineSums<T, Sum>& sums) {
  using Policy = Kokkos::TeamPolicy<Space>;
  constexpr int block = 256;
  constexpr std::int64_t long_line = 1 << 15;  // packs; from here on a team shares a line
  const std::int64_t packs = sums.length / pack_size;
  if constexpr (is_host<Space>) {
    enqueue("overlap::rowsum::vector_per_row", Policy(instance, static_cast<int>(sums.count), 1, 1),
            VectorPerLine<T, Sum, pack_size>{sums});
  } else if (packs >= long_line) {
    enqueue("overlap::rowsum::team_per_row",
            Policy(instance, static_cast<int>(sums.count), block / 32, 32),
            TeamPerLine<T, Sum, pack_size>{sums});
  } else {
    // Each lane adds up about four packs: enough loads in flight, little to combine at the end.
    const int vector = static_cast<int>(
        std::clamp<std::uint64_t>(std::bit_ceil(static_cast<std::uint64_t>(packs)) / 4, 1, 32));
    const int team = block / vector;
    enqueue("overlap::rowsum::vector_per_row",
            Policy(instance, static_cast<int>((sums.count + team - 1) / team), team, vector),
            VectorPerLine<T, Sum, pack_size>{sums});
  }
}

template <class Space, class T, class Sum>
void set_up_rowsum(Workload<Space>& w, std::int64_t length, bool teams) {
  w.launch = [lines = operand<T>(w, 0, length), sums = operand<Sum>(w, 1), length, teams](
                 const Space& instance, const Call& call) {
    const LineSums<T, Sum> task{lines.at(call), sums.at(call), length, call.size};
    if (!teams) {
      enqueue("overlap::rowsum::thread_per_row", units(instance, call.size),
              ThreadPerLine<T, Sum>{task});
      return;
    }
    constexpr int pack = 16 / sizeof(T);
    constexpr std::int64_t most_lines = 1 << 30;  // a league's size is an int
    for (std::int64_t begin = 0; begin < task.count; begin += most_lines) {
      const LineSums<T, Sum> part{task.lines + begin * length, task.sums + begin, length,
                                  std::min(most_lines, task.count - begin)};
      if (length % pack == 0) {
        launch_team_sums<Space, T, Sum, pack>(instance, part);
      } else {
        launch_team_sums<Space, T, Sum, 1>(instance, part);
      }
    }
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

template <class Space, class T>
void set_up_rowsum(Workload<Space>& w, std::int64_t length, bool teams, deck::SumType sum_type) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    if (sum_type == deck::SumType::int64) {
      return set_up_rowsum<Space, T, std::int64_t>(w, length, teams);
    }
  }
  set_up_rowsum<Space, T, T>(w, length, teams);
}

template <class Space>
void set_up_rowsum(Workload<Space>& w, const deck::Workload& deck) {
  const std::int64_t length = deck.axis == deck::SumAxis::rows ? deck.columns : deck.rows;
  // Measured on an H200: below this length a thread a line is the faster kernel (4.4 TB/s at 6
  // int32).
  constexpr std::int64_t shortest_for_teams = 16;
  const bool teams = deck.kernel == deck::RowsumKernel::team_per_row ||
                     (deck.kernel == deck::RowsumKernel::automatic && !is_host<Space> &&
                      length >= shortest_for_teams);
  w.kernel = teams ? "team_per_row" : "thread_per_row";
  switch (deck.type) {
    case deck::Type::int32:
      return set_up_rowsum<Space, std::int32_t>(w, length, teams, deck.sum_type);
    case deck::Type::int64:
      return set_up_rowsum<Space, std::int64_t>(w, length, teams, deck.sum_type);
    case deck::Type::float32:
      return set_up_rowsum<Space, float>(w, length, teams, deck.sum_type);
    case deck::Type::float64:
      return set_up_rowsum<Space, double>(w, length, teams, deck.sum_type);
  }
}

template <>
void set_up<deck::WorkloadKind::rowsum>(const AnyWorkload& workload, const deck::Workload& deck) {
  to_each(workload, [&](auto& w) { set_up_rowsum(w, deck); });
}

}  // namespace overlap::workload
