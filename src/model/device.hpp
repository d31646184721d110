#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deck/deck.hpp"

/// Description of a device for the model.
namespace overlap::model {

/// Time of an operation as a function of its size, without concurrent operations: piecewise linear
/// through the points, extrapolated through the last two, constant below the first. A single point
/// (b, t) means proportional to the size. No points: 0.
class Curve {
 public:
  struct Point {
    double bytes = 0;
    double seconds = 0;
  };

  Curve() = default;
  /// Sizes and times must increase strictly.
  explicit Curve(std::vector<Point> points) : points_(std::move(points)) {}
  /// latency + bytes / bandwidth
  static Curve line(double latency_s, double bytes_per_s);

  double seconds(double bytes) const;
  /// Marginal time per byte of large operations.
  double seconds_per_byte() const;
  /// The size that takes `seconds`; 0 if that is at most the time of the first of several points.
  double bytes(double seconds) const;
  const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
};

/// The curve with all times multiplied by `factor`.
Curve slower(const Curve& curve, double factor);

/// A curve through measured points, made strictly increasing. Noise lengthens times, relatively
/// less for large sizes, so that each point bounds the smaller ones.
Curve increasing(std::vector<Curve::Point> points);

/// Copies in one direction.
struct Copies {
  Curve pinned;                ///< engine time
  Curve pageable;              ///< staged by the driver: engine and host thread together
  Curve duplex;                ///< pinned, during copies in the other direction; empty: as `pinned`
  double unblocked_bytes = 0;  ///< largest pageable copy that does not block the host

  /// Time of copies of contiguous bytes of this memory kind without concurrent transfers.
  const Curve& alone(deck::HostMemory memory) const;
  /// Time factor of a copy during copies in the other direction, at least 1.
  double slowed(double bytes) const;
};

/// Times of a kernel at one arithmetic intensity.
struct Roof {
  double flop_per_byte = 0;
  Curve time;  ///< by bytes of device memory read and written
};

/// Times of a kernel at increasing arithmetic intensities: linear in the intensity between two
/// entries, constant below the first, proportional to the intensity beyond the last.
struct Kernel {
  std::vector<Roof> roofs;

  double seconds(double bytes, double flops) const;
  /// Fraction of the device throughput that the kernel uses alone, in (0, 1]: small kernels leave
  /// room for concurrent ones.
  double share(double bytes, double flops) const;
};

/// Queues between lanes and engines.
enum class Queues {
  engine,      ///< one FIFO per engine, for all streams: before Hyper-Q
  connection,  ///< `connections` FIFOs per engine, chosen when a task is issued: Hyper-Q
  worker,      ///< each lane is a worker thread of the host with its own FIFO
};

/// Cost of each call for the issuing host thread, seconds, and the rate of the host.
struct HostCosts {
  double copy_s = 0;         ///< issue a copy
  double kernel_s = 0;       ///< issue a kernel
  double record_s = 0;       ///< record an event for other lanes
  double wait_s = 0;         ///< make a lane wait for an event
  double query_s = 0;        ///< query the state of a lane
  double synchronize_s = 0;  ///< wait for a lane that is already complete
  double flops_per_s = 0;    ///< its rate for tiles of a matrix product; 0: unknown
};

/// Delays between operations, seconds.
struct Latencies {
  double start_s = 0;   ///< from issue to start on an idle engine
  double lane_s = 0;    ///< from the end of a task to the next one of its lane on another engine
  double event_s = 0;   ///< from the end of a task to a dependent task of another lane
  double notice_s = 0;  ///< from the end of a task to the return of the waiting host
};

/// Lanes that a call drains: their earlier tasks end before it, their later ones start after it.
enum class Waits {
  nothing,
  blocking_lanes,  ///< all if their streams are blocking or the legacy default stream, else none
  all_lanes,
};

/// A call that is said to break concurrency.
struct CallEffect {
  Waits waits_for = Waits::nothing;
  bool host_waits = false;  ///< the host waits for the drained lanes, too
  double cost_s = 0;        ///< after the drain; of a call that drains nothing: of the host
  bool operator==(const CallEffect&) const = default;
};

/// The calls on an NVIDIA H200, as far as they do not depend on the machine.
std::map<deck::Disturbance, CallEffect> usual_calls();

/// Where a description was measured: it predicts the runs of such devices.
struct Match {
  std::string device;               ///< its name; on host back ends that of the processor
  std::optional<std::string> link;  ///< "gen5 x16"; empty: host back end, or unknown
  bool operator==(const Match&) const = default;
};

/// A device of the model. Times are in seconds, sizes in bytes.
struct Device {
  std::string name;
  std::string title;
  std::string path;            ///< the device file
  std::optional<Match> match;  ///< empty: described, not measured

  /// Above 0: a teaching device, on which any copy or kernel of the largest chunk takes this time
  /// and others in proportion (a task of the baseline takes it once per chunk). Durations in decks
  /// are unchanged.
  double unit_s = 0;

  std::int64_t memory_bytes = 0;  ///< for arrays; 0: unknown

  int copy_engines = 2;  ///< 1: shared by both directions
  Copies h2d;
  Copies d2h;

  Queues queues = Queues::connection;
  int connections = 32;         ///< Queues::connection: FIFOs of the SMs
  int copy_connections = 32;    ///< Queues::connection: FIFOs per copy engine
  bool delayed_signal = false;  ///< consecutive kernels in issue order signal operations on other
                                ///< engines when the last of them completes
  bool query_releases = false;  ///< a query between two kernels prevents that
  int window = 0;  ///< maximum issued operations between two concurrent ones; 0: unlimited

  int concurrent_kernels = 1;
  double kernels_slowed = 1;  ///< time factor of kernels per active copy direction, at least 1
  std::map<std::string, Kernel> kernels;  ///< by Schedule::kernel, or its part before the '/'

  int cores = 1;              ///< Queues::worker: cores, which busy workers share
  bool lanes_divide = false;  ///< Queues::worker: lanes divide the cores between them

  HostCosts host;
  Latencies latency;
  std::map<deck::Disturbance, CallEffect> calls = usual_calls();  ///< all of them

  /// Prefix of error messages: the file, or "device NAME".
  std::string place() const;

  const Copies& copies(deck::Stage stage) const { return stage == deck::Stage::h2d ? h2d : d2h; }

  /// Whether nothing is known that a task costs beyond its bytes: no number of chunks is too large.
  bool lacks_latencies() const;

  /// Cores per lane if `lanes_divide`, at least 1; else 1.
  int cores_per_lane(int lanes) const;

  /// Whether it has a rate for a workload, of some type.
  bool predicts(const std::string& workload) const;

  /// The kernel with this key; null if unknown.
  const Kernel* kernel(const std::string& key) const;
  /// The kernel with this key. Throws base::Error{usage} if unknown.
  const Kernel& required_kernel(const std::string& key) const;
};

}  // namespace overlap::model
