#include "workload/arithmetic.hpp"
#include "workload/check.hpp"
#include "workload/kernel.hpp"

namespace overlap::workload {
namespace {

/// One of the two operations of seed 001: c = a + u b (operation1) or c = a - u b (operation2) with
/// u = 1, computed with the arithmetic of the seeds on the position of the element.
template <class T, Repeats known>
struct Operation {
  const T* a;
  const T* b;
  T* c;
  std::int64_t first;
  int repeats;
  T sign;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const T u = unit<known>(static_cast<T>(first + i), repeats);
    c[i] = a[i] + sign * u * b[i];
  }
};

template <class T>
void set_up_pipeline(Workload& w) {
  std::vector<decltype(operand<T>(w, 0))> operands;
  for (std::size_t i = 0; i < w.arrays.size(); ++i) operands.push_back(operand<T>(w, i));
  w.launch = [operands](const InstanceRef& instance, const Call& call) {
    const auto* const array = &operands[3 * static_cast<std::size_t>(call.op)];
    with_known(call.repeats, [&](auto known) {
      enqueue(call.op == 0 ? "overlap::pipeline::operation1" : "overlap::pipeline::operation2",
              instance, call.size,
              Operation<T, known()>{array[0](call), array[1](call), array[2](call), call.begin,
                                    static_cast<int>(call.repeats), call.op == 0 ? T(1) : T(-1)});
    });
  };
  fill_inputs_with<T>(w, [](auto... place) { return value<T>(place...); });
  w.verify = [host = w.host, names = w.arrays](std::uint32_t repetition, std::int64_t repeats) {
    Verification result;
    // Product and sum are below 1: each rounding is at most half an epsilon.
    const double tolerance = std::numeric_limits<T>::epsilon() + unit_tolerance<T>(repeats);
    for (const int op : {0, 1}) {
      const auto c = static_cast<std::size_t>(3 * op + 2);
      add(result, compare<T>(host[c], names[c].name, [=](std::int64_t i) {
            const std::int64_t a = whole_value<T>(i, repetition, 3 * op);
            const std::int64_t b = whole_value<T>(i, repetition, 3 * op + 1);
            return Expected<T>{static_cast<double>(op == 0 ? a + b : a - b) * data_scale<T>,
                               tolerance};
          }));
    }
    return result;
  };
}

}  // namespace

template <>
void set_up<deck::WorkloadKind::pipeline>(Workload& w, const deck::Workload& deck) {
  with_float(deck.type, [&](auto zero) { set_up_pipeline<decltype(zero)>(w); });
}

}  // namespace overlap::workload
