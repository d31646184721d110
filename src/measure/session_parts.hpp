#pragma once

#include "measure/calibration.hpp"
#include "measure/host_worker.hpp"
#include "measure/platform.hpp"
#include "measure/session.hpp"

namespace overlap::measure {

/// What a session holds: the runtime, what is known of the present device, and what the current
/// point has on it.
struct Session::Parts {
  explicit Parts(std::vector<std::string> kokkos) : runtime(std::move(kokkos)) {}

  Runtime runtime;
  std::optional<model::Device> present;  ///< measured briefly; empty: not yet
  bool present_pageable = false;         ///< copies of pageable memory, too
  std::optional<HostWorker> host_worker;
  std::optional<Executor> executor;
  std::optional<Executor> meter;  ///< of rates
  workload::Workload workload;
  bool lost = false;
};

/// Returns body(parts), and remembers when the device was lost over it. Throws
/// base::Error{runtime_error} where it was lost before.
template <class Body>
auto use(Session::Parts& parts, const Body& body) {
  if (parts.lost) throw base::Error(base::ExitCode::runtime_error, "the device was lost before");
  try {
    return body(parts);
  } catch (const lanes::DeviceLost&) {
    parts.lost = true;
    throw;
  }
}

/// The present device as far as predictions for its runs need it: measured once, in about a second.
const model::Device& present_device(Session::Parts& parts, bool pageable, const Hooks& hooks);

}  // namespace overlap::measure
