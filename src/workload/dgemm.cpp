#include "workload/freivalds.hpp"
#include "workload/gemm.hpp"
#include "workload/kernel.hpp"

namespace overlap::workload {
namespace {

template <class T>
void set_up(Workload& w, const deck::Workload& deck) {
  std::array<Byte*, 3> device;
  std::array<Byte*, 3> host;
  for (std::size_t i = 0; i < device.size(); ++i) {
    device[i] = w.device[i].data();
    host[i] = w.host[i].data();
  }
  const double alpha = deck.alpha;
  const double beta = deck.beta;
  w.launch = [=](const InstanceRef& instance, const Call& call) {
    if (call.product) gemm(instance, gemm_of<T>(*call.product, device, alpha, beta));
  };
  w.compute_on_host = [=](const Call& call) {
    gemm(Kokkos::DefaultHostExecutionSpace(), gemm_of<T>(*call.product, host, alpha, beta));
  };
  // What the first product of a tile's size sets up must not be set up during a run.
  const std::int64_t m = deck.tile_m;
  schedule::Product first{.m = m, .n = deck.tile_n, .k = deck.k, .matrices = {}};
  first.matrices[0].stride = first.matrices[2].stride = m;
  first.matrices[1].stride = deck.k;
  with_space(w.space, [&](auto space) {
    const typename decltype(space)::type instance;
    gemm(instance, gemm_of<T>(first, device, 1, 0));
    instance.fence("overlap::dgemm");
  });

  const product::Problem<T> problem{deck.m, deck.n, deck.k, alpha, beta};
  w.generate = [arrays = w.host, problem](std::uint32_t repetition) {
    const int last = problem.beta != 0 ? 2 : 1;
    for (int array = 0; array <= last; ++array) {
      fill<T>(arrays[static_cast<std::size_t>(array)],
              [=](std::int64_t i) { return problem.element(i, repetition, array); });
    }
  };
  w.verify = [c = w.host[2], problem](std::uint32_t repetition, std::int64_t) {
    return product::verify<T>(problem, elements<const T>(c), repetition);
  };
}

}  // namespace

template <>
void set_up<deck::WorkloadKind::dgemm>(Workload& w, const deck::Workload& deck) {
  with_float(deck.type, [&](auto zero) { set_up<decltype(zero)>(w, deck); });
}

}  // namespace overlap::workload
