#include "lanes/range.hpp"

#include <Kokkos_Core.hpp>

#if defined(OVERLAP_NVTX)
#include <nvtx3/nvToolsExt.h>
#endif

namespace overlap::lanes {

namespace {

#if defined(OVERLAP_NVTX)

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("overlap");
  return domain;
}

void push(const char* name, std::int64_t number) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = number;
  nvtxDomainRangePushEx(domain(), &attributes);
}

void pop() { nvtxDomainRangePop(domain()); }

#else

void push(const char* /*name*/, std::int64_t /*number*/) {}
void pop() {}

#endif

}  // namespace

Range::Range(const char* name, std::int64_t number)
    : region_(Kokkos::Profiling::profileLibraryLoaded()) {
  if (region_) Kokkos::Profiling::pushRegion(name);
  push(name, number);
}

Range::~Range() {
  pop();
  if (region_) Kokkos::Profiling::popRegion();
}

}  // namespace overlap::lanes
