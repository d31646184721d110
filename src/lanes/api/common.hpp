#pragma once

#include <source_location>
#include <string>
#include <utility>

#include "base/error.hpp"

/// What the back ends' APIs share.
namespace overlap::lanes {

using Where = std::source_location;

/// A handle whose object is destroyed with this.
template <class Handle, auto destroy>
class Owned {
 public:
  explicit Owned(Handle handle) : handle_(handle) {}
  ~Owned() {
    if (handle_ != nullptr) static_cast<void>(destroy(handle_));
  }
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned& operator=(Owned&&) = delete;

  Handle get() const { return handle_; }

 private:
  Handle handle_;
};

/// A call of a vendor's library that failed, with the place in our sources where it was made.
inline base::Error failed_call(const std::string& call, const std::string& text,
                               const std::string& name, const Where& at) {
  const std::string file = at.file_name();
  return base::Error(base::ExitCode::runtime_error, call + ": " + text + " (" + name + ") at " +
                                                        file.substr(file.rfind('/') + 1) + ":" +
                                                        std::to_string(at.line()));
}

}  // namespace overlap::lanes
