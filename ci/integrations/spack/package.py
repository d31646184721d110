from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage


class Overlap(CMakePackage, CudaPackage, ROCmPackage):
    """Kokkos mini-app that measures how well host-device transfers overlap with kernels, and judges the result."""

    # Stand-ins: the repository that your site builds from.
    homepage = "https://example.org/overlap"
    git = "https://example.org/overlap.git"

    license("Apache-2.0 WITH LLVM-exception")

    version("main", branch="main")

    variant("kernels", default=True, description="Matrix products with Kokkos Kernels")
    variant("mpi", default=True, description="All devices of a node or a machine as one fleet")
    variant("tests", default=False, description="Build the tests")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("kokkos@4.5:5.2")
    depends_on("kokkos-kernels@4.5:5.2", when="+kernels")
    depends_on("yaml-cpp@0.7:")
    depends_on("fmt@9:")
    depends_on("cli11@2.1:")
    depends_on("nlohmann-json@3.11:")
    depends_on("pugixml@1.13:")
    depends_on("mpi", when="+mpi")
    depends_on("hwloc@2:", when="+mpi")
    depends_on("pkgconfig", type="build", when="+mpi")
    depends_on("googletest@1.12: +gmock", when="+tests")
    depends_on("python", type="test", when="+tests")

    # Products run on the vendor's library only if Kokkos Kernels links it.
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos +cuda cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
        depends_on(f"kokkos-kernels +cuda +cublas cuda_arch={arch}", when=f"+kernels +cuda cuda_arch={arch}")
    for target in ROCmPackage.amdgpu_targets:
        depends_on(f"kokkos +rocm amdgpu_target={target}", when=f"+rocm amdgpu_target={target}")
    depends_on("kokkos-kernels +rocblas", when="+kernels +rocm")
    requires("^kokkos +cuda_lambda", when="+cuda ^kokkos@:4")  # later versions always have it

    conflicts("+cuda", when="+rocm")
    conflicts("+cuda", when="cuda_arch=none")

    def cmake_args(self):
        args = [
            self.define_from_variant("OVERLAP_MPI", "mpi"),
            self.define_from_variant("OVERLAP_TESTS", "tests"),
            self.define_from_variant("OVERLAP_REQUIRE_CUDA", "cuda"),
            self.define_from_variant("OVERLAP_REQUIRE_HIP", "rocm"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_KokkosKernels", "~kernels" in self.spec),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        if self.spec.satisfies("+rocm"):
            args.append(self.define("CMAKE_CXX_COMPILER", self.spec["hip"].hipcc))
        return args
