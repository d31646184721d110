#include "workload/gemm.hpp"

#if defined(OVERLAP_KOKKOS_KERNELS)
#include <KokkosBlas3_gemm.hpp>
#include <utility>
#else
#include <string>

#include "base/error.hpp"
#endif

namespace overlap::workload {

#if defined(OVERLAP_KOKKOS_KERNELS)

const char* why_no_gemm() { return nullptr; }

namespace {

template <class Space, class T>
void multiply(const Space& instance, const Gemm<T>& product) {
  const auto view = [](const auto& matrix, std::int64_t rows, std::int64_t columns) {
    using Element = std::remove_reference_t<decltype(*matrix.data)>;
    using View = Kokkos::View<Element**, Kokkos::LayoutLeft,
                              Kokkos::Device<Space, typename Space::memory_space>,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    return Kokkos::subview(View(matrix.data, static_cast<std::size_t>(matrix.stride),
                                static_cast<std::size_t>(columns)),
                           std::pair<std::int64_t, std::int64_t>(0, rows), Kokkos::ALL);
  };
  KokkosBlas::gemm(instance, "N", "N", product.alpha, view(product.a, product.m, product.k),
                   view(product.b, product.k, product.n), product.beta,
                   view(product.c, product.m, product.n));
}

}  // namespace

#else

const char* why_no_gemm() { return "it was built without Kokkos Kernels"; }

namespace {

template <class Space, class T>
void multiply(const Space&, const Gemm<T>&) {
  throw base::Error(base::ExitCode::skipped,
                    std::string("no matrix products in this program: ") + why_no_gemm());
}

}  // namespace

#endif

void gemm(const InstanceRef& instance, const Gemm<float>& product) {
  instance.with([&](const auto& space) { multiply(space, product); });
}

void gemm(const InstanceRef& instance, const Gemm<double>& product) {
  instance.with([&](const auto& space) { multiply(space, product); });
}

}  // namespace overlap::workload
