# Libraries that need Kokkos.
overlap_library(workload overlap::experiment Kokkos::kokkos)
if(Kokkos_ENABLE_CUDA AND Kokkos_VERSION VERSION_LESS 5)
  # From 12.9 on, nvcc places what follows a view in a functor elsewhere than the host compiler does, if members of views
  # are [[no_unique_address]]. Later versions of Kokkos leave that out (kokkos/kokkos#8615).
  target_compile_definitions(
    overlap_workload PUBLIC MDSPAN_IMPL_NO_UNIQUE_ADDRESS= MDSPAN_IMPL_USE_ATTRIBUTE_NO_UNIQUE_ADDRESS=1
                            MDSPAN_IMPL_USE_FAKE_ATTRIBUTE_NO_UNIQUE_ADDRESS)
endif()
set_source_files_properties(workload/workload.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON) # as above
if(KokkosKernels_FOUND)
  target_link_libraries(overlap_workload PRIVATE KokkosKernels::all_libs)
  target_compile_definitions(overlap_workload PRIVATE OVERLAP_KOKKOS_KERNELS)
endif()

overlap_library(lanes overlap::workload ${OVERLAP_GPU_RUNTIME} ${CMAKE_DL_LIBS})
# Tasks' times on the device; the library itself is loaded when a run is traced.
if(Kokkos_ENABLE_CUDA AND TARGET CUDA::cupti)
  target_include_directories(overlap_lanes
                             PRIVATE $<TARGET_PROPERTY:CUDA::cupti,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(
    overlap_lanes PRIVATE OVERLAP_CUPTI="${CUDA_cupti_LIBRARY}"
                          OVERLAP_CUPTI_SONAME="libcupti.so.${CUDAToolkit_VERSION_MAJOR}")
endif()
# Names for profilers; header only.
if(Kokkos_ENABLE_CUDA AND TARGET CUDA::nvtx3)
  target_link_libraries(overlap_lanes PRIVATE CUDA::nvtx3)
  target_compile_definitions(overlap_lanes PRIVATE OVERLAP_NVTX)
endif()

overlap_library(measure overlap::lanes)
set(platform host)
if(OVERLAP_GPU)
  string(TOLOWER ${OVERLAP_GPU} platform)
  target_sources(overlap_measure PRIVATE measure/platform_gpu.cpp)
endif()
target_sources(overlap_measure
               PRIVATE measure/platform_${platform}.cpp measure/platform_nvml.cpp
                       measure/platform_sysfs.cpp) # tested without a GPU, too
if(KokkosKernels_FOUND)
  target_compile_definitions(overlap_measure
                             PRIVATE OVERLAP_KOKKOS_KERNELS_VERSION="${OVERLAP_KOKKOS_KERNELS_VERSION}")
endif()
