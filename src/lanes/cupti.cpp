#include "lanes/stream_trace.hpp"

#if defined(OVERLAP_CUPTI)

#include <cupti.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace overlap::lanes {
namespace {

/// Times of a copy or kernel, with the correlation id of its launch.
struct CuptiRecord {
  std::uint32_t correlation;
  std::uint64_t start_ns;
  std::uint64_t stop_ns;
};

/// Records from CUPTI callbacks; global, because these callbacks have no user data.
struct Records {
  std::mutex mutex;
  std::vector<CuptiRecord> list;
};
Records& records() {
  static Records records;
  return records;
}
std::vector<CuptiRecord> take_records() {
  const std::scoped_lock lock(records().mutex);
  return std::exchange(records().list, {});
}

/// The CUPTI functions in use.
struct Functions {
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiActivityGetNextRecord) next = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiEnableDomain) enable_domain = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  bool complete = false;  ///< all functions were found

  Functions() {
    void* library = nullptr;  // never closed: CUPTI lives until the process ends
    for (const char* name : {OVERLAP_CUPTI, OVERLAP_CUPTI_SONAME, "libcupti.so"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    complete = library != nullptr && find(enable, "cuptiActivityEnable") &&
               find(disable, "cuptiActivityDisable") &&
               find(register_callbacks, "cuptiActivityRegisterCallbacks") &&
               find(flush, "cuptiActivityFlushAll") && find(next, "cuptiActivityGetNextRecord") &&
               find(subscribe, "cuptiSubscribe") && find(unsubscribe, "cuptiUnsubscribe") &&
               find(enable_domain, "cuptiEnableDomain") && find(timestamp, "cuptiGetTimestamp");
  }
};
const Functions& functions() {
  static const Functions functions;
  return functions;
}

void CUPTIAPI request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  constexpr std::size_t bytes = std::size_t{1} << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, bytes));
  *size = *buffer == nullptr ? 0 : bytes;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid_bytes) {
  const std::scoped_lock lock(records().mutex);
  CUpti_Activity* record = nullptr;
  // Later versions of these structures only append fields. A time of 0 means not recorded.
  const auto add = [](const auto& activity) {
    if (activity.end == 0) return;
    records().list.push_back({activity.correlationId, activity.start, activity.end});
  };
  try {
    while (functions().next(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
      if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        add(*reinterpret_cast<const CUpti_ActivityMemcpy*>(record));
      } else if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        add(*reinterpret_cast<const CUpti_ActivityKernel4*>(record));
      }
    }
  } catch (const std::bad_alloc&) {  // exceptions must not propagate into CUPTI: drop the records
  }
  std::free(buffer);
}

constexpr CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};

void end_recording(void* subscriber) {
  for (const CUpti_ActivityKind kind : kinds) functions().disable(kind);
  functions().unsubscribe(static_cast<CUpti_SubscriberHandle>(subscriber));
}

}  // namespace

std::unique_ptr<ActivityTrace> ActivityTrace::load() {
  const Functions& f = functions();
  if (!f.complete) return nullptr;
  // Called on entry and exit of each runtime call.
  const auto on_call = [](void* self, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
    auto& owner = *static_cast<ActivityTrace*>(self);
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    if (call.callbackSite != CUPTI_API_ENTER) return;
    try {
      const std::scoped_lock lock(owner.mutex_);
      const auto task = owner.launching_.find(std::this_thread::get_id());
      if (task != owner.launching_.end()) owner.tasks_[call.correlationId] = task->second;
    } catch (const std::bad_alloc&) {  // as above
    }
  };
  auto trace = std::make_unique<ActivityTrace>();
  CUpti_SubscriberHandle subscriber = nullptr;
  if (f.subscribe(&subscriber, on_call, trace.get()) != CUPTI_SUCCESS) return nullptr;
  trace->recording_ = {subscriber, end_recording};
  if (f.register_callbacks(request_buffer, take_buffer) != CUPTI_SUCCESS ||
      f.enable_domain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API) != CUPTI_SUCCESS ||
      std::any_of(std::begin(kinds), std::end(kinds),
                  [&](CUpti_ActivityKind kind) { return f.enable(kind) != CUPTI_SUCCESS; })) {
    return nullptr;
  }
  return trace;
}

Clock::time_point ActivityTrace::start() {
  take_records();
  tasks_.clear();
  const auto now = Clock::now();
  functions().timestamp(&start_ns_);
  return now;
}

void ActivityTrace::begin(schedule::TaskId task) {
  const std::scoped_lock lock(mutex_);
  launching_[std::this_thread::get_id()] = task;
}

void ActivityTrace::end() {
  const std::scoped_lock lock(mutex_);
  launching_.erase(std::this_thread::get_id());
}

std::vector<bool> ActivityTrace::stop(std::vector<timeline::Span>& spans) {
  functions().flush(0);
  std::vector<bool> recorded(spans.size());
  const auto seconds = [&](std::uint64_t ns) {
    return std::max(0.0, (static_cast<double>(ns) - static_cast<double>(start_ns_)) * 1e-9);
  };
  for (const CuptiRecord& record : take_records()) {
    const auto found = tasks_.find(record.correlation);
    if (found == tasks_.end()) continue;  // not launched by a task
    const schedule::TaskId task = found->second;
    const double start_s = seconds(record.start_ns);
    const double stop_s = seconds(record.stop_ns);
    timeline::Span& span = spans[task];
    span.start_s = recorded[task] ? std::min(span.start_s, start_s) : start_s;
    span.stop_s = recorded[task] ? std::max(span.stop_s, stop_s) : stop_s;
    recorded[task] = true;
  }
  return recorded;
}

#else

namespace overlap::lanes {

std::unique_ptr<ActivityTrace> ActivityTrace::load() { return nullptr; }
Clock::time_point ActivityTrace::start() { return Clock::now(); }
void ActivityTrace::begin(schedule::TaskId) {}
void ActivityTrace::end() {}
std::vector<bool> ActivityTrace::stop(std::vector<timeline::Span>&) { return {}; }

#endif

}  // namespace overlap::lanes
