#pragma once

#include <span>
#include <string>
#include <string_view>

namespace overlap::report {

/// Replaces every list and object of more than three characters that is the value of a member in
/// `names` by null, without parsing it. The rest, which is read in a fraction of the time and
/// memory, keeps its lines and columns. A text that ends inside such a value remains incomplete.
std::string without(std::string_view json, std::span<const std::string_view> names);

/// How many lists and objects lie in one another, at most.
int nesting(std::string_view json);
/// More than in any file of this program; copies of much deeper ones would exhaust the stack.
inline constexpr int most_nested = 100;

}  // namespace overlap::report
