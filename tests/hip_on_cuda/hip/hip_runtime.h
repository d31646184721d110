#pragma once

// HIP's names that the project uses, as CUDA's. Names of functions are macros, as the sources pass
// functions on by name.
#include <cuda_runtime.h>

#include <cstring>

#define HIP_VERSION_MAJOR (CUDART_VERSION / 1000)
#define HIP_VERSION_MINOR (CUDART_VERSION % 1000 / 10)

using hipError_t = cudaError_t;
using hipStream_t = cudaStream_t;
using hipEvent_t = cudaEvent_t;
using hipGraph_t = cudaGraph_t;
using hipGraphExec_t = cudaGraphExec_t;
using hipMemcpyKind = cudaMemcpyKind;
using hipMemcpy3DParms = cudaMemcpy3DParms;
using hipPointerAttribute_t = cudaPointerAttributes;
struct hipDeviceProp_t : cudaDeviceProp {
  char gcnArchName[256];
};

#define hipSuccess cudaSuccess
#define hipErrorMemoryAllocation cudaErrorMemoryAllocation
#define hipErrorNotReady cudaErrorNotReady
#define hipGetLastError cudaGetLastError
#define hipGetErrorString cudaGetErrorString
#define hipGetErrorName cudaGetErrorName

#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipStreamDefault cudaStreamDefault
#define hipStreamPerThread cudaStreamPerThread
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStreamQuery cudaStreamQuery
#define hipStreamWaitEvent cudaStreamWaitEvent
#define hipEventDisableTiming cudaEventDisableTiming
#define hipEventDefault cudaEventDefault
#define hipEventCreateWithFlags cudaEventCreateWithFlags
#define hipEventDestroy cudaEventDestroy
#define hipEventRecord cudaEventRecord
#define hipEventSynchronize cudaEventSynchronize
#define hipEventQuery cudaEventQuery
#define hipEventElapsedTime cudaEventElapsedTime
#define hip_stream cuda_stream  // of an instance
#define hip_device cuda_device

#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipMemcpy cudaMemcpy
#define hipMemcpy2DAsync cudaMemcpy2DAsync
#define hipMemcpy3DAsync cudaMemcpy3DAsync
#define hipMemset cudaMemset
#define hipMemsetAsync cudaMemsetAsync

#define hipStreamCaptureModeRelaxed cudaStreamCaptureModeRelaxed
#define hipStreamBeginCapture cudaStreamBeginCapture
#define hipStreamEndCapture cudaStreamEndCapture
#define hipGraphDestroy cudaGraphDestroy
#define hipGraphInstantiateWithFlags cudaGraphInstantiateWithFlags
#define hipGraphExecDestroy cudaGraphExecDestroy
#define hipGraphUpload cudaGraphUpload
#define hipGraphLaunch cudaGraphLaunch

#define hipMalloc cudaMalloc
#define hipFree cudaFree
#define hipHostFree cudaFreeHost
#define hipHostMalloc cudaHostAlloc
#define hipHostMallocDefault cudaHostAllocDefault
#define hipHostRegister cudaHostRegister
#define hipHostRegisterDefault cudaHostRegisterDefault
#define hipHostUnregister cudaHostUnregister
#define hipHostGetDevicePointer cudaHostGetDevicePointer
#define hipMemoryTypeHost cudaMemoryTypeHost
#define hipPointerGetAttributes cudaPointerGetAttributes
#define hipMemGetInfo cudaMemGetInfo
#define hipCpuDeviceId cudaCpuDeviceId

#define hipGetDevice cudaGetDevice
#define hipSetDevice cudaSetDevice
#define hipGetDeviceCount cudaGetDeviceCount
#define hipDeviceGetPCIBusId cudaDeviceGetPCIBusId
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipDeviceSetCacheConfig cudaDeviceSetCacheConfig
#define hipFuncCachePreferShared cudaFuncCachePreferShared
#define hipFuncCachePreferL1 cudaFuncCachePreferL1
#define hipFuncCachePreferNone cudaFuncCachePreferNone

inline hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  std::strcpy(properties->gcnArchName, "gfx000:none");
  return cudaGetDeviceProperties(properties, device);
}

inline hipError_t hipMemPrefetchAsync(const void* begin, std::size_t bytes, int device,
                                      hipStream_t stream) {
#if CUDART_VERSION >= 13000
  const bool host = device == cudaCpuDeviceId;
  const cudaMemLocation place = {host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                                 host ? 0 : device};
  return cudaMemPrefetchAsync(begin, bytes, place, 0, stream);
#else
  return cudaMemPrefetchAsync(begin, bytes, device, stream);
#endif
}
