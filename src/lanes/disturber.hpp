#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "deck/deck.hpp"

namespace overlap::lanes {

/// Makes the runtime calls that are said to break concurrency, as a naive program would. Keeps
/// allocations until clear(), because freeing synchronizes.
template <class Api>
class Disturber {
 public:
  ~Disturber() {
    try {
      clear();
    } catch (const base::Error&) {  // a platform that refused the call also refuses to undo it
    }
  }

  void call(deck::Disturbance operation, typename Api::Stream lane) {
    using deck::Disturbance;
    switch (operation) {
      case Disturbance::default_stream:
        return Api::set_bytes_async(target_, 0, small_bytes, Api::legacy_stream());
      case Disturbance::malloc:
        allocated_.push_back(Api::allocate(bytes));
        return;
      case Disturbance::malloc_host:
        page_locked_.push_back(Api::allocate_page_locked(bytes));
        return;
      case Disturbance::memset:
        return Api::set_bytes(target_, 0, bytes);
      case Disturbance::blocking_copy:
        return Api::copy_and_wait(target_, host_.data(), bytes, Api::to_device);
      case Disturbance::small_copy:
        return Api::copy_and_wait(target_, host_.data(), small_bytes, Api::to_device);
      case Disturbance::device_copy:
        return Api::copy_and_wait(other_, target_, bytes, Api::within_device);
      case Disturbance::cache_config:
        preference_ = preference_ == Api::more_shared ? Api::more_cache : Api::more_shared;
        return Api::set_cache_config(preference_);
      case Disturbance::timing_event:
        return Api::record(event_, lane);
      case Disturbance::stream_query:
        static_cast<void>(Api::is_complete(lane));
        return;
      case Disturbance::synchronize:
        return Api::synchronize_device();
    }
  }

  /// Undoes the calls: frees their memory and takes back the setting of the device.
  void clear() {
    allocated_.clear();
    page_locked_.clear();
    if (preference_ == Api::no_preference) return;
    preference_ = Api::no_preference;
    Api::set_cache_config(preference_);
  }

 private:
  static constexpr std::size_t bytes = 1 << 20;
  static constexpr std::size_t small_bytes = 64 << 10;

  std::vector<std::byte> host_ = std::vector<std::byte>(bytes);  ///< pageable
  typename Api::DeviceMemory target_ = Api::allocate(bytes);
  typename Api::DeviceMemory other_ = Api::allocate(bytes);
  std::vector<typename Api::DeviceMemory> allocated_;
  std::vector<typename Api::PageLockedMemory> page_locked_;
  typename Api::Event event_ = Api::make_event(Api::timed);
  std::remove_const_t<decltype(Api::no_preference)> preference_ = Api::no_preference;
};

}  // namespace overlap::lanes
