#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

/// Vendor C libraries, loaded at run time because not every machine has them.
namespace overlap::measure {

/// Looks up a function of a library by name; null: not found.
using Symbols = std::function<void*(const char* name)>;

/// Loads the first available library of `names`; empty: none. The library stays loaded while the
/// result exists.
Symbols load_library(std::initializer_list<const char*> names);

/// Base of the management library readers. All functions of such a library return 0 on success.
class Library {
 protected:
  explicit Library(Symbols symbols) : symbols_(std::move(symbols)) {}

  /// Calls a function; returns whether it exists and succeeded.
  template <class... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(symbols_(name));
    return function != nullptr && function(arguments...) == 0;
  }

  /// Calls a function that writes a string about `of`; empty on failure.
  std::optional<std::string> text(const char* name, auto... of) const {
    std::array<char, 96> found{};
    if (!call(name, of..., found.data(), static_cast<unsigned>(found.size() - 1))) {
      return std::nullopt;
    }
    return found.data();
  }

  /// Assigns `found` unless it is empty.
  template <class T>
  static void set(std::optional<T>& value, const std::optional<T>& found) {
    if (found) value = found;
  }

 private:
  Symbols symbols_;
};

}  // namespace overlap::measure
