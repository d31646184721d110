#include <dlfcn.h>

#include <array>

#include "base/error.hpp"
#include "workload/kernel.hpp"
#include "workload/product.hpp"

#if defined(OVERLAP_KOKKOS_KERNELS)
#include <KokkosBlas3_gemm.hpp>
#include <utility>
#endif

namespace overlap::workload {

#if defined(OVERLAP_KOKKOS_KERNELS)

std::optional<std::string> unavailable(deck::WorkloadKind) { return std::nullopt; }

/// The library that KokkosBlas::gemm calls.
static std::string library([[maybe_unused]] bool host) {
#if defined(KOKKOSKERNELS_ENABLE_TPL_CUBLAS)
  if (!host) return "cuBLAS";
#elif defined(KOKKOSKERNELS_ENABLE_TPL_ROCBLAS)
  if (!host) return "rocBLAS";
#endif
#if defined(KOKKOSKERNELS_ENABLE_TPL_BLAS) || defined(KOKKOSKERNELS_ENABLE_TPL_MKL)
  if (host) return "the host's";
#endif
  return "none, a kernel of Kokkos Kernels instead";
}

template <class T>
void gemm(const InstanceRef& instance, const schedule::Product& product,
          const std::array<Byte*, 3>& arrays, double alpha, double beta) {
  instance.with([&]<class Space>(const Space& space) {
    const auto matrix = [&](std::size_t i, std::int64_t rows, std::int64_t columns) {
      using View =
          Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::Device<Space, typename Space::memory_space>,
                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
      const auto& [begin, stride] = product.matrices[i];
      return Kokkos::subview(
          View(reinterpret_cast<T*>(arrays[i] + begin), static_cast<std::size_t>(stride),
               static_cast<std::size_t>(columns)),
          std::pair<std::int64_t, std::int64_t>(0, rows), Kokkos::ALL);
    };
    KokkosBlas::gemm(space, "N", "N", static_cast<T>(alpha), matrix(0, product.m, product.k),
                     matrix(1, product.k, product.n), static_cast<T>(beta),
                     matrix(2, product.m, product.n));
  });
}

#else

std::optional<std::string> unavailable(deck::WorkloadKind kind) {
  if (kind != deck::WorkloadKind::dgemm) return std::nullopt;
  return "it was built without Kokkos Kernels";
}

static std::string library(bool) { return ""; }

template <class T>
void gemm(const InstanceRef&, const schedule::Product&, const std::array<Byte*, 3>&, double,
          double) {
  throw base::Error(base::ExitCode::skipped, "no matrix products in this program: " +
                                                 *unavailable(deck::WorkloadKind::dgemm));
}

#endif

template void gemm<float>(const InstanceRef&, const schedule::Product&, const std::array<Byte*, 3>&,
                          double, double);
template void gemm<double>(const InstanceRef&, const schedule::Product&,
                           const std::array<Byte*, 3>&, double, double);

namespace {

/// Limits OpenBLAS and MKL to the calling thread, for the rest of the process; returns whether one
/// of them is a shared library of this program.
bool use_one_blas_thread() {
  bool found = false;
  for (const char* const name : {"openblas_set_num_threads", "MKL_Set_Num_Threads"}) {
    const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, name));
    if (set == nullptr) continue;
    set(1);
    found = true;
  }
  return found;
}

template <class T>
void set_up_product(Workload& w, const deck::Workload& deck) {
  const auto pointers = [](const auto& arrays) {
    return std::array{arrays[0].data(), arrays[1].data(), arrays[2].data()};
  };
  const product::Problem<T> problem{deck.m, deck.n, deck.k, deck.alpha, deck.beta};
  w.launch = [device = pointers(w.device), problem](const InstanceRef& instance, const Call& call) {
    if (call.product) gemm<T>(instance, *call.product, device, problem.alpha, problem.beta);
  };
  w.compute_on_host = [host = pointers(w.host), problem](const Call& call) {
    gemm<T>(Kokkos::DefaultHostExecutionSpace(), *call.product, host, problem.alpha, problem.beta);
  };
  w.blas = library(on_host(w.space));
  // Lanes of Serial share the cores, one each; threads of the BLAS would be shared by all lanes.
  if (on_host(w.space) && concurrency(w.space) == 1 && use_one_blas_thread()) {
    w.blas += ", one thread per lane";
  }
  // Warm-up: the libraries must not initialize for this tile size during a run.
  const std::int64_t m = deck.tile_m;
  const schedule::Product first{
      .m = m, .n = deck.tile_n, .k = deck.k, .matrices = {{{0, m}, {0, deck.k}, {0, m}}}};
  std::visit(
      [&]<class Space>(std::type_identity<Space>) {
        const Space instance;
        gemm<T>(instance, first, pointers(w.device), 1, 0);
        instance.fence("overlap::dgemm");
      },
      w.space);

  fill_inputs_with<T>(w, [problem](std::int64_t i, std::uint32_t repetition, int array) {
    return problem.element(i, repetition, array);
  });
  w.verify = [c = w.host[2], problem](std::uint32_t repetition, std::int64_t) {
    return product::verify<T>(problem, c, repetition);
  };
}

}  // namespace

template <>
void set_up<deck::WorkloadKind::dgemm>(Workload& w, const deck::Workload& deck) {
  with_float(deck.type, [&](auto zero) { set_up_product<decltype(zero)>(w, deck); });
}

}  // namespace overlap::workload
