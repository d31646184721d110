#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

/// C libraries of vendors that are loaded at run time, as not every machine has them.
namespace overlap::measure {

/// The function of a library with this name; null: it has none.
using Symbols = std::function<void*(const char* name)>;

/// Those of the first of these libraries that can be loaded; empty: there is none. It stays loaded
/// as long as they live.
Symbols load_library(std::initializer_list<const char*> names);

/// What readers of management libraries share. All functions return 0 when they succeed.
class Library {
 protected:
  explicit Library(Symbols symbols) : symbols_(std::move(symbols)) {}

  /// Whether the library has the function, and it succeeds.
  template <class... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(symbols_(name));
    return function != nullptr && function(arguments...) == 0;
  }

  /// What the function writes for `of`.
  std::optional<std::string> text(const char* name, auto... of) const {
    std::array<char, 96> found{};
    if (!call(name, of..., found.data(), static_cast<unsigned>(found.size() - 1))) {
      return std::nullopt;
    }
    return found.data();
  }

  /// Leaves what is known from elsewhere where the library knows nothing.
  template <class T>
  static void set(std::optional<T>& value, const std::optional<T>& found) {
    if (found) value = found;
  }

 private:
  Symbols symbols_;
};

}  // namespace overlap::measure
