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

/// Kokkos and the current device. Nothing on a lost device can be freed: the session must then
/// outlive the error handling.
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
    } catch (lanes::DeviceLost& error) {
      lost = true;
      kept = error.kept;  // a copy: an enclosing call needs it, too
      throw;
    }
  }

  Runtime runtime;
  base::DeviceInfo device = chosen_device();
  Monitor monitor = monitor_of(device);
  bool lost = false;  ///< the device is lost: nothing on it can be freed
  std::vector<std::shared_ptr<const void>> kept;  ///< what was in use when it was lost
  std::shared_ptr<Bench> bench;                   ///< of the current point
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

/// Runs the cases of a plan made with facts from probe(), measures rates between their rounds and,
/// except for points of a sweep, traces. After Ctrl-C the samples contain all complete rounds;
/// without any, throws base::Error{interrupted}.
experiment::Samples measure(const experiment::Plan& plan, Session& session, const Hooks& hooks);

/// Copies in both directions at each call: load for the other ranks of the node, of which there are
/// `ranks`.
std::function<void()> load(int ranks);

}  // namespace overlap::measure
