#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <optional>

#include "experiment/run.hpp"

namespace overlap::measure {

/// Computes on the host's own data while the device works: pieces of about the same length, on
/// Kokkos' host space. Next to a GPU all its threads take part; on host back ends, whose lanes have
/// the cores, the issuing thread alone. A piece that is missing, repeated or of another repetition
/// shows in its results.
class HostWorker {
 public:
  /// Measures first how fast the host is.
  HostWorker(std::int64_t pieces, double piece_s);

  std::int64_t pieces() const { return pieces_; }
  std::int64_t threads() const { return threads_; }

  /// Forgets all results.
  void begin(std::uint32_t repetition);

  /// Computes the pieces [first, last).
  void run(std::int64_t first, std::int64_t last);

  /// The first wrong result after every piece was to run once since begin(), with its piece as the
  /// chunk; empty: all are right.
  std::optional<experiment::WrongData> verify() const;

 private:
  using Space = Kokkos::DefaultHostExecutionSpace;
  using Results = Kokkos::View<std::uint32_t*, Kokkos::HostSpace>;

  /// Adds the results of the pieces [first, last), after this many steps each.
  void compute(const Results& results, std::int64_t first, std::int64_t last,
               std::int64_t steps) const;

  Space instance_;
  std::int64_t pieces_;
  std::int64_t threads_;
  Results results_;  ///< of each thread's part of each piece
  std::int64_t steps_ = 0;
  std::uint32_t repetition_ = 0;
};

}  // namespace overlap::measure
