// The plain-CUDA peer: the increment experiment and the bare copies without Kokkos, as straight and
// as fast as CUDA allows. What miniapp is measured against; it shares no code with it on purpose.
//
// Exit codes as miniapp's: 0, 1 runtime error, 2 wrong data, 3 bad usage, 4 no GPU or not enough
// memory; each with one line on stderr.

#include <cuda_runtime.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

enum ExitCode { pass = 0, runtime_error = 1, wrong_data = 2, bad_usage = 3, no_precondition = 4 };

/// Ends the program with one line on stderr; only main catches it.
struct Failure {
  ExitCode code;
  std::string text;
};

void check(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  throw Failure{error == cudaErrorMemoryAllocation ? no_precondition : runtime_error,
                std::string(file) + ":" + std::to_string(line) + ": " + call + ": " +
                    cudaGetErrorString(error)};
}

#define OVERLAP_CUDA(call) check(call, #call, __FILE__, __LINE__)

// ---------------------------------------------------------------------------- what CUDA lends out

struct Release {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Release>;
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Release>;

struct ReleaseDevice {
  void operator()(float* data) const { cudaFree(data); }
};
struct ReleasePinned {
  void operator()(float* data) const { cudaFreeHost(data); }
};
using DeviceArray = std::unique_ptr<float, ReleaseDevice>;
using PinnedArray = std::unique_ptr<float, ReleasePinned>;

Stream make_stream() {
  cudaStream_t stream = nullptr;
  OVERLAP_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

Event make_event() {
  cudaEvent_t event = nullptr;
  OVERLAP_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return Event(event);
}

DeviceArray make_device_array(std::size_t bytes) {
  float* data = nullptr;
  OVERLAP_CUDA(cudaMalloc(&data, bytes));
  DeviceArray array(data);
  OVERLAP_CUDA(cudaMemset(data, 0xFF, bytes));
  return array;
}

PinnedArray make_pinned_array(std::size_t bytes) {
  float* data = nullptr;
  OVERLAP_CUDA(cudaMallocHost(&data, bytes));
  return PinnedArray(data);
}

// ----------------------------------------------------------------------------------- command line

struct Options {
  std::int64_t elements = 4194304;
  std::int64_t chunks = 4;
  std::int64_t lanes = 4;
  std::int64_t repetitions = 10;
  std::int64_t warmup = 3;
  std::int64_t intensity = 1;
  std::vector<std::string_view> only;
  const char* meet = nullptr;
  std::int64_t peers = 1;
  bool help = false;
};

constexpr std::string_view usage =
    "usage: overlap_peer [--elements N] [--chunks N] [--lanes N] [--repetitions N] [--warmup N]\n"
    "                    [--intensity N] [--only NAME[,NAME...]] [--meet FILE --peers N]\n"
    "Peers with the same FILE, new and empty, start every sample together, and who is done copies\n"
    "in both directions until the last one is.\n"
    "names: sequential depth_first breadth_first by_engine h2d d2h both d2d kernel\n";

std::int64_t parse_number(std::string_view key, std::string_view text, std::int64_t least,
                          std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw Failure{bad_usage, std::string(key) + " " + std::string(text) +
                                 ": expected a whole number from " + std::to_string(least) +
                                 " to " + std::to_string(most)};
  }
  return value;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

Options parse(int argc, char** argv) {
  Options options;
  // Far above any use, and below what a grid's blocks and 64-bit arithmetic can hold.
  constexpr std::int64_t most_elements = std::int64_t{1} << 38;
  constexpr std::int64_t most_objects = 1 << 20;
  for (int a = 1; a < argc; ++a) {
    const std::string_view key = argv[a];
    if (key == "--help") {
      options.help = true;
      return options;
    }
    if (a + 1 == argc) throw Failure{bad_usage, std::string(key) + ": unknown, or lacks its value"};
    const std::string_view value = argv[++a];
    if (key == "--elements") {
      options.elements = parse_number(key, value, 1, most_elements);
    } else if (key == "--chunks") {
      options.chunks = parse_number(key, value, 1, most_objects);
    } else if (key == "--lanes") {
      options.lanes = parse_number(key, value, 1, most_objects);
    } else if (key == "--repetitions") {
      options.repetitions = parse_number(key, value, 1, most_objects);
    } else if (key == "--warmup") {
      options.warmup = parse_number(key, value, 0, most_objects);
    } else if (key == "--intensity") {
      options.intensity = parse_number(key, value, 0, most_objects);
    } else if (key == "--only") {
      options.only = split_at_commas(value);
    } else if (key == "--meet") {
      options.meet = argv[a];
    } else if (key == "--peers") {
      options.peers = parse_number(key, value, 1, 1024);
    } else {
      throw Failure{bad_usage, std::string(key) + ": unknown option, see --help"};
    }
  }
  if (options.chunks > options.elements) {
    throw Failure{bad_usage, "--chunks " + std::to_string(options.chunks) + ": more than the " +
                                 std::to_string(options.elements) + " elements"};
  }
  return options;
}

// ---------------------------------------------------------------------------------------- meeting

/// The peers of this machine, each a process, that take their samples at the same time. They count
/// in a file that all of them map.
class Meeting {
 public:
  explicit Meeting(const Options& options) : peers_(options.peers) {
    const auto failure = [&options] {
      return Failure{runtime_error, std::string(options.meet) + ": " + std::strerror(errno)};
    };
    const int file = open(options.meet, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) throw failure();
    void* memory = MAP_FAILED;
    if (ftruncate(file, sizeof *came_) == 0) {
      memory = mmap(nullptr, sizeof *came_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    close(file);
    if (memory == MAP_FAILED) throw failure();
    came_ = static_cast<std::atomic<std::int64_t>*>(memory);
  }
  Meeting(const Meeting&) = delete;
  ~Meeting() { munmap(came_, sizeof *came_); }

  /// Returns when all peers have come, and calls until_then() again and again before.
  template <typename Work>
  void wait(const Work& until_then) {
    const auto start = Clock::now();
    const std::int64_t all = ++meetings_ * peers_;
    for (++*came_; *came_ < all; until_then()) {
      if (Clock::now() - start > std::chrono::minutes(1)) {
        throw Failure{runtime_error, "another peer did not come within a minute"};
      }
    }
  }

 private:
  std::int64_t peers_;
  std::int64_t meetings_ = 0;
  std::atomic<std::int64_t>* came_ = nullptr;
};

// ----------------------------------------------------------------------------------------- kernel

enum class Arithmetic { none, once, repeated };

/// a[i] += 1, written as NVIDIA's sample does: sqrt(sin²(x) + cos²(x)) with x the global index.
/// `Index` is 32 bits wide where the array allows: converting 64-bit integers is slow on the SMs.
template <Arithmetic arithmetic, typename Index>
__global__ void increment(float* array, Index first, Index count, int intensity) {
  const Index local = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (local >= count) return;
  const Index i = first + local;
  if constexpr (arithmetic == Arithmetic::none) {
    array[i] += 1.0f;
  } else if constexpr (arithmetic == Arithmetic::once) {
    const float x = static_cast<float>(i);
    const float s = sinf(x);
    const float c = cosf(x);
    array[i] += sqrtf(s * s + c * c);
  } else {
    float v = 0.0f;
    for (int k = 0; k < intensity; ++k) {
      const float x = static_cast<float>(i) + static_cast<float>(k);
      const float s = sinf(x);
      const float c = cosf(x);
      v += sqrtf(s * s + c * c);
    }
    array[i] += v / static_cast<float>(intensity);
  }
}

// ----------------------------------------------------------------------------- data on the host

/// Value of element i before the increment: k * 2^-20 in [0, 1), different in every repetition.
/// (The mixing is the finalizer of MurmurHash3.)
float initial_value(std::int64_t i, std::uint32_t repetition) {
  auto h = static_cast<std::uint32_t>(i) ^ static_cast<std::uint32_t>(i >> 32) * 0x9e3779b9u;
  h += repetition * 0x85ebca77u;
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  h ^= h >> 16;
  return static_cast<float>(static_cast<std::int32_t>(h >> 12)) * 0x1p-20f;
}

/// Calls body(begin, end) on every core, each with its part of [0, count).
template <typename Body>
void on_all_cores(std::int64_t count, const Body& body) {
  const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const auto start_of = [=](std::int64_t core) {
    return count / cores * core + count % cores * core / cores;
  };
  std::vector<std::future<void>> parts;
  for (std::int64_t core = 0; core < cores; ++core) {
    parts.push_back(
        std::async(std::launch::async, std::cref(body), start_of(core), start_of(core + 1)));
  }
  for (std::future<void>& part : parts) part.get();
}

// ---------------------------------------------------------------------------------- the experiment

struct Chunk {
  std::int64_t first;  ///< in elements
  std::int64_t count;  ///< in elements
};

class Peer {
 public:
  /// `second_host`, `second_device`: whether a test needs a second buffer there.
  Peer(const Options& options, bool second_host, bool second_device)
      : elements_(options.elements),
        bytes_(static_cast<std::size_t>(options.elements) * sizeof(float)),
        intensity_(static_cast<int>(options.intensity)) {
    host_ = make_pinned_array(bytes_);
    device_ = make_device_array(bytes_);
    if (second_host) second_host_ = make_pinned_array(bytes_);
    if (second_device) second_device_ = make_device_array(bytes_);

    for (std::int64_t c = 0; c < options.chunks; ++c) {
      const std::int64_t first = elements_ * c / options.chunks;
      chunks_.push_back({first, elements_ * (c + 1) / options.chunks - first});
      copied_.push_back(make_event());
      computed_.push_back(make_event());
    }
    for (std::int64_t l = 0; l < std::min(options.lanes, options.chunks); ++l) {
      lanes_.push_back(make_stream());
    }
    for (Stream& engine : engines_) engine = make_stream();
    if (options.meet != nullptr) {
      load_host_ = make_pinned_array(2 * load_bytes);
      load_device_ = make_device_array(2 * load_bytes);
    }
  }

  /// Both directions of the link at work, on memory that no test uses.
  void load() {
    constexpr std::size_t half = load_bytes / sizeof(float);
    OVERLAP_CUDA(cudaMemcpyAsync(load_device_.get(), load_host_.get(), load_bytes,
                                 cudaMemcpyHostToDevice, engines_[0].get()));
    OVERLAP_CUDA(cudaMemcpyAsync(load_host_.get() + half, load_device_.get() + half, load_bytes,
                                 cudaMemcpyDeviceToHost, engines_[2].get()));
    wait_for(engines_);
  }

  /// When a test that began after `start` had issued its chunks, seconds after it; empty: it has
  /// none.
  std::optional<double> issuing_since(Clock::time_point start) const {
    if (!issued_ || *issued_ < start) return std::nullopt;
    return std::chrono::duration<double>(*issued_ - start).count();
  }

  // The tests, each as it is timed: issue, then wait.

  void sequential() {
    OVERLAP_CUDA(cudaMemcpy(device_.get(), host_.get(), bytes_, cudaMemcpyHostToDevice));
    launch({0, elements_}, nullptr);
    OVERLAP_CUDA(cudaMemcpy(host_.get(), device_.get(), bytes_, cudaMemcpyDeviceToHost));
  }

  void depth_first() {
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      copy_in(chunks_[c], lane(c));
      launch(chunks_[c], lane(c));
      copy_out(chunks_[c], lane(c));
    }
    wait_for(lanes_);
  }

  void breadth_first() {
    for (std::size_t c = 0; c < chunks_.size(); ++c) copy_in(chunks_[c], lane(c));
    for (std::size_t c = 0; c < chunks_.size(); ++c) launch(chunks_[c], lane(c));
    for (std::size_t c = 0; c < chunks_.size(); ++c) copy_out(chunks_[c], lane(c));
    wait_for(lanes_);
  }

  void by_engine() {
    const auto& [in, compute, out] = engines_;
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      copy_in(chunks_[c], in.get());
      OVERLAP_CUDA(cudaEventRecord(copied_[c].get(), in.get()));
      OVERLAP_CUDA(cudaStreamWaitEvent(compute.get(), copied_[c].get(), 0));
      launch(chunks_[c], compute.get());
      OVERLAP_CUDA(cudaEventRecord(computed_[c].get(), compute.get()));
      OVERLAP_CUDA(cudaStreamWaitEvent(out.get(), computed_[c].get(), 0));
      copy_out(chunks_[c], out.get());
    }
    wait_for(engines_);
  }

  void h2d() {
    const cudaStream_t in = engines_[0].get();
    copy_in({0, elements_}, in);
    OVERLAP_CUDA(cudaStreamSynchronize(in));
  }

  void d2h() {
    const cudaStream_t out = engines_[2].get();
    copy_out({0, elements_}, out);
    OVERLAP_CUDA(cudaStreamSynchronize(out));
  }

  void both() {
    const cudaStream_t in = engines_[0].get();
    const cudaStream_t out = engines_[2].get();
    copy_in({0, elements_}, in);
    OVERLAP_CUDA(cudaMemcpyAsync(second_host_.get(), second_device_.get(), bytes_,
                                 cudaMemcpyDeviceToHost, out));
    OVERLAP_CUDA(cudaStreamSynchronize(in));
    OVERLAP_CUDA(cudaStreamSynchronize(out));
  }

  void d2d() {
    const cudaStream_t compute = engines_[1].get();
    OVERLAP_CUDA(cudaMemcpyAsync(second_device_.get(), device_.get(), bytes_,
                                 cudaMemcpyDeviceToDevice, compute));
    OVERLAP_CUDA(cudaStreamSynchronize(compute));
  }

  void kernel() {
    const cudaStream_t compute = engines_[1].get();
    launch({0, elements_}, compute);
    OVERLAP_CUDA(cudaStreamSynchronize(compute));
  }

  // Around the tests, never timed. The array goes in and comes back in place, as in the sample.

  /// New data on the host, and nothing but NaNs on the device. What the processor has just written
  /// lies in its caches, and the first transfer over it is slower: an untimed one in each direction
  /// brings back the state of data at rest.
  void prepare(std::uint32_t repetition) {
    on_all_cores(elements_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) host_.get()[i] = initial_value(i, repetition);
    });
    copy_array_in();
    copy_array_out();
    OVERLAP_CUDA(cudaMemset(device_.get(), 0xFF, bytes_));
    OVERLAP_CUDA(cudaDeviceSynchronize());
  }

  void copy_array_in() {
    OVERLAP_CUDA(cudaMemcpy(device_.get(), host_.get(), bytes_, cudaMemcpyHostToDevice));
  }

  void copy_array_out() {
    OVERLAP_CUDA(cudaMemcpy(host_.get(), device_.get(), bytes_, cudaMemcpyDeviceToHost));
  }

  /// Largest distance of the host's array from what it has to hold; throws at the first wrong one.
  double verify(std::string_view test, std::uint32_t repetition) const {
    // sinf and cosf are right within 2 ulp, so one term is right within 4 ulp of 1 with all that is
    // rounded after; adding up N terms rounds each time, by N / 2 ulp of the mean at most.
    const double tolerance = (4.0 + 0.5 * intensity_) * std::numeric_limits<float>::epsilon();
    std::atomic<double> largest = 0.0;
    std::atomic<std::int64_t> first_wrong = elements_;
    on_all_cores(elements_, [&](std::int64_t begin, std::int64_t end) {
      double part = 0.0;
      for (std::int64_t i = begin; i < end; ++i) {
        const double error = std::abs(double{host_.get()[i]} - expected(i, repetition));
        if (!(error <= tolerance)) {  // written so that a NaN is wrong, too
          for (std::int64_t seen = first_wrong; i < seen;) {
            if (first_wrong.compare_exchange_weak(seen, i)) break;
          }
          return;
        }
        part = std::max(part, error);
      }
      for (double seen = largest; part > seen;) {
        if (largest.compare_exchange_weak(seen, part)) break;
      }
    });
    if (const std::int64_t i = first_wrong; i < elements_) {
      char text[160];
      std::snprintf(text, sizeof text, ", element %lld: expected %.9g, found %.9g",
                    static_cast<long long>(i), expected(i, repetition), double{host_.get()[i]});
      throw Failure{wrong_data, "wrong data: " + std::string(test) + ", round " +
                                    std::to_string(repetition) + ", chunk " +
                                    std::to_string(chunk_of(i)) + text};
    }
    return largest;
  }

 private:
  static double expected(std::int64_t i, std::uint32_t repetition) {
    return double{initial_value(i, repetition)} + 1.0;
  }

  std::size_t chunk_of(std::int64_t element) const {
    const auto after = std::upper_bound(
        chunks_.begin(), chunks_.end(), element,
        [](std::int64_t value, const Chunk& chunk) { return value < chunk.first; });
    return static_cast<std::size_t>(after - chunks_.begin()) - 1;
  }

  cudaStream_t lane(std::size_t chunk) const { return lanes_[chunk % lanes_.size()].get(); }

  void copy_in(Chunk chunk, cudaStream_t stream) {
    OVERLAP_CUDA(cudaMemcpyAsync(device_.get() + chunk.first, host_.get() + chunk.first,
                                 chunk.count * sizeof(float), cudaMemcpyHostToDevice, stream));
  }

  void copy_out(Chunk chunk, cudaStream_t stream) {
    OVERLAP_CUDA(cudaMemcpyAsync(host_.get() + chunk.first, device_.get() + chunk.first,
                                 chunk.count * sizeof(float), cudaMemcpyDeviceToHost, stream));
  }

  void launch(Chunk chunk, cudaStream_t stream) {
    // 32 bits must hold the index of every thread, those past the end in the last block included.
    if (elements_ < (std::int64_t{1} << 31) - block_size) {
      launch_with_index<std::int32_t>(chunk, stream);
    } else {
      launch_with_index<std::int64_t>(chunk, stream);
    }
  }

  template <typename Index>
  void launch_with_index(Chunk chunk, cudaStream_t stream) {
    auto* const chosen = intensity_ == 0   ? increment<Arithmetic::none, Index>
                         : intensity_ == 1 ? increment<Arithmetic::once, Index>
                                           : increment<Arithmetic::repeated, Index>;
    const auto blocks = static_cast<unsigned>((chunk.count + block_size - 1) / block_size);
    chosen<<<blocks, block_size, 0, stream>>>(device_.get(), static_cast<Index>(chunk.first),
                                              static_cast<Index>(chunk.count), intensity_);
    OVERLAP_CUDA(cudaGetLastError());
  }

  template <typename Streams>
  void wait_for(const Streams& streams) {
    issued_ = Clock::now();
    for (const Stream& stream : streams) OVERLAP_CUDA(cudaStreamSynchronize(stream.get()));
  }

  static constexpr int block_size = 256;
  static constexpr std::size_t load_bytes = std::size_t{32} << 20;  // in each direction

  std::int64_t elements_;
  std::size_t bytes_;
  int intensity_;
  std::optional<Clock::time_point> issued_;
  PinnedArray host_;
  PinnedArray second_host_;
  DeviceArray device_;
  DeviceArray second_device_;
  PinnedArray load_host_;  // of the two directions one after the other
  DeviceArray load_device_;
  std::vector<Chunk> chunks_;
  std::vector<Event> copied_;    // for each chunk: its copy to the device is done
  std::vector<Event> computed_;  // for each chunk: its kernel is done
  std::vector<Stream> lanes_;
  std::array<Stream, 3> engines_;  // copies in, kernels, copies out
};

// ----------------------------------------------------------------------------------------- tests

/// Where a test finds the array and leaves it; `nowhere`: it only moves bytes and is not verified.
enum class Data { nowhere, on_host, on_device };

struct Test {
  std::string_view name;
  void (Peer::*run)();  ///< issues the work and returns when it is done
  int passes;           ///< how many times the array's bytes are moved
  Data data;
  bool second_host;
  bool second_device;
};

constexpr std::array tests{
    Test{"sequential", &Peer::sequential, 2, Data::on_host, false, false},
    Test{"depth_first", &Peer::depth_first, 2, Data::on_host, false, false},
    Test{"breadth_first", &Peer::breadth_first, 2, Data::on_host, false, false},
    Test{"by_engine", &Peer::by_engine, 2, Data::on_host, false, false},
    Test{"h2d", &Peer::h2d, 1, Data::nowhere, false, false},
    Test{"d2h", &Peer::d2h, 1, Data::nowhere, false, false},
    Test{"both", &Peer::both, 2, Data::nowhere, true, true},
    Test{"d2d", &Peer::d2d, 2, Data::nowhere, false, true},
    Test{"kernel", &Peer::kernel, 2, Data::on_device, false, false},
};

struct Result {
  Test test;
  std::vector<double> samples_s;
  std::vector<double> issuing_s;  ///< of tests in chunks
  std::optional<double> max_error;
};

std::vector<Result> select(const std::vector<std::string_view>& only) {
  std::vector<Result> selected;
  for (const Test& test : tests) {
    if (only.empty() || std::find(only.begin(), only.end(), test.name) != only.end()) {
      selected.push_back({test, {}, {}, {}});
    }
  }
  for (const std::string_view name : only) {
    const auto has_name = [name](const Test& test) { return test.name == name; };
    if (std::none_of(tests.begin(), tests.end(), has_name)) {
      throw Failure{bad_usage, "--only " + std::string(name) + ": no such test, see --help"};
    }
  }
  return selected;
}

/// One run of one test in one round: prepares, times, verifies; together with others if there are.
void run(Peer& peer, Result& result, std::uint32_t round, bool counts, Meeting* others) {
  const Data data = result.test.data;
  if (data != Data::nowhere) {
    peer.prepare(round);
  } else {
    (peer.*result.test.run)();  // as prepare() does: what was verified last lies in the caches
  }
  if (data == Data::on_device) peer.copy_array_in();
  OVERLAP_CUDA(cudaDeviceSynchronize());

  if (others != nullptr) others->wait([] {});
  const auto start = Clock::now();
  (peer.*result.test.run)();
  const std::chrono::duration<double> time = Clock::now() - start;
  if (counts) {
    result.samples_s.push_back(time.count());
    if (const auto issuing_s = peer.issuing_since(start)) result.issuing_s.push_back(*issuing_s);
  }
  if (others != nullptr) others->wait([&peer] { peer.load(); });

  if (data == Data::on_device) peer.copy_array_out();
  if (data != Data::nowhere) {
    result.max_error =
        std::max(result.max_error.value_or(0.0), peer.verify(result.test.name, round));
  }
}

// ---------------------------------------------------------------------------------------- output

struct Device {
  std::string name;
  std::string uuid;
  int copy_engines;
};

Device find_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) throw Failure{no_precondition, cudaGetErrorString(error)};
  if (count == 0) throw Failure{no_precondition, "no CUDA device"};
  cudaDeviceProp properties;
  OVERLAP_CUDA(cudaGetDeviceProperties(&properties, 0));
  std::string uuid = "GPU";
  for (int b = 0; b < 16; ++b) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x",
                  static_cast<unsigned char>(properties.uuid.bytes[b]));
    if (b == 0 || b == 4 || b == 6 || b == 8 || b == 10) uuid += '-';
    uuid += digits;
  }
  return {properties.name, uuid, properties.asyncEngineCount};
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

double median_of_sorted(const std::vector<double>& sorted) {
  const std::size_t n = sorted.size();
  return 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
}

std::string to_json(const Result& result, double bytes) {
  std::vector<double> sorted = result.samples_s;
  std::sort(sorted.begin(), sorted.end());
  const double median_s = median_of_sorted(sorted);
  std::vector<double> issuing = result.issuing_s;
  std::sort(issuing.begin(), issuing.end());
  std::string samples;
  for (const double sample : result.samples_s) {
    samples += (samples.empty() ? "" : ", ") + number(sample);
  }
  const double moved = bytes * result.test.passes;
  return "{\"name\": " + quoted(result.test.name) + ", \"samples_s\": [" + samples +
         "], \"median_s\": " + number(median_s) + ", \"min_s\": " + number(sorted.front()) +
         ", \"max_s\": " + number(sorted.back()) + ", \"issuing_median_s\": " +
         (issuing.empty() ? std::string("null") : number(median_of_sorted(issuing))) +
         ", \"bytes\": " + std::to_string(static_cast<std::int64_t>(moved)) +
         ", \"gb_per_s\": " + number(moved / median_s * 1e-9) + ", \"max_error\": " +
         (result.max_error ? number(*result.max_error) : std::string("null")) + "}";
}

std::string to_json(const Device& device, const Options& options,
                    const std::vector<Result>& results) {
  const std::int64_t bytes = options.elements * static_cast<std::int64_t>(sizeof(float));
  std::string out =
      "{\n  \"program\": \"overlap_peer\",\n  \"device\": {\"name\": " + quoted(device.name) +
      ", \"uuid\": " + quoted(device.uuid) +
      ", \"copy_engines\": " + std::to_string(device.copy_engines) +
      "},\n  \"elements\": " + std::to_string(options.elements) +
      ",\n  \"bytes\": " + std::to_string(bytes) +
      ",\n  \"chunks\": " + std::to_string(options.chunks) +
      ",\n  \"lanes\": " + std::to_string(options.lanes) +
      ",\n  \"repetitions\": " + std::to_string(options.repetitions) +
      ",\n  \"warmup\": " + std::to_string(options.warmup) +
      ",\n  \"intensity\": " + std::to_string(options.intensity) + ",\n  \"results\": [";
  for (const Result& result : results) {
    out += (&result == &results.front() ? "\n    " : ",\n    ") +
           to_json(result, static_cast<double>(bytes));
  }
  return out + "\n  ]\n}\n";
}

void measure_and_print(const Options& options) {
  std::vector<Result> results = select(options.only);
  const auto needs = [&results](bool Test::* what) {
    return std::any_of(results.begin(), results.end(),
                       [what](const Result& result) { return result.test.*what; });
  };
  const Device device = find_device();
  Peer peer(options, needs(&Test::second_host), needs(&Test::second_device));
  std::optional<Meeting> others;
  if (options.meet != nullptr) others.emplace(options);

  for (std::int64_t round = 0; round < options.warmup + options.repetitions; ++round) {
    for (Result& result : results) {
      run(peer, result, static_cast<std::uint32_t>(round), round >= options.warmup,
          others ? &*others : nullptr);
    }
  }
  std::fputs(to_json(device, options, results).c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    if (options.help) {
      std::fputs(usage.data(), stdout);
    } else {
      measure_and_print(options);
    }
    if (std::fflush(stdout) != 0) throw Failure{runtime_error, "cannot write to stdout"};
    return pass;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "overlap_peer: %s\n", failure.text.c_str());
    return failure.code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "overlap_peer: %s\n", error.what());
    return runtime_error;
  }
}
