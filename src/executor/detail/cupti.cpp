#include "executor/detail/cupti.hpp"

#if defined(OVERLAP_CUPTI)

#include <cupti.h>
#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>

namespace overlap::executor::detail {
namespace {

/// What CUPTI's callbacks, which carry no data of their own, have handed over.
struct Records {
  std::mutex mutex;
  std::vector<std::pair<std::uint32_t, Cupti::Activity>> activities;  ///< with correlation ids
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

class LoadedCupti final : public Cupti {
 public:
  ~LoadedCupti() override {
    if (subscriber_ == nullptr) return;  // the recording is somebody else's
    for (const CUpti_ActivityKind kind : kinds) functions().disable(kind);
    functions().unsubscribe(subscriber_);
  }

  /// Whether recording can begin.
  bool enable() {
    const Functions& f = functions();
    if (f.subscribe(&subscriber_, on_call, this) != CUPTI_SUCCESS) {
      subscriber_ = nullptr;
      return false;
    }
    if (f.register_callbacks(request_buffer, take_buffer) != CUPTI_SUCCESS ||
        f.enable_domain(1, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API) != CUPTI_SUCCESS) {
      return false;
    }
    for (const CUpti_ActivityKind kind : kinds) {
      if (functions().enable(kind) != CUPTI_SUCCESS) return false;
    }
    return true;
  }

  void start() override {
    const std::scoped_lock lock(records().mutex);
    records().activities.clear();
    tags_.clear();
  }

  std::uint64_t now_ns() override {
    std::uint64_t now = 0;
    functions().timestamp(&now);
    return now;
  }

  void tag(std::optional<std::uint64_t> tag) override { tag_ = tag; }

  void record_copies(bool on) override {
    (on ? functions().enable : functions().disable)(CUPTI_ACTIVITY_KIND_MEMCPY);
  }

  std::vector<Activity> stop() override {
    functions().flush(0);
    const std::scoped_lock lock(records().mutex);
    std::vector<Activity> found;
    for (auto& [correlation, activity] : records().activities) {
      const auto tag = tags_.find(correlation);
      if (tag == tags_.end()) continue;  // somebody else's
      activity.tag = tag->second;
      found.push_back(activity);
    }
    return found;
  }

 private:
  /// At the begin and the end of every call of the runtime.
  static void CUPTIAPI on_call(void* self, CUpti_CallbackDomain, CUpti_CallbackId,
                               const void* data) {
    LoadedCupti& cupti = *static_cast<LoadedCupti*>(self);
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    if (!cupti.tag_ || call.callbackSite != CUPTI_API_ENTER) return;
    try {
      cupti.tags_[call.correlationId] = *cupti.tag_;
    } catch (const std::bad_alloc&) {  // as above
    }
  }

  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::optional<std::uint64_t> tag_;
  std::unordered_map<std::uint32_t, std::uint64_t> tags_;  ///< by correlation id
};

}  // namespace

std::unique_ptr<Cupti> Cupti::load() {
  static const bool loaded = load_functions();
  if (!loaded) return nullptr;
  auto cupti = std::make_unique<LoadedCupti>();
  if (!cupti->enable()) return nullptr;
  return cupti;
}

}  // namespace overlap::executor::detail

#else

namespace overlap::executor::detail {

std::unique_ptr<Cupti> Cupti::load() { return nullptr; }

}  // namespace overlap::executor::detail

#endif
