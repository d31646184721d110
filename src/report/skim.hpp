#pragma once

#include <span>
#include <string>
#include <string_view>

namespace overlap::report {

/// JSON text with null for every list and object that a member of one of these names has: reading
/// what is left takes a fraction of the time and memory. A text that ends inside of such a value
/// stays incomplete.
std::string without(std::string_view json, std::span<const std::string_view> names);

}  // namespace overlap::report
