#include "lanes/range.hpp"

#include <Kokkos_Core.hpp>

#if defined(OVERLAP_NVTX)
#include <nvtx3/nvToolsExt.h>
#endif

namespace overlap::lanes {

#if defined(OVERLAP_NVTX)
namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("overlap");
  return domain;
}

}  // namespace
#endif

ProfilerRange::ProfilerRange(const char* name, [[maybe_unused]] std::int64_t number)
    : region_(Kokkos::Profiling::profileLibraryLoaded()) {
  if (region_) Kokkos::Profiling::pushRegion(name);
#if defined(OVERLAP_NVTX)
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = number;
  nvtxDomainRangePushEx(domain(), &attributes);
#endif
}

ProfilerRange::~ProfilerRange() {
#if defined(OVERLAP_NVTX)
  nvtxDomainRangePop(domain());
#endif
  if (region_) Kokkos::Profiling::popRegion();
}

}  // namespace overlap::lanes
