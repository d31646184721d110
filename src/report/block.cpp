#include "report/block.hpp"

#include <algorithm>
#include <charconv>

namespace overlap::report {
namespace {

/// Whether a text is a number, with a unit or not.
bool has_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && (end == text.data() + text.size() || *end == ' ');
}

}  // namespace

Tone tone_of(std::string_view outcome) {
  if (outcome == "PASS") return Tone::good;
  const bool bad = outcome == "FAIL" || outcome == "ERROR" || outcome == "WRONG DATA";
  return bad ? Tone::bad : Tone::doubtful;
}

std::string median(const std::optional<base::Summary>& summary, Format format) {
  return summary ? format(summary->median) : "-";
}

std::string interval(const std::optional<base::Summary>& summary, Format format) {
  return summary ? format(summary->lo) + " .. " + format(summary->hi) : "-";
}

bool Table::is_list() const {
  return std::ranges::all_of(columns, &std::string::empty, &Column::heading);
}

bool Table::is_number(std::size_t column) const {
  std::ptrdiff_t numbers = 0;
  for (const std::vector<Cell>& row : rows) {
    if (column >= row.size() || row[column].text.empty() || row[column].text == "-") continue;
    numbers += has_number(row[column].text) ? 1 : -1;
  }
  return numbers > 0 && !is_list();
}

std::vector<const TimelinePicture*> pictures_of(const Blocks& blocks) {
  std::vector<const TimelinePicture*> pictures;
  for (const Block& block : blocks) {
    const auto* const picture = std::get_if<TimelinePicture>(&block.content);
    if (picture != nullptr) pictures.push_back(picture);
  }
  return pictures;
}

void add(Blocks& blocks, std::string line, Detail detail) {
  blocks.push_back({Text{.lines = {std::move(line)}}, detail});
}

void add(Blocks& blocks, Table table, Detail detail) {
  if (table.rows.empty()) return;
  for (std::size_t i = table.columns.size(); i-- > 1;) {
    const bool empty = std::ranges::all_of(
        table.rows, [&](const auto& row) { return row[i].text == "-" || row[i].text.empty(); });
    if (!empty) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  }
  blocks.push_back({std::move(table), detail});
}

}  // namespace overlap::report
