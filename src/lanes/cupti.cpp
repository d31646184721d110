#include "lanes/stream_trace.hpp"

#if defined(OVERLAP_CUPTI)

#include <cupti.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>
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
  std::vector<CuptiRecord> times = {};
  std::unordered_map<std::uint32_t, schedule::TaskId> tasks = {};  ///< by correlation id
};
std::mutex all_records_mutex;
Records all_records;

Records take_records() {
  const std::scoped_lock lock(all_records_mutex);
  return std::exchange(all_records, {});
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
  decltype(&cuptiActivityPushExternalCorrelationId) push = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop = nullptr;
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
               find(push, "cuptiActivityPushExternalCorrelationId") &&
               find(pop, "cuptiActivityPopExternalCorrelationId") &&
               find(timestamp, "cuptiGetTimestamp");
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
  const std::scoped_lock lock(all_records_mutex);
  CUpti_Activity* record = nullptr;
  // Later versions of these structures only append fields. A time of 0 means not recorded.
  const auto add = [](const auto& activity) {
    if (activity.end == 0) return;
    all_records.times.push_back({activity.correlationId, activity.start, activity.end});
  };
  try {
    while (functions().next(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
      if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        add(*reinterpret_cast<const CUpti_ActivityMemcpy*>(record));
      } else if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        add(*reinterpret_cast<const CUpti_ActivityKernel4*>(record));
      } else if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
        const auto& launch = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
        all_records.tasks[launch.correlationId] = static_cast<schedule::TaskId>(launch.externalId);
      }
    }
  } catch (const std::bad_alloc&) {  // exceptions must not propagate into CUPTI: drop the records
  }
  std::free(buffer);
}

// Without records of calls CUPTI makes none of their correlation.
constexpr CUpti_ActivityKind kinds[] = {
    CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
constexpr CUpti_ExternalCorrelationKind by_task = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

void end_recording(void* subscriber) {
  for (const CUpti_ActivityKind kind : kinds) functions().disable(kind);
  functions().unsubscribe(static_cast<CUpti_SubscriberHandle>(subscriber));
}

}  // namespace

std::unique_ptr<ActivityTrace> ActivityTrace::load() {
  const Functions& f = functions();
  if (!f.complete) return nullptr;
  auto trace = std::make_unique<ActivityTrace>();
  // There can be only one subscriber: with another tool at work this fails.
  const auto ignore = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
  CUpti_SubscriberHandle subscriber = nullptr;
  if (f.subscribe(&subscriber, ignore, nullptr) != CUPTI_SUCCESS) return nullptr;
  trace->recording_ = {subscriber, end_recording};
  if (f.register_callbacks(request_buffer, take_buffer) != CUPTI_SUCCESS ||
      std::any_of(std::begin(kinds), std::end(kinds),
                  [&](CUpti_ActivityKind kind) { return f.enable(kind) != CUPTI_SUCCESS; })) {
    return nullptr;
  }
  return trace;
}

Clock::time_point ActivityTrace::start() {
  functions().flush(0);
  take_records();  // those of a run that failed
  const auto now = Clock::now();
  functions().timestamp(&start_ns_);
  return now;
}

void ActivityTrace::begin(schedule::TaskId task) { functions().push(by_task, task); }

void ActivityTrace::end() {
  std::uint64_t task = 0;
  functions().pop(by_task, &task);
}

std::vector<bool> ActivityTrace::stop(std::vector<timeline::Span>& spans) {
  functions().flush(0);
  std::vector<bool> recorded(spans.size());
  const auto seconds = [&](std::uint64_t ns) {
    return std::max(0.0, (static_cast<double>(ns) - static_cast<double>(start_ns_)) * 1e-9);
  };
  const Records taken = take_records();
  for (const CuptiRecord& record : taken.times) {
    const auto found = taken.tasks.find(record.correlation);
    if (found == taken.tasks.end()) continue;  // not launched by a task
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
