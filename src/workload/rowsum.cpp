#include <algorithm>
#include <bit>

#include "workload/check.hpp"
#include "workload/data.hpp"
#include "workload/kernel.hpp"

namespace overlap::workload {
namespace {

/// Sums of contiguous lines: rows of a row-major array, or columns of a column-major one (seed
/// 003). Integers are summed modulo 2^32 or 2^64, where overflow is defined.
template <class T, class Sum>
struct LineSums {
  using Accumulator = typename std::conditional_t<std::is_integral_v<Sum>, std::make_unsigned<Sum>,
                                                  std::type_identity<Sum>>::type;
  const T* lines;
  Sum* sums;
  std::int64_t length;
  std::int64_t count;  ///< number of lines

  KOKKOS_FUNCTION static Accumulator widen(T x) {
    return static_cast<Accumulator>(static_cast<Sum>(x));
  }

  /// The kernel of the seed: one thread per line.
  KOKKOS_FUNCTION void operator()(std::int64_t line) const {
    const T* const x = lines + line * length;
    Accumulator sum = 0;
    for (std::int64_t i = 0; i < length; ++i) sum += widen(x[i]);
    sums[line] = static_cast<Sum>(sum);
  }

  /// One team per line: neighbouring threads read neighbouring elements.
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t line = team.league_rank();
    const T* const x = lines + line * length;
    Accumulator sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, length),
        [&](std::int64_t i, Accumulator& partial) { partial += widen(x[i]); }, sum);
    Kokkos::single(Kokkos::PerTeam(team), [&] { sums[line] = static_cast<Sum>(sum); });
  }
};

/// Enqueues the line sums of a task.
template <class T, class Sum>
void launch_sums(const InstanceRef& instance, const LineSums<T, Sum>& task, bool teams) {
  if (!teams) return enqueue("overlap::rowsum::thread_per_row", instance, task.count, task);
  constexpr std::int64_t most_lines = 1 << 30;  // league sizes are int
  for (std::int64_t begin = 0; begin < task.count; begin += most_lines) {
    const LineSums<T, Sum> part{task.lines + begin * task.length, task.sums + begin, task.length,
                                std::min(most_lines, task.count - begin)};
    instance.with([&]<class Space>(const Space& space) {
      using Policy = Kokkos::TeamPolicy<Space>;
      const int vector = is_host<Space> ? 1 : Policy::vector_length_max();
      const int most_threads = is_host<Space> ? 1 : 256;
      // At least four elements per thread: enough loads in flight, little to combine at the end.
      const auto most = static_cast<int>(std::min<std::int64_t>(part.length / 4, most_threads));
      const int threads = std::max(vector, static_cast<int>(std::bit_floor(unsigned(most))));
      enqueue("overlap::rowsum::team_per_row",
              Policy(space, static_cast<int>(part.count), threads / vector, vector), part);
    });
  }
}

template <class T, class Sum>
void set_up_rowsum(Workload& w, std::int64_t length, bool teams) {
  w.launch = [lines = operand<T>(w, 0, length), sums = operand<Sum>(w, 1), length, teams](
                 const InstanceRef& instance, const Call& call) {
    launch_sums<T, Sum>(instance, {lines(call), sums(call), length, call.size}, teams);
  };
  fill_inputs_with<T>(w, [](auto... place) { return value<T>(place...); });
  w.verify = [host = w.host[1], length](std::uint32_t repetition, std::int64_t /*repeats*/) {
    const auto expected = [=](std::int64_t line) {
      // The inputs are integers times a power of two: their sums are exact.
      std::uint64_t sum = 0;
      std::int64_t magnitude = 0;
      for (std::int64_t i = line * length; i < (line + 1) * length; ++i) {
        const std::int64_t x = whole_value<T>(i, repetition, 0);
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
    return compare<Sum>(host, "sums", expected, std::max<std::int64_t>(1, (1 << 14) / length));
  };
}

}  // namespace

template <>
void set_up<deck::WorkloadKind::rowsum>(Workload& w, const deck::Workload& deck) {
  const std::int64_t length = deck.axis == deck::SumAxis::rows ? deck.columns : deck.rows;
  constexpr std::int64_t shortest_for_teams = 256;  // shorter lines leave most of a team idle
  const bool teams = deck.kernel == deck::RowsumKernel::team_per_row ||
                     (deck.kernel == deck::RowsumKernel::automatic && !on_host(w.space) &&
                      length >= shortest_for_teams);
  w.kernel = teams ? "team_per_row" : "thread_per_row";
  switch (deck.type) {
    case deck::ElementType::int32:
      if (deck.sum_type == deck::SumType::int64) {
        return set_up_rowsum<std::int32_t, std::int64_t>(w, length, teams);
      }
      return set_up_rowsum<std::int32_t, std::int32_t>(w, length, teams);
    case deck::ElementType::int64:
      return set_up_rowsum<std::int64_t, std::int64_t>(w, length, teams);
    case deck::ElementType::float32:
      return set_up_rowsum<float, float>(w, length, teams);
    case deck::ElementType::float64:
      return set_up_rowsum<double, double>(w, length, teams);
  }
}

}  // namespace overlap::workload
