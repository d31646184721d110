#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/machine.hpp"
#include "experiment/judge.hpp"
#include "measure/hooks.hpp"
#include "model/device.hpp"

/// A device, for as long as the program uses it: what needs one happens here.
namespace overlap::measure {

/// Kokkos and the present device, and what the current point has there. When the device is lost,
/// nothing of it can be freed any more: the session must outlive the handling of that error.
class Session {
 public:
  /// `kokkos` are Kokkos' own arguments (--kokkos-...). Throws base::Error{precondition} when the
  /// build needs a GPU and none is there, base::Error{usage} when Kokkos refuses an argument.
  explicit Session(std::vector<std::string> kokkos);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  base::Machine machine() const;

  /// Whether the device failed in a way that leaves nothing to free.
  bool lost() const;

  struct Parts;
  Parts& parts() { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

/// The machine without a device: what needs no Kokkos runtime.
base::Machine machine_at_rest();

/// Measures the present device thoroughly: its description with everything that models need, and
/// how it came to be, for the file.
struct Calibration {
  model::Device device;
  std::string note;
};
Calibration calibrate(Session& session, const Hooks& hooks);

/// What planning must know of the present device, by measuring it: rates for predictions (unless
/// they are for `model`), a balanced intensity, the host's share, what `auto` becomes. Allocates
/// the point's arrays, which measure() uses. Throws base::Error{precondition} when memory is short,
/// base::Error{skipped} for what this program cannot run.
experiment::Facts probe(const deck::Deck& deck, const model::Device* model, Session& session,
                        const Hooks& hooks);

/// Runs the cases that were planned with probe()'s facts: the only loop that scores. Traces them
/// after that, unless they are points of a sweep. After Ctrl-C the samples are those of all
/// complete rounds; without one it throws base::Error{interrupted}.
experiment::Samples measure(const experiment::Plan& plan, Session& session, const Hooks& hooks);

}  // namespace overlap::measure
