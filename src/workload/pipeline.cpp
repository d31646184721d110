#include "workload/check.hpp"
#include "workload/data.hpp"

namespace overlap::workload {
namespace {

/// One of the two operations of seed 001: c = a + u b (operation1) or c = a - u b (operation2) with
/// u = 1, computed with the arithmetic of the seeds on the position of the element.
template <class T>
struct Operation {
  Kokkos::View<const T*, Space> a, b;
  Kokkos::View<T*, Space> c;
  std::int64_t first;
  int repeats;
  T sign;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const T u = sin_cos_one(static_cast<T>(first + i), repeats);
    c(i) = a(i) + sign * u * b(i);
  }
};

template <class T>
void set_up_pipeline(const Setup& setup) {
  Workload& w = setup.workload;
  std::vector<Buffers<T>> arrays;  // a, b and c of each operation
  std::vector<HostData<T>> inputs;
  for (std::size_t i = 0; i < w.arrays.size(); ++i) {
    arrays.push_back(setup.array<T>(i));
    if (w.arrays[i].to_device) inputs.push_back(arrays.back().host);
  }
  w.launch = [arrays](const Space& instance, const Call& call) {
    const auto* const array = &arrays[3 * static_cast<std::size_t>(call.op)];
    const auto a = array[0].chunk(call), b = array[1].chunk(call), c = array[2].chunk(call);
    const bool adds = call.op == 0;
    for_parts(std::ssize(c), [&](std::int64_t begin, std::int64_t end) {
      Kokkos::parallel_for(
          adds ? "overlap::pipeline::operation1" : "overlap::pipeline::operation2",
          RangePolicy(instance, begin, end),
          Operation<T>{a, b, c, call.begin, static_cast<int>(call.repeats), adds ? T(1) : T(-1)});
    });
  };
  fill_inputs_with<T>(w, inputs, [](auto... place) { return value<T>(place...); });
  w.verify = [arrays](std::uint32_t repetition, std::int64_t repeats) {
    Verification result;
    // Product and sum are below 1: each rounding is at most half an epsilon.
    const double tolerance = std::numeric_limits<T>::epsilon() + sin_cos_one_tolerance<T>(repeats);
    for (const int op : {0, 1}) {
      add(result, compare(arrays[static_cast<std::size_t>(3 * op + 2)].host, [=](std::int64_t i) {
            const std::int64_t a = integer_value<T>(i, repetition, 3 * op);
            const std::int64_t b = integer_value<T>(i, repetition, 3 * op + 1);
            return Expected<T>{static_cast<double>(op == 0 ? a + b : a - b) * data_scale<T>,
                               tolerance};
          }));
    }
    return result;
  };
}

}  // namespace

template <>
void set_up<deck::WorkloadKind::pipeline>(const Setup& setup) {
  setup.deck.type == deck::ElementType::float32 ? set_up_pipeline<float>(setup)
                                                : set_up_pipeline<double>(setup);
}

}  // namespace overlap::workload
