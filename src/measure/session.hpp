#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/plan.hpp"
#include "measure/host_worker.hpp"
#include "measure/measure.hpp"
#include "measure/platform.hpp"

/// A device, for as long as the program uses it: what needs one happens here.
namespace overlap::measure {

/// Kokkos and the present device, and what the current point has there. When the device is lost,
/// nothing of it can be freed any more: the session must outlive the handling of that error.
struct Session {
  /// With Kokkos' own arguments. Throws what Runtime throws.
  explicit Session(std::vector<std::string> kokkos) : runtime(std::move(kokkos)) {}

  base::Machine machine() const {
    return {
        build_info(), host_info(), on_gpu() ? std::optional(device) : std::nullopt, job_info(), {}};
  }

  /// Returns body(), and remembers when the device was lost over it. Throws
  /// base::Error{runtime_error} where it was lost before.
  template <class Body>
  auto use(const Body& body) {
    if (lost) throw base::Error(base::ExitCode::runtime_error, "the device was lost before");
    try {
      return body();
    } catch (const lanes::DeviceLost&) {
      lost = true;
      throw;
    }
  }

  Runtime runtime;
  base::DeviceInfo device = chosen_device();
  Monitor monitor = monitor_of(device);
  std::optional<model::Device> present;  ///< measured briefly; empty: not yet
  std::optional<HostWorker> host_worker;
  std::optional<Executor> executor;
  std::optional<Executor> meter;  ///< of rates
  workload::Workload workload;
  bool lost = false;  ///< the device failed in a way that leaves nothing to free
};

/// Measures the present device thoroughly: its description with everything that models need.
model::Device calibrate(Session& session, const Hooks& hooks);

/// What planning must know of the present device, by measuring it: rates for predictions (unless
/// they are for `model`), a balanced intensity, the host's share, what `auto` becomes. Allocates
/// the point's arrays, which measure() uses. Throws base::Error{precondition} when memory is short
/// or the machine is not what the deck requires, base::Error{skipped} for what this program cannot
/// run.
experiment::Facts probe(const deck::Deck& deck, const model::Device* model, Session& session,
                        const Hooks& hooks);

/// Runs the cases that were planned with probe()'s facts: the only loop that scores. Traces them
/// after that, unless they are points of a sweep. After Ctrl-C the samples are those of all
/// complete rounds; without one it throws base::Error{interrupted}.
experiment::Samples measure(const experiment::Plan& plan, Session& session, const Hooks& hooks);

}  // namespace overlap::measure
