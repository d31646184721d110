#include "workload/check.hpp"
#include "workload/increment_box.hpp"

/// a[i] += 1, where 1 is computed as in seeds 000 and 002: sqrt(sin(i)^2 + cos(i)^2).
///
/// The array exists twice: a.device is a Kokkos::View in device memory, a.host its mirror in host
/// memory. For each chunk, a lane copies a part of the mirror to the device (Kokkos::deep_copy, but
/// for strided sections, prefetch and zero copy), calls `launch`, and copies the
/// part back. A lane is an execution-space instance, such as a CUDA stream. Copies and kernels on
/// one instance run in order; those on several can overlap.
namespace overlap::workload {
namespace {

template <class Space, class T, Repeats kind>
struct Increment {
  Kokkos::View<T*, Space> chunk;
  std::int64_t first;  ///< position of chunk(0) in the whole array
  int repeats;         ///< of the arithmetic, which makes the kernel longer

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    chunk(i) += sin_cos_one<kind>(static_cast<T>(first + i), repeats);
  }
};

template <class Space, class T>
void set_up_increment(const Setup& setup) {
  Workload& w = setup.workload;
  const auto a = setup.array<Space, T>(0);
  w.unit_elements = a.unit_elements;
  w.launch = [a](const Space& instance, const Call& call) {
    const auto chunk = a.chunk(call);  // a subview of a.device
    with_repeats(call.repeats, [&](auto kind) {
      enqueue("overlap::increment::increment", instance, std::ssize(chunk),  // Kokkos::parallel_for
              Increment<Space, T, kind()>{chunk, a.first(call), static_cast<int>(call.repeats)});
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
  with_float(setup, [&]<class Space, class T>() { set_up_increment<Space, T>(setup); });
}

}  // namespace overlap::workload
