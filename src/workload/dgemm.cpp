#include <dlfcn.h>

#include <array>
#include <bit>

#include "base/error.hpp"
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

/// gemm(), on the device or on the host.
template <class Instance, class T>
static void multiply(const Instance& instance, const schedule::TileProduct& product,
                     const std::array<T*, 3>& arrays, int beta) {
  const auto matrix = [&](std::size_t i, std::int64_t rows, std::int64_t columns) {
    const auto& [begin, stride] = product.matrices[i];
    const Kokkos::View<T**, Kokkos::LayoutLeft, Instance> panel(arrays[i] + begin / sizeof(T),
                                                                static_cast<std::size_t>(stride),
                                                                static_cast<std::size_t>(columns));
    return Kokkos::subview(panel, std::pair<std::int64_t, std::int64_t>(0, rows), Kokkos::ALL);
  };
  KokkosBlas::gemm(instance, "N", "N", T{1}, matrix(0, product.m, product.k),
                   matrix(1, product.k, product.n), static_cast<T>(beta),
                   matrix(2, product.m, product.n));
}

#else

std::optional<std::string> unavailable(deck::WorkloadKind kind) {
  if (kind != deck::WorkloadKind::dgemm) return std::nullopt;
  return "it was built without Kokkos Kernels";
}

static std::string library(bool) { return ""; }

template <class Instance, class T>
static void multiply(const Instance&, const schedule::TileProduct&, const std::array<T*, 3>&, int) {
  throw base::Error(base::ExitCode::skipped, "no matrix products in this program: " +
                                                 *unavailable(deck::WorkloadKind::dgemm));
}

#endif

template <class T>
void gemm(const Space& instance, const schedule::TileProduct& product,
          const std::array<T*, 3>& arrays, int beta) {
  multiply(instance, product, arrays, beta);
}
template void gemm<float>(const Space&, const schedule::TileProduct&, const std::array<float*, 3>&,
                          int);
template void gemm<double>(const Space&, const schedule::TileProduct&,
                           const std::array<double*, 3>&, int);

namespace {

/// Limits OpenBLAS and MKL to the calling thread, for the rest of the process; returns whether one
/// of them is a shared library of this program.
bool use_one_blas_thread() {
  bool is_shared = false;
  for (const char* const name : {"openblas_set_num_threads", "MKL_Set_Num_Threads"}) {
    const auto set = std::bit_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, name));
    if (set == nullptr) continue;
    set(1);
    is_shared = true;
  }
  return is_shared;
}

template <class T>
void set_up_product(const Setup& setup) {
  Workload& w = setup.workload;
  const deck::Workload& deck = setup.deck;
  const std::array abc = {setup.array<T>(0), setup.array<T>(1), setup.array<T>(2)};
  const product::Problem<T> problem{deck.m, deck.n, deck.k, static_cast<int>(deck.beta)};
  const auto on_device = [abc] {
    return std::array{abc[0].device.data(), abc[1].device.data(), abc[2].device.data()};
  };
  w.launch = [on_device, problem](const Space& instance, const Call& call) {
    if (call.product) gemm<T>(instance, *call.product, on_device(), problem.beta);
  };
  w.compute_on_host = [abc, problem](const Call& call) {
    const std::array on_host = {abc[0].host.memory.data(), abc[1].host.memory.data(),
                                abc[2].host.memory.data()};
    multiply(Kokkos::DefaultHostExecutionSpace(), *call.product, on_host, problem.beta);
  };
  w.blas = library(is_host);
  // Lanes of Serial share the cores, one each; threads of the BLAS would be shared by all lanes.
  if (is_host && Space().concurrency() == 1 && use_one_blas_thread()) {
    w.blas += ", one thread per lane";
  }
  // Warm-up: the libraries must not initialize for this tile size during a run.
  const std::int64_t m = deck.tile_m;
  const schedule::TileProduct first{
      .m = m, .n = deck.tile_n, .k = deck.k, .matrices = {{{0, m}, {0, deck.k}, {0, m}}}};
  const Space instance;
  gemm<T>(instance, first, on_device(), 0);
  instance.fence("overlap::dgemm");

  std::vector<HostData<T>> inputs;
  for (const auto& array : abc) {
    if (w.arrays[static_cast<std::size_t>(array.host.number)].to_device)
      inputs.push_back(array.host);
  }
  fill_inputs_with<T>(w, inputs, [problem](std::int64_t i, std::uint32_t repetition, int array) {
    return problem.element(i, repetition, array);
  });
  w.verify = [c = abc[2].host, problem](std::uint32_t repetition, std::int64_t) {
    return product::verify<T>(problem, c, repetition);
  };
}

}  // namespace

template <>
void set_up<deck::WorkloadKind::dgemm>(const Setup& setup) {
  setup.deck.type == deck::ElementType::float32 ? set_up_product<float>(setup)
                                                : set_up_product<double>(setup);
}

}  // namespace overlap::workload
