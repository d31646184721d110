#pragma once

#include <map>
#include <string>
#include <vector>

#include "deck/deck.hpp"

/// Predicts what a schedule does on a device, from a description of that device.
namespace overlap::model {

/// The time of an operation by its size, alone on the device: linear between the given points,
/// beyond them by the nearest two points' line, and never below the first point's time.
/// One point (b, t) stands for times proportional to the size.
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
  /// Seconds that another byte takes in the long run.
  double seconds_per_byte() const;
  /// The size that takes `seconds`; 0 where even nothing takes longer.
  double bytes(double seconds) const;
  const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
};

/// The curve with every time multiplied.
Curve slower(const Curve& curve, double factor);

/// Copies in one direction.
struct Copies {
  Curve pinned;    ///< engine time
  Curve pageable;  ///< staged: engine and host thread together
  Curve duplex;    ///< pinned, while the other direction is active, too; empty: as alone
  Curve lines;     ///< one of the lines_apart() of a pinned copy, by its size, among kernels that
                   ///< fill the cache; empty: as adjacent bytes
  double unblocked_bytes = 0;  ///< pageable copies up to this size do not hold the host

  /// What copies of such memory take alone, their lines aside.
  const Curve& alone(deck::HostMemory memory) const;
  /// Time factor of a copy while the other direction is active, too, at least 1.
  double slowed(double bytes) const;
};

/// A kernel's times at one arithmetic intensity.
struct Roof {
  double flop_per_byte = 0;
  Curve time;  ///< by the device memory that it reads and writes
};

/// A kernel's times, by arithmetic intensity (increasing): between two the time of a size is linear
/// in the intensity; outside them it is proportional to the nearest one's beyond the last, and that
/// of the first before it.
struct Kernel {
  std::vector<Roof> roofs;

  double seconds(double bytes, double flops) const;
  /// The part of the device's throughput that it uses while it runs alone, up to 1: small kernels
  /// leave room for others beside them.
  double share(double bytes, double flops) const;
};

/// Where operations wait until an engine takes them.
enum class Queues {
  engine,      ///< one FIFO an engine, for all streams: before Hyper-Q
  connection,  ///< `connections` FIFOs an engine, which the streams share in turn: Hyper-Q
  worker,      ///< each lane is a worker thread of the host, with a FIFO and an engine of its own
};

/// What the issuing host thread spends on each call, seconds.
struct HostCosts {
  double copy_s = 0;         ///< issue a copy
  double kernel_s = 0;       ///< issue a kernel
  double record_s = 0;       ///< make a task's completion known to other lanes
  double wait_s = 0;         ///< make a lane wait for a task of another
  double query_s = 0;        ///< ask for a lane's state
  double synchronize_s = 0;  ///< wait for a lane that is complete already
};

/// What passes between operations, seconds.
struct Latencies {
  double start_s = 0;  ///< from an issue until an idle engine starts
  double lane_s = 0;   ///< from the end of a task until its lane's next can start on another engine
  double event_s = 0;  ///< until a task of another lane can start that waits for it
  double notice_s = 0;  ///< until the host, waiting for it, goes on
  /// After a copy that a kernel of its lane comes after, until its engine takes the next copy.
  double handover_s = 0;
};

/// A device for the model. Times are in seconds, sizes in bytes.
struct Device {
  std::string name;
  std::string title;
  std::string path;  ///< the file that it was read from; empty: measured by this run

  /// Above 0: a device for teaching. Any copy or kernel of the largest chunk takes this time,
  /// others in proportion (the sequential baseline's as many times as it has chunks); hand-written
  /// durations stay.
  double unit_s = 0;

  int copy_engines = 2;  ///< 1: both directions share it
  Copies h2d;
  Copies d2h;

  Queues queues = Queues::connection;
  int connections = 32;         ///< Queues::connection: FIFOs of the SMs
  int copy_connections = 32;    ///< and of each copy engine
  bool delayed_signal = false;  ///< kernels next to each other in issue order signal other engines'
                                ///< operations when the last of them completes
  bool query_releases = false;  ///< a query between two kernels prevents that
  int window = 0;  ///< operations that may stand between two that run concurrently; 0: any number

  int concurrent_kernels = 1;
  double kernels_slowed = 1;  ///< time factor of kernels for each active copy direction, at least 1
  double cache_bytes = 0;     ///< kernels on no more than that leave room in the cache
  std::map<std::string, Kernel> kernels;  ///< by Schedule::kernel, or by its part before the '/'

  int cores = 1;              ///< Queues::worker: that workers share when they are more
  bool lanes_divide = false;  ///< Queues::worker: each lane gets its part of the cores

  HostCosts host;
  Latencies latency;

  /// What error messages begin with: the file, or the device's name where there is none.
  std::string place() const;

  const Copies& copies(deck::Stage stage) const { return stage == deck::Stage::h2d ? h2d : d2h; }

  /// Queues::worker: cores that each of `lanes` has; else 1.
  int cores_of_lane(int lanes) const;

  /// The kernel for a schedule; null when the device does not know it.
  const Kernel* kernel(const std::string& key) const;
  /// The same; throws base::Error{usage} when the device does not know it.
  const Kernel& known_kernel(const std::string& key) const;
};

}  // namespace overlap::model
