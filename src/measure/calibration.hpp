#pragma once

#include "base/machine.hpp"
#include "measure/bench.hpp"

/// Measures the device description of the model, and parts of it.
namespace overlap::measure {

/// The plan with progress display.
CalibrationPlan with_progress(CalibrationPlan plan, const Hooks& hooks);

/// On the lanes of the bench: adds the kernel rates of all workloads that this build has, by type
/// and intensity.
void calibrate_kernels(const CalibrationPlan& plan, Bench& bench, model::Device& device);

/// Times of copies of pageable memory by size, one by one because the host takes part in them, less
/// the costs of calls on the device and at least its times of pinned memory. On a GPU the data are
/// flushed from the processor's caches first, as before runs.
model::Curve pageable_curve(const Meter& meter, Stage stage, const model::Device& device = {});

/// Lanes for a calibration: 16 on a GPU, at least one per core on a host.
int calibration_lanes();

/// A deck of one workload in one chunk on arrays of at most `bytes`, otherwise with defaults.
deck::Deck plain_deck(std::int64_t bytes, deck::WorkloadKind kind = deck::WorkloadKind::increment,
                      deck::ElementType type = deck::ElementType::float32);

/// The workload of a deck with device arrays for all data. Inputs are generated on the host;
/// nothing is copied.
workload::Workload resident_workload(const deck::Deck& deck);

}  // namespace overlap::measure
