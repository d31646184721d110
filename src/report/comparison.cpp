#include "report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/table.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "report/page.hpp"
#include "report/result_fields.hpp"

namespace overlap::report {

using experiment::Change;
using experiment::Comparison;
using experiment::Difference;
using experiment::Trend;
using enum Sign;

/// A metric in one of the files.
struct MetricValue {
  base::Summary summary;
};

void fields(Record& add, const MetricValue& of) {
  add("median", "Median.", of.summary.median);
  add("lo", "Lower end of its 95 % interval.", of.summary.lo);
  add("hi", "Upper end of its 95 % interval.", of.summary.hi);
  add("n", "Samples.", of.summary.n, above_zero);
}

std::optional<MetricValue> value_of(const std::optional<base::Summary>& summary) {
  return summary ? std::optional(MetricValue{*summary}) : std::nullopt;
}

void fields(Record& add, const Difference& of) {
  add("key", "Key of the result file or of its deck.", of.key);
  add("a", "Value in the first file; -: missing.", of.a);
  add("b", "Value in the other.", of.b);
}

void fields(Record& add, const Change& of) {
  add("point", "Swept keys and their values; empty: no sweep.", of.point);
  add("order", "Issue order with its disturbance or host work; -: a metric of the device.",
      of.order);
  add("metric", "Metric.", of.metric);
  add("a", "In the first file; null: missing.", value_of(of.a));
  add("b", "In the other.", value_of(of.b));
  add("ratio", "b / a; null: a value is missing, 0 or less.", of.ratio);
  add("trend", "Trend from a to b; within 1 % they are the same; identical: the same samples.",
      of.trend);
  add("verdict", "Verdict; null: the first file's deck does not judge it.", of.verdict);
}

void fields(Record& add, const Comparison& of) {
  add("a", "The file that others are compared with.", of.a);
  add("b", "The other file.", of.b);
  add("deck", "Name of the deck.", of.deck);
  add("differences", "What differs in machine, program and deck.", of.differences);
  add("changes", "Time of each order and all judged metrics.", of.changes);
}

void fields(Record& add, const experiment::Column& of) {
  add("title", "What distinguishes the column from the others.", of.title);
  add("file", "Result file.", of.file);
  add("device", "Device; on host back ends the processor.", of.device);
  add("backend", "Default execution space.", of.backend);
  add("mechanism", "How tasks are issued, for all its decks.", of.mechanism);
  add("kokkos_version", "Version of Kokkos.", of.kokkos_version);
  add("compiler", "Compiler and its version.", of.compiler);
  add("host", "Host name.", of.host);
}

void fields(Record& add, const experiment::Figures& of) {
  add("n", "Repetitions.", of.time.n, above_zero);
  add("time_s", "Time of a repetition, seconds.", of.time);
  add("speedup", "Time of the column's own sequential order / time; null: no baseline.",
      of.speedup);
  add("overlap_efficiency",
      "Time that overlap saves / time that it could save; null: no baseline or no bound, or "
      "overlap can save less than 10 %.",
      of.overlap_efficiency);
  add("bound_s", "Least time that the column's own hardware allows, seconds; null: not measured.",
      of.bound_s, from_zero);
  add("bound_fraction", "bound_s / time; null: not measured.", of.bound_fraction);
  add("ratio", "Time / time of the column `to`; null: that column does not have the order.",
      of.ratio);
}

void fields(Record& add, const experiment::Match& of) {
  add("point", "Swept keys and their values, or the phase; empty: neither.", of.point);
  add("order", "Issue order with its disturbance or host work.", of.order);
  add("columns", "One per column; null: the column does not have the order.", of.figures);
}

void fields(Record& add, const experiment::Setting& of) {
  add("key", "Key of the deck.", of.key);
  add("values", "One per column; -: missing.", of.values);
}

void fields(Record& add, const experiment::SharedDeck& of) {
  add("title", "Title of the deck.", of.title);
  add.raw("workload", "Its workload, the same in all columns: keys and values.", of.workload,
          {{"type", "object"}});
  add("differences", "Keys of the deck that differ between columns.", of.differences);
  add("errors", "One per column: why the deck, or a point of it, did not run; empty: all ran.",
      of.errors);
  add("orders", "Each order at each point.", of.matches);
}

void fields(Record& add, const experiment::SideBySide& of) {
  add("columns", "One per file.", of.columns);
  add("to", "The column that ratios refer to, from 1.", of.to + 1, above_zero);
  add("decks", "Decks of the same title and workload.", of.decks);
}

void fields(Record& add, const Comparisons& of) {
  constexpr const char* schema = "overlap-comparison/1";
  add.raw("schema", "Name and version of this format.", schema, {{"const", schema}});
  add("below", "How much worse a judged metric may be, as a fraction.", of.below, from_zero);
  add("common", "Whether what only one of two files has is not judged.", of.common);
  add("comparisons", "One per deck and pair of files.", of.all);
  add("side_by_side", "The files next to each other, with nothing judged; null: not asked for.",
      of.side_by_side);
  add("verdict", "The worst of all changes.", of.verdict());
  add.raw("exit_code", "Exit code of the comparison.", static_cast<int>(of.exit_code()),
          {{"enum", {0, 1, 2, 5, 6}}});
}

namespace {

std::string percent_off(double ratio) { return fmt::format("{:+.2f} %", 100 * (ratio - 1)); }

std::string value_words(const std::optional<base::Summary>& value, deck::Metric metric) {
  return value ? experiment::value_words(metric, value->median) : "-";
}

std::string title(const Comparison& of) {
  return base::one_line(fmt::format("{}: {} -> {}", of.deck, of.a, of.b));
}

base::Rows difference_rows(const Comparison& of) {
  base::Rows rows = {{"differs", "A", "B"}};
  for (const Difference& one : of.differences) rows.push_back({one.key, one.a, one.b});
  return rows.size() == 1 ? base::Rows() : rows;
}

/// The order, or of a metric of the device `other`, with the point of a sweep.
std::string change_words(const Change& of, const std::string& other = "-") {
  return (of.order == "-" ? other : of.order) + (of.point.empty() ? "" : ", " + of.point);
}

base::Rows change_rows(const Comparison& of) {
  base::Rows rows = {{"order", "metric", "A", "B", "change", "95 % interval", "trend", "verdict"}};
  for (const Change& change : of.changes) {
    const auto& ratio = change.ratio;
    rows.push_back({change_words(change), std::string(deck::to_string(change.metric)),
                    value_words(change.a, change.metric), value_words(change.b, change.metric),
                    ratio ? percent_off(ratio->value) : "-",
                    ratio ? percent_off(ratio->lo) + " .. " + percent_off(ratio->hi) : "-",
                    std::string(deck::to_string(change.trend)) +
                        (ratio && !ratio->covers ? ", few samples" : ""),
                    change.verdict ? std::string(deck::to_string(*change.verdict)) : "not judged"});
  }
  return of.changes.empty() ? base::Rows() : rows;  // nothing: a device is missing
}

/// The pen of a trend.
int pen_of(Trend trend) { return trend == Trend::slower ? 2 : trend == Trend::faster ? 3 : 0; }

/// Each ratio with its interval on one scale; the range that counts as the same is shaded.
std::string ratios_svg(const Comparison& of) {
  constexpr double margin = 40, gap = 24, right = 1080, row = 26;
  const auto label = [](const Change& change) {
    const std::string metric(deck::to_string(change.metric));
    return change.order == "-" ? change_words(change, metric) : change_words(change) + " " + metric;
  };
  const auto is_drawn = [](const Change& change) {
    return change.ratio && std::isfinite(change.ratio->lo) && std::isfinite(change.ratio->hi);
  };
  double room = 296;  // of labels
  for (const Change& change : of.changes) {
    room = std::min(std::max(room, width_of(label(change))), 656.0);
  }
  const double left = margin + room + gap;
  double lo = 1 - 2 * experiment::same_within;
  double hi = 1 + 2 * experiment::same_within;
  for (const Change& change : of.changes) {
    if (!is_drawn(change)) continue;
    lo = std::min(lo, change.ratio->lo);
    hi = std::max(hi, change.ratio->hi);
  }
  const auto x = [&](double ratio) { return left + (ratio - lo) / (hi - lo) * (right - left); };
  Svg svg;
  const double top = 50;
  const double bottom = top + row * static_cast<double>(of.changes.size());
  const double from = x(1 - experiment::same_within);
  svg.add(R"(<rect class="track" x="{:g}" y="{:g}" width="{:g}" height="{:g}"/>)", from, top,
          x(1 + experiment::same_within) - from, bottom - top);
  for (const double off : ticks(lo - 1, hi - 1, 8)) {
    svg.add(R"(<path class="{}" d="M{:g} {:g}V{:g}"/>)", off == 0 ? "axis" : "grid", x(1 + off),
            top, bottom);
    svg.words("tick mid", x(1 + off), top - 10, off == 0 ? "0 %" : percent_off(1 + off));
  }
  svg.y = top + row / 2;
  for (const Change& change : of.changes) {
    svg.words_within(room, "end", margin + room, svg.y + 4, label(change));
    if (is_drawn(change)) {
      const auto& ratio = change.ratio;
      const int pen = pen_of(change.trend);
      svg.add(R"(<g class="p{}"><path class="whisker" d="M{:g} {:g}H{:g}"/>)", pen, x(ratio->lo),
              svg.y, x(ratio->hi));
      svg.add(R"g(<path class="mark" transform="translate({:g} {:g})" d="{}"/></g>)g",
              x(ratio->value), svg.y, pens[static_cast<std::size_t>(pen)].mark);
    }
    svg.words("muted", right + 16, svg.y + 4, std::string(deck::to_string(change.trend)));
    svg.y += row;
  }
  svg.words("muted mid", x(1), svg.y + 8,
            fmt::format("shaded: same, within {:g} %", 100 * experiment::same_within));
  svg.y += 24;
  return svg.finish(title(of));
}

}  // namespace

std::string comparison_text(const Comparisons& comparisons) {
  std::string text;
  if (comparisons.side_by_side) text = side_by_side_text(*comparisons.side_by_side);
  for (const Comparison& one : comparisons.all) {
    text += title(one) + "\n\n";
    const base::Rows differences = difference_rows(one);
    if (!differences.empty()) text += base::align(differences, false) + "\n";
    text += base::align(change_rows(one), true) + "\n";
  }
  return base::prose(text);
}

std::string comparison_json(const Comparisons& comparisons) {
  return json_text(json_of(comparisons), 2) + "\n";
}

std::string comparison_schema() {
  Json schema = schema_head("overlap-comparison/1", "What miniapp compare found.");
  schema.update(schema_of<Comparisons>());
  return schema.dump(2) + "\n";
}

std::string comparison_html(const Comparisons& comparisons) {
  if (comparisons.side_by_side) return side_by_side_html(*comparisons.side_by_side);
  std::string html = page_head("Comparison") + "<main>\n";
  html += page_section(fmt::format("Comparison: <span class=\"verdict {0}\">{0}</span>",
                                   deck::to_string(comparisons.verdict())),
                       base::counted(comparisons.all.size(), "comparison")) +
          "</section>\n";
  for (const Comparison& one : comparisons.all) {
    html += page_section(escape_xml(one.deck), escape_xml(one.a) + " &rarr; " + escape_xml(one.b));
    html += page_table(difference_rows(one)) +
            (one.changes.empty() ? "" : page_picture(ratios_svg(one))) +
            page_table(change_rows(one)) + "</section>\n";
  }
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace overlap::report
