#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/judge.hpp"
#include "experiment/plan.hpp"
#include "lanes/device_lost.hpp"
#include "measure/hooks.hpp"
#include "measure/platform.hpp"

/// The use of a device: everything that requires one goes through a session. Free of Kokkos: in a
/// build without it session_none.cpp defines all that is declared here and in platform.hpp and
/// needed there.
namespace overlap::measure {

struct Bench;

/// Kokkos, the current device and all that this process holds on it. Nothing on a lost device can
/// be freed: the session must then outlive the error handling.
struct Session {
  /// `kokkos`: options of Kokkos. Throws as Runtime.
  explicit Session(std::vector<std::string> kokkos) : runtime(std::move(kokkos)) {}

  base::Machine machine() const {
    return {build_info(),
            base::host_info(),
            on_gpu() ? std::optional(device) : std::nullopt,
            base::job_info(),
            {}};
  }

  /// Returns body(), and records whether the device is lost during it. Throws
  /// base::Error{runtime_error} if the device was lost before.
  template <class Body>
  auto use(const Body& body) {
    if (lost) throw base::Error(base::ExitCode::runtime_error, "the device was lost earlier");
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
  std::shared_ptr<Bench> bench;  ///< of the last point or calibration
  bool lost = false;             ///< the device is lost: nothing on it can be freed
};

/// The device at hand and its link, as device files name them.
model::Match match_of(const Session& session);

/// Calibrates the current device completely, for a device file.
model::Device calibrate(Session& session, const Hooks& hooks);

/// Measures the facts for planning on the current device: free memory, sizes of copies given by
/// their duration, steps of a busy loop, a balanced intensity. Replaces the bench by that of
/// this point, for measure(). Throws base::Error{precondition} if memory is short or the machine
/// does not meet `require`, base::Error{skipped} for features that this program lacks.
experiment::Facts probe(const deck::Deck& deck, Session& session, const Hooks& hooks);

/// Background load for other ranks of this node, `ranks` in all: each call copies 32 MiB each way.
std::function<void()> load(int ranks);

/// Runs the cases of a plan made with facts from probe(), measures rates between their rounds and,
/// except for points of a sweep, traces. After Ctrl-C the samples contain all complete rounds;
/// without any, throws base::Error{interrupted}.
experiment::Samples measure(const experiment::Plan& plan, Session& session, const Hooks& hooks);

}  // namespace overlap::measure
