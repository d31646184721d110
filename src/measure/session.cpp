#include "measure/session.hpp"

#include <array>
#include <ctime>

#include "measure/calibration.hpp"
#include "measure/session_parts.hpp"

namespace overlap::measure {

Session::Session(std::vector<std::string> kokkos)
    : parts_(std::make_unique<Parts>(std::move(kokkos))) {}

Session::~Session() = default;

base::Machine Session::machine() const {
  base::Machine machine = machine_at_rest();
  if (on_gpu()) machine.device = parts_->runtime.device();
  return machine;
}

bool Session::lost() const { return parts_->lost; }

base::Machine machine_at_rest() { return {build_info(), host_info(), {}}; }

CalibrationPlan with_steps(CalibrationPlan plan, const Hooks& hooks) {
  plan.step = [&hooks] {
    base::check_interrupt();
    if (hooks.progress) hooks.progress(0, 0, "measuring the device");
  };
  return plan;
}

const model::Device& present_device(Session::Parts& parts, bool pageable, const Hooks& hooks) {
  if (!parts.present || (pageable && !parts.present_pageable)) {
    const CalibrationPlan plan = with_steps(
        {.most_bytes = on_gpu() ? 64 << 20 : 16 << 20, .repetitions = 5, .pageable = pageable},
        hooks);
    parts.present = calibrate(on_gpu() ? &parts.runtime.device() : nullptr, plan);
    parts.present_pageable = pageable;
  }
  return *parts.present;
}

Calibration calibrate(Session& session, const Hooks& hooks) {
  const bool gpu = on_gpu();
  const CalibrationPlan plan = with_steps(
      {.most_bytes = gpu ? 256 << 20 : 64 << 20, .repetitions = gpu ? 9 : 5, .pageable = true},
      hooks);
  const base::Machine machine = session.machine();
  model::Device device = use(session.parts(), [&](Session::Parts&) {
    model::Device found = calibrate(machine.device ? &*machine.device : nullptr, plan);
    calibrate_kernels(plan, found);
    constexpr std::size_t kib = 1 << 10;
    if (gpu) {
      calibrate_lines(
          {4 * kib, 8 * kib, 16 * kib, 32 * kib, 64 * kib, 128 * kib, 256 * kib, 1024 * kib}, plan,
          found);
    }
    return found;
  });
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%d", std::gmtime(&now));
  return {std::move(device), "Measured by `miniapp --calibrate` on " + std::string(date.data()) +
                                 ":\n" + (gpu ? machine.device->name + ", " : std::string()) +
                                 machine.host.cpu + ", " + std::to_string(machine.host.cores) +
                                 " cores; Kokkos " + machine.build.kokkos_version + " " +
                                 machine.build.backend + ", " + machine.build.compiler + ".\n"};
}

}  // namespace overlap::measure
