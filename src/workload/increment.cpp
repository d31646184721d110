#include "workload/check.hpp"
#include "workload/increment_box.hpp"

/// a[i] += 1, where 1 is computed as in seeds 000 and 002: sqrt(sin(i)^2 + cos(i)^2).
///
/// The array exists twice: in host memory, and on the device, which may hold fewer chunks. A lane
/// is an execution-space instance, such as a CUDA stream. For each chunk it runs
///
///     Kokkos::deep_copy(lane, chunk of a.device, chunk of a.host);  // Buffers::copy()
///     Kokkos::parallel_for(label, RangePolicy(lane, 0, size), Increment);  // launch, below
///     Kokkos::deep_copy(lane, chunk of a.host, chunk of a.device);
///
/// where separate lines, prefetch and zero copy have other copies or none. Copies and kernels on
/// one instance run in order; those on several can overlap.
namespace overlap::workload {
namespace {

template <class T>
struct Increment {
  Kokkos::View<T*, Space> chunk;
  std::int64_t first;  ///< position of chunk(0) in the whole array
  int repeats;         ///< of the arithmetic, which makes the kernel longer

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    chunk(i) += sin_cos_one(static_cast<T>(first + i), repeats);
  }
};

template <class T>
void set_up_increment(const Setup& setup) {
  Workload& w = setup.workload;
  const Buffers<T> a = setup.array<T>(0);
  w.unit_elements = a.unit_elements;
  w.launch = [a](const Space& instance, const Call& call) {
    const Kokkos::View<T*, Space> chunk = a.chunk(call);
    for_parts(std::ssize(chunk), [&](std::int64_t begin, std::int64_t end) {
      Kokkos::parallel_for("overlap::increment::increment", RangePolicy(instance, begin, end),
                           Increment<T>{chunk, a.first(call), static_cast<int>(call.repeats)});
    });
  };
  if (setup.deck.box) w.launch = launch_box(a, *setup.deck.box);
  fill_inputs_with<T>(w, {a.host}, [](auto... place) { return value<T>(place...); });
  w.verify = [host = a.host](std::uint32_t repetition, std::int64_t repeats) {
    // Adds one rounding of a sum below 2 to the error of the arithmetic.
    const double tolerance = std::numeric_limits<T>::epsilon() + sin_cos_one_tolerance<T>(repeats);
    return compare(host, [=](std::int64_t i) {
      const auto start = static_cast<double>(integer_value<T>(i, repetition, 0)) * data_scale<T>;
      return Expected<T>{start + 1, tolerance};
    });
  };
}

}  // namespace

template <>
void set_up<deck::WorkloadKind::increment>(const Setup& setup) {
  setup.deck.type == deck::ElementType::float32 ? set_up_increment<float>(setup)
                                                : set_up_increment<double>(setup);
}

}  // namespace overlap::workload
