#pragma once

#include <memory>
#include <source_location>
#include <string>
#include <type_traits>

#include "base/error.hpp"

/// Common parts of the stream APIs.
namespace overlap::lanes {

using Where = std::source_location;

/// Checks a return code: on failure clears the last error and throws base::Error{runtime_error}
/// with the call and its source location. Specialised for the codes of each vendor.
template <class Code>
void check(Code code, const char* call, Where at);

/// The error that check() throws.
inline base::Error failed_call(const std::string& call, const std::string& text,
                               const std::string& name, const Where& at,
                               base::ExitCode exit_code = base::ExitCode::runtime_error) {
  const std::string file = at.file_name();
  return base::Error(exit_code, call + ": " + text + " (" + name + ") at " +
                                    file.substr(file.rfind('/') + 1) + ":" +
                                    std::to_string(at.line()));
}

/// A function of a vendor library, called through check().
template <class Code, class... Arguments>
struct ApiCall {
  Code (*function)(Arguments...);
  const char* name;

  void operator()(std::type_identity_t<Arguments>... arguments, Where at = Where::current()) const {
    check(function(arguments...), name, at);
  }
};

/// An ApiCall that creates an object through its first argument; returns the owner of that object.
template <class Owner, class Code, class... Arguments>
struct Make {
  Code (*function)(typename Owner::pointer*, Arguments...);
  const char* name;

  Owner operator()(Arguments... arguments, Where at = Where::current()) const {
    typename Owner::pointer handle = nullptr;
    check(function(&handle, arguments...), name, at);
    return Owner(handle);
  }
};

template <auto destroy>
struct Destroyer {
  void operator()(auto handle) const { static_cast<void>(destroy(handle)); }
};
/// Owns the object behind a vendor handle (a pointer type) and destroys it.
template <class Handle, auto destroy>
struct Owned : std::unique_ptr<std::remove_pointer_t<Handle>, Destroyer<destroy>> {
  using Owned::unique_ptr::unique_ptr;
  operator Handle() const { return this->get(); }
};

}  // namespace overlap::lanes
