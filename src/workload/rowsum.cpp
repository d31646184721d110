#include <algorithm>
#include <bit>

#include "workload/check.hpp"
#include "workload/data.hpp"

namespace overlap::workload {
namespace {

/// Lines are contiguous: the rows of a row-major array, or the columns of a column-major one.
template <class T>
using Lines = Kokkos::View<const T**, Kokkos::LayoutRight, Space>;  ///< (line, element)

/// Sums of lines (seed 003). Integers are summed modulo 2^32 or 2^64, where overflow is defined.
template <class T, class Sum>
struct LineSums {
  using Accumulator = typename std::conditional_t<std::is_integral_v<Sum>, std::make_unsigned<Sum>,
                                                  std::type_identity<Sum>>::type;
  Lines<T> lines;
  Kokkos::View<Sum*, Space> sums;

  KOKKOS_FUNCTION static Accumulator widen(T x) {
    return static_cast<Accumulator>(static_cast<Sum>(x));
  }

  /// The kernel of the seed: one thread per line.
  KOKKOS_FUNCTION void operator()(std::int64_t line) const {
    Accumulator sum = 0;
    const auto length = static_cast<std::int64_t>(lines.extent(1));
    for (std::int64_t i = 0; i < length; ++i) sum += widen(lines(line, i));
    sums(line) = static_cast<Sum>(sum);
  }

  /// One team per line: neighbouring threads read neighbouring elements.
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t line = team.league_rank();
    Accumulator sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, static_cast<std::int64_t>(lines.extent(1))),
        [&](std::int64_t i, Accumulator& partial) { partial += widen(lines(line, i)); }, sum);
    Kokkos::single(Kokkos::PerTeam(team), [&] { sums(line) = static_cast<Sum>(sum); });
  }
};

/// Enqueues the line sums of a task.
template <class T, class Sum>
void launch_sums(const Space& instance, const LineSums<T, Sum>& task, bool teams) {
  const auto length = static_cast<std::int64_t>(task.lines.extent(1));
  using Policy = Kokkos::TeamPolicy<Space>;
  const int vector = is_host ? 1 : Policy::vector_length_max();
  const int most_threads = is_host ? 1 : 256;
  // At least four elements per thread: enough loads in flight, little to combine at the end.
  const auto useful = static_cast<unsigned>(std::min<std::int64_t>(length / 4, most_threads));
  const int threads = std::max(vector, static_cast<int>(std::bit_floor(useful)));
  for_parts(std::ssize(task.sums), [&](std::int64_t begin, std::int64_t end) {
    if (!teams) {
      return Kokkos::parallel_for("overlap::rowsum::thread_per_row",
                                  RangePolicy(instance, begin, end), task);
    }
    const std::pair part(begin, end);
    Kokkos::parallel_for("overlap::rowsum::team_per_row",
                         Policy(instance, static_cast<int>(end - begin), threads / vector, vector),
                         LineSums<T, Sum>{Kokkos::subview(task.lines, part, Kokkos::ALL),
                                          Kokkos::subview(task.sums, part)});
  });
}

template <class T, class Sum>
void set_up_rowsum(const Setup& setup, std::int64_t length, bool teams) {
  Workload& w = setup.workload;
  const auto lines = setup.array<T>(0);
  const auto sums = setup.array<Sum>(1);
  w.launch = [lines, sums, length, teams](const Space& instance, const Call& call) {
    const Lines<T> chunk(lines.chunk(call).data(), static_cast<std::size_t>(call.size),
                         static_cast<std::size_t>(length));
    launch_sums<T, Sum>(instance, {chunk, sums.chunk(call)}, teams);
  };
  fill_inputs_with<T>(w, {lines.host}, [](auto... place) { return value<T>(place...); });
  w.verify = [host = sums.host, length](std::uint32_t repetition, std::int64_t /*repeats*/) {
    const auto expected = [=](std::int64_t line) {
      // The inputs are integers times a power of two: their sums are exact.
      std::uint64_t sum = 0;
      std::int64_t magnitude = 0;
      for (std::int64_t i = line * length; i < (line + 1) * length; ++i) {
        const std::int64_t x = integer_value<T>(i, repetition, 0);
        sum += static_cast<std::uint64_t>(x);
        magnitude += x < 0 ? -x : x;
      }
      if constexpr (std::is_integral_v<Sum>) {
        return Expected<Sum>{static_cast<Sum>(sum)};
      } else {
        // Any order of n - 1 additions has an error of at most (n - 1) u sum |x| to first order,
        // where u is half an epsilon (Higham, Accuracy and Stability of Numerical Algorithms,
        // section 4.2); n instead of n - 1 covers the higher orders. Errors are practically
        // independent, so that sums of random elements, whose standard deviation is 0.29, are
        // closer: 29 n u is over 100 times their typical error, and far below the sum of other
        // data.
        const double bounded = static_cast<double>(magnitude) * data_scale<T>;
        return Expected<Sum>{static_cast<double>(static_cast<std::int64_t>(sum)) * data_scale<T>,
                             static_cast<double>(length) * std::numeric_limits<Sum>::epsilon() / 2 *
                                 std::min(bounded, 29.0)};
      }
    };
    return compare(host, expected, std::max<std::int64_t>(1, (1 << 14) / length));
  };
}

}  // namespace

template <>
void set_up<deck::WorkloadKind::rowsum>(const Setup& setup) {
  const deck::Workload& deck = setup.deck;
  const std::int64_t length = deck.axis == deck::SumAxis::rows ? deck.columns : deck.rows;
  constexpr std::int64_t shortest_for_teams = 256;  // shorter lines leave most of a team idle
  const bool teams =
      deck.kernel == deck::RowsumKernel::team_per_row ||
      (deck.kernel == deck::RowsumKernel::automatic && !is_host && length >= shortest_for_teams);
  setup.workload.kernel = teams ? "team_per_row" : "thread_per_row";
  switch (deck.type) {
    case deck::ElementType::int32:
      if (deck.sum_type == deck::SumType::int64) {
        return set_up_rowsum<std::int32_t, std::int64_t>(setup, length, teams);
      }
      return set_up_rowsum<std::int32_t, std::int32_t>(setup, length, teams);
    case deck::ElementType::int64:
      return set_up_rowsum<std::int64_t, std::int64_t>(setup, length, teams);
    case deck::ElementType::float32:
      return set_up_rowsum<float, float>(setup, length, teams);
    case deck::ElementType::float64:
      return set_up_rowsum<double, double>(setup, length, teams);
  }
}

}  // namespace overlap::workload
