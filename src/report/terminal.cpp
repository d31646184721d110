#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/block.hpp"
#include "report/drawing.hpp"

namespace overlap::report {
namespace {

constexpr int least_columns = 20;  // of time, however narrow the terminal is

std::string coloured(std::string_view text, std::string_view ansi, const Screen& screen) {
  if (!screen.colour || ansi.empty() || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", ansi, text);
}

std::string coloured(std::string_view text, Tone tone, const Screen& screen) {
  constexpr auto ansi = std::to_array<std::string_view>({"", "32", "31", "33", "90"});
  return coloured(text, ansi[static_cast<std::size_t>(tone)], screen);
}

/// A line that is safe to print, and no result line.
std::string line(std::string_view text) { return base::prose(base::one_line(text)); }

/// A line in several where it is too long, those after the first indented.
std::string wrapped(const std::string& text, int width, std::size_t indent) {
  const auto room = static_cast<std::size_t>(std::max(width - static_cast<int>(indent), 40));
  std::string lines;
  std::size_t used = 0;
  bool first = true;
  for (const auto part : std::views::split(text, ' ')) {
    const std::string word(part.begin(), part.end());
    const std::size_t columns = base::columns(word);
    if (used > 0 && used + 1 + columns > room) {
      lines += "\n" + std::string(indent, ' ');
      used = 0;
    } else if (!std::exchange(first, false)) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += columns;
  }
  return lines;
}

std::string text_of(const Heading& heading, const Screen& screen) {
  const std::string text = wrapped(line(heading.text), screen.width, 0);
  return coloured(text, heading.level < 3 ? "1" : "", screen) + "\n";
}

std::string text_of(const Text& text, const Screen& screen) {
  std::string lines;
  for (const std::string& paragraph : text.lines) {
    lines += coloured(wrapped(line(paragraph), screen.width, 0), text.tone, screen) + "\n";
  }
  return lines;
}

std::string text_of(const Chart&, const Screen&) { return ""; }  // its numbers stand in tables

std::string text_of(const VerdictLine& verdict, const Screen& screen) {
  const Cell word = verdict.verdict;
  std::string text = line(verdict.subject) + ": " + coloured(word.text, word.tone, screen) + "\n";
  for (const std::string& reason : verdict.reasons) {
    text += "  " + wrapped(line(reason), screen.width, 2) + "\n";
  }
  return text;
}

/// The columns that fit, in order: those to drop go first, of equal ones the last.
std::vector<std::size_t> fitting(const Table& table, const std::vector<std::size_t>& widths,
                                 const Screen& screen) {
  std::vector<std::size_t> shown;
  int width = -2;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    shown.push_back(i);
    width += static_cast<int>(widths[i]) + 2;
  }
  while (screen.narrow && width > screen.width && !shown.empty()) {
    const auto last = std::ranges::max_element(
        shown.rbegin(), shown.rend(), {}, [&](std::size_t i) { return table.columns[i].drop; });
    if (table.columns[*last].drop <= 0) break;
    width -= static_cast<int>(widths[*last]) + 2;
    shown.erase(std::next(last).base());
  }
  return shown;
}

std::string text_of(const Table& table, const Screen& screen) {
  const bool list = table.is_list();
  const std::size_t most = std::min(table.rows.size(), table.most_rows);
  std::vector<std::vector<Cell>> rows(table.rows.begin(),
                                      table.rows.begin() + static_cast<std::ptrdiff_t>(most));
  if (!list) {
    rows.insert(rows.begin(), std::vector<Cell>());
    for (const Column& column : table.columns) rows.front().emplace_back(column.heading);
  }
  std::vector<std::size_t> widths(table.columns.size());
  std::vector<bool> right(widths.size());
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = table.is_number(i);
  for (std::vector<Cell>& row : rows) {
    row.resize(widths.size());
    for (std::size_t i = 0; i < widths.size(); ++i) {
      row[i].text = i == 0 ? line(row[i].text) : base::one_line(row[i].text);
      widths[i] = std::max(widths[i], base::columns(row[i].text));
    }
  }
  std::string text = table.title.empty() ? "" : wrapped(line(table.title), screen.width, 0) + "\n";
  const std::vector<std::size_t> shown = fitting(table, widths, screen);
  for (const std::vector<Cell>& row : rows) {
    std::size_t spaces = 0;  // due before the next letters: none at the end of a line
    std::size_t indent = 0;
    for (const std::size_t i : shown) {
      const std::size_t room = widths[i] - base::columns(row[i].text);
      if (right[i]) spaces += room;
      if (!row[i].text.empty()) {
        text.append(std::exchange(spaces, 0), ' ');
        const bool wraps = list && i + 1 == widths.size();
        text += coloured(wraps ? wrapped(row[i].text, screen.width, indent) : row[i].text,
                         row[i].tone, screen);
      }
      indent += widths[i] + 2;
      spaces += (right[i] ? 0 : room) + 2;
    }
    text += "\n";
  }
  if (most < table.rows.size()) text += fmt::format("and {} more\n", table.rows.size() - most);
  std::vector<std::string> dropped;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (!std::ranges::binary_search(shown, i)) dropped.push_back(line(table.columns[i].heading));
  }
  if (dropped.empty()) return text;
  const std::string note =
      fmt::format("not shown at {} columns: {}", screen.width, fmt::join(dropped, ", "));
  return text + coloured(note, Tone::muted, screen) + "\n";
}

/// One byte per column.
std::string ascii(std::string_view text) {
  const std::string line = base::one_line(text);
  std::string bytes;
  for (std::string_view rest = line; !rest.empty();) {
    const base::Character character = base::first_character(rest);
    bytes += character.bytes == 1 ? rest.front() : '?';
    rest.remove_prefix(character.bytes);
  }
  return bytes;
}

/// A row of a timeline: each task begins with its label and goes on with the letter of its stage.
std::string bars(const results::Timeline& timeline, const std::vector<std::size_t>& row,
                 const std::vector<std::string>& labels, std::size_t columns,
                 const Screen& screen) {
  const deck::Stage first = timeline[row[0]].stage;
  const bool mixed =
      std::ranges::any_of(row, [&](std::size_t place) { return timeline[place].stage != first; });
  std::vector<std::pair<char, std::string_view>> cells(columns, {' ', ""});
  const double scale = static_cast<double>(columns) / results::end_s(timeline);
  const auto nearest = [](double place) { return static_cast<std::size_t>(std::lround(place)); };
  for (const std::size_t place : row) {
    const results::TaskRecord& task = timeline[place];
    const drawing::StageLook& look = drawing::look_of(task.stage);
    // Whole columns, so that neighbours of equal length look alike; the shortest task keeps one.
    const std::size_t start = std::min(nearest(task.start_s * scale), columns - 1);
    const std::size_t stop = std::max(start + 1, std::min(nearest(task.stop_s * scale), columns));
    // Too narrow: the last digit tells neighbouring chunks apart, the first letters tell names;
    // a single column shows the stage if the row has several.
    std::string label = ascii(labels[place]);
    if (stop - start <= label.size() && !task.name) label = label.substr(label.size() - 1);
    if (stop - start == 1 && mixed && !task.name) label = look.letter;
    for (std::size_t column = start; column < stop; ++column) {
      const std::size_t at = column - start;
      cells[column] = {at < label.size() ? label[at] : look.letter, look.ansi};
    }
  }
  while (!cells.empty() && cells.back().first == ' ') cells.pop_back();
  std::string text, run;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    run += cells[i].first;
    if (i + 1 < cells.size() && cells[i + 1].second == cells[i].second) continue;
    text += coloured(std::exchange(run, ""), cells[i].second, screen);
  }
  return text;
}

std::string text_of(const TimelinePicture& picture, const Screen& screen) {
  const char* const comma = picture.title.empty() || picture.caption.empty() ? "" : ", ";
  std::string text = line(picture.title + comma + picture.caption) + "\n";
  if (text == "\n") text.clear();
  const double end = results::end_s(picture.timeline);
  if (!(end > 0)) return text;
  const auto groups = drawing::groups(picture.timeline, drawing::Rows::engines);
  const std::vector<std::string> labels = drawing::labels(picture.timeline);
  std::size_t left = 0;  // room for names
  for (const drawing::LaneGroup& group : groups)
    left = std::max(left, base::columns(line(group.name)));
  const auto columns =
      static_cast<std::size_t>(std::max(least_columns, screen.width - static_cast<int>(left) - 2));
  for (const drawing::LaneGroup& group : groups) {
    std::string name = line(group.name);
    for (const auto& row : group.rows) {
      text += name + std::string(left - base::columns(name) + 2, ' ') +
              bars(picture.timeline, row, labels, columns, screen) + "\n";
      name.clear();
    }
  }
  return text + fmt::format("{:<{}}  0{:>{}}\n", "", left, base::format_seconds(end), columns - 1);
}

}  // namespace

std::string terminal(const Report& report, const Screen& screen) {
  std::vector<std::string> letters;
  for (const drawing::StageLook& look : drawing::looks_in(pictures_of(report.blocks))) {
    letters.push_back(fmt::format("{} {}", look.letter, look.name));
  }
  std::string text;
  bool follows = true;  // a heading, at once
  for (const Block& block : report.blocks) {
    const bool chart = std::holds_alternative<Chart>(block.content);
    const bool folded = block.detail == Detail::verbose && !screen.verbose;
    if (chart || folded || block.detail == Detail::page) continue;
    if (!follows) text += "\n";
    text +=
        std::visit([&](const auto& content) { return text_of(content, screen); }, block.content);
    const auto* const picture = std::get_if<TimelinePicture>(&block.content);
    if (picture != nullptr && !picture->timeline.empty() && !letters.empty()) {
      text += coloured(fmt::format("{}", fmt::join(letters, ", ")), Tone::muted, screen) + "\n";
      letters.clear();
    }
    const auto* const heading = std::get_if<Heading>(&block.content);
    follows = heading != nullptr && heading->level > 1;
  }
  return text;
}

}  // namespace overlap::report
