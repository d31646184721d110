#include "lanes/activity_trace.hpp"

#if defined(OVERLAP_CUPTI)

#include <cupti.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>

namespace overlap::lanes {
namespace {

/// What CUPTI's callbacks, which carry no data of their own, have handed over.
struct Records {
  std::mutex mutex;
  std::vector<std::pair<std::uint32_t, ActivityTrace::Activity>>
      activities;  ///< with correlation ids
};
Records& records() {
  static Records records;
  return records;
}

/// The functions of the library that are used.
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
};
Functions& functions() {
  static Functions functions;
  return functions;
}

/// Whether all functions were found.
bool load_functions() {
  void* library = nullptr;
  for (const char* name : {OVERLAP_CUPTI, OVERLAP_CUPTI_SONAME, "libcupti.so"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) return false;  // else it stays open: CUPTI ends with the process
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  Functions& f = functions();
  return find(f.enable, "cuptiActivityEnable") && find(f.disable, "cuptiActivityDisable") &&
         find(f.register_callbacks, "cuptiActivityRegisterCallbacks") &&
         find(f.flush, "cuptiActivityFlushAll") && find(f.next, "cuptiActivityGetNextRecord") &&
         find(f.subscribe, "cuptiSubscribe") && find(f.unsubscribe, "cuptiUnsubscribe") &&
         find(f.enable_domain, "cuptiEnableDomain") && find(f.timestamp, "cuptiGetTimestamp");
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
  // Later versions of these structures only append fields. Times of 0 were not taken.
  const auto add = [](const auto& activity) {
    if (activity.end == 0) return;
    records().activities.push_back({activity.correlationId, {0, activity.start, activity.end}});
  };
  try {
    while (functions().next(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
      if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        add(*reinterpret_cast<const CUpti_ActivityMemcpy*>(record));
      } else if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        add(*reinterpret_cast<const CUpti_ActivityKernel4*>(record));
      }
    }
  } catch (const std::bad_alloc&) {  // no exception may pass through CUPTI: the records are lost
  }
  std::free(buffer);
}

constexpr CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};

}  // namespace

struct ActivityTrace::State {
  CUpti_SubscriberHandle subscriber = nullptr;
  std::optional<std::uint64_t> tag;
  std::unordered_map<std::uint32_t, std::uint64_t> tags;  ///< by correlation id

  /// At the start and the end of every call of the runtime.
  static void CUPTIAPI on_call(void* self, CUpti_CallbackDomain, CUpti_CallbackId,
                               const void* data) {
    State& state = *static_cast<State*>(self);
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    if (!state.tag || call.callbackSite != CUPTI_API_ENTER) return;
    try {
      state.tags[call.correlationId] = *state.tag;
    } catch (const std::bad_alloc&) {  // as above
    }
  }

  /// Whether recording can begin.
  bool enable() {
    const Functions& f = functions();
    if (f.subscribe(&subscriber, on_call, this) != CUPTI_SUCCESS) {
      subscriber = nullptr;
      return false;
    }
    if (f.register_callbacks(request_buffer, take_buffer) != CUPTI_SUCCESS ||
        f.enable_domain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API) != CUPTI_SUCCESS) {
      return false;
    }
    return std::all_of(std::begin(kinds), std::end(kinds),
                       [&](CUpti_ActivityKind kind) { return f.enable(kind) == CUPTI_SUCCESS; });
  }

  ~State() {
    if (subscriber == nullptr) return;  // the recording is somebody else's
    for (const CUpti_ActivityKind kind : kinds) functions().disable(kind);
    functions().unsubscribe(subscriber);
  }
};

std::unique_ptr<ActivityTrace> ActivityTrace::load() {
  static const bool loaded = load_functions();
  if (!loaded) return nullptr;
  auto state = std::make_unique<State>();
  if (!state->enable()) return nullptr;
  return std::unique_ptr<ActivityTrace>(new ActivityTrace(std::move(state)));
}

void ActivityTrace::start() {
  const std::scoped_lock lock(records().mutex);
  records().activities.clear();
  state_->tags.clear();
}

std::uint64_t ActivityTrace::now_ns() {
  std::uint64_t now = 0;
  functions().timestamp(&now);
  return now;
}

void ActivityTrace::tag(std::optional<std::uint64_t> tag) { state_->tag = tag; }

void ActivityTrace::record_copies(bool on) {
  (on ? functions().enable : functions().disable)(CUPTI_ACTIVITY_KIND_MEMCPY);
}

std::vector<ActivityTrace::Activity> ActivityTrace::stop() {
  functions().flush(0);
  const std::scoped_lock lock(records().mutex);
  std::vector<Activity> found;
  for (auto& [correlation, activity] : records().activities) {
    const auto tag = state_->tags.find(correlation);
    if (tag == state_->tags.end()) continue;  // somebody else's
    activity.tag = tag->second;
    found.push_back(activity);
  }
  return found;
}

#else

namespace overlap::lanes {

struct ActivityTrace::State {};

std::unique_ptr<ActivityTrace> ActivityTrace::load() { return nullptr; }
void ActivityTrace::start() {}
std::uint64_t ActivityTrace::now_ns() { return 0; }
void ActivityTrace::tag(std::optional<std::uint64_t>) {}
void ActivityTrace::record_copies(bool) {}
std::vector<ActivityTrace::Activity> ActivityTrace::stop() { return {}; }

#endif

ActivityTrace::ActivityTrace(std::unique_ptr<State> state) : state_(std::move(state)) {}
ActivityTrace::~ActivityTrace() = default;

}  // namespace overlap::lanes
