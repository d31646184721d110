#include "workload/arithmetic.hpp"
#include "workload/check.hpp"
#include "workload/kernel.hpp"

namespace overlap::workload {
namespace {

/// a[i] += 1, plain or with the arithmetic of the seeds on the position of the element.
template <class T, Repeats known>
struct Increment {
  T* a;                ///< first element of the chunk on the device
  std::int64_t first;  ///< its position in the whole array
  int repeats;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    a[i] += unit<known>(static_cast<T>(first + i), repeats);
  }
};

template <class T>
void set_up_increment(Workload& w) {
  const auto unit = static_cast<std::int64_t>(w.arrays[0].unit_bytes / sizeof(T));
  w.unit_elements = unit;
  w.launch = [a = operand<T>(w, 0, unit), unit](const InstanceRef& instance, const Call& call) {
    with_known(call.repeats, [&](auto known) {
      enqueue("overlap::increment::increment", instance, call.size * unit,
              Increment<T, known()>{a(call), call.begin * unit, static_cast<int>(call.repeats)});
    });
  };
  fill_inputs_with<T>(w, [](auto... place) { return value<T>(place...); });
  w.verify = [host = w.host[0]](std::uint32_t repetition, std::int64_t repeats) {
    // Adds one rounding of a sum below 2 to the error of the arithmetic.
    const double tolerance = std::numeric_limits<T>::epsilon() + unit_tolerance<T>(repeats);
    return compare<T>(host, "a", [=](std::int64_t i) {
      const auto start = static_cast<double>(whole_value<T>(i, repetition, 0)) * data_scale<T>;
      return Expected<T>{start + 1, tolerance};
    });
  };
}

}  // namespace

template <>
void set_up<deck::WorkloadKind::increment>(Workload& w, const deck::Workload& deck) {
  with_float(deck.type, [&](auto zero) { set_up_increment<decltype(zero)>(w); });
}

}  // namespace overlap::workload
