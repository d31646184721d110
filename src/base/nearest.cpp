#include "base/nearest.hpp"

#include <algorithm>
#include <vector>

namespace overlap::base {
namespace {

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

/// Optimal string alignment distance: insert, delete, replace, swap neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      d[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view found, std::span<const std::string> allowed) {
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const std::string& word : allowed) {
    const std::size_t most = std::max<std::size_t>(1, word.size() / 3);
    // Each edit changes the length by one at most: a huge `found` is not worth its table.
    if (found.size() > word.size() + most) continue;
    const std::size_t d = distance(lower(std::string(found)), lower(word));
    if (d <= most && (!best || d < best_distance)) {
      best = word;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace overlap::base
