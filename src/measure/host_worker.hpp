#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <optional>

#include "experiment/run.hpp"

namespace overlap::measure {

/// Host work during runs: pieces of about equal duration on separate data, on the host space of
/// Kokkos. All threads of the host space take part, but with Serial and OpenMP as back ends, whose
/// lanes use the cores, only the issuing thread. Its results reveal pieces that are missing,
/// repeated or of another repetition.
class HostWorker {
 public:
  /// Calibrates pieces of `piece_s` seconds each.
  HostWorker(std::int64_t pieces, double piece_s);

  std::int64_t pieces() const { return pieces_; }
  std::int64_t threads() const { return threads_; }

  /// Clears all results for a new repetition.
  void begin(std::uint32_t repetition);

  /// Computes the pieces [first, last).
  void run(std::int64_t first, std::int64_t last);

  /// Call after each piece has run once since begin(): the first wrong result, with its piece as
  /// the chunk; empty: all are right.
  std::optional<experiment::WrongData> verify() const;

 private:
  using Space = Kokkos::DefaultHostExecutionSpace;
  using Results = Kokkos::View<std::uint32_t*, Kokkos::HostSpace>;

  /// Adds the results of the pieces [first, last), `steps` steps each.
  void compute(const Results& results, std::int64_t first, std::int64_t last,
               std::int64_t steps) const;

  Space instance_;
  std::int64_t pieces_;
  std::int64_t threads_;
  Results results_;  ///< one per thread and piece
  std::int64_t steps_ = 0;
  std::uint32_t repetition_ = 0;
};

}  // namespace overlap::measure
