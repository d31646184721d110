#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

namespace overlap::report {

/// Colours of lines, on light and on dark ground, that people with any colour vision tell apart
/// (after Okabe and Ito), and shapes that tell them apart in print. The first is the baseline's.
struct Pen {
  std::string_view light, dark;
  std::string_view mark;  ///< a path around (0, 0)
};
inline constexpr std::array<Pen, 7> pens = {{
    {"#6e6e73", "#a1a1a8", "M-3.6-3.6h7.2v7.2h-7.2z"},
    {"#0072b2", "#56b4e9", "M0-4.3A4.3 4.3 0 1 1 0 4.3A4.3 4.3 0 1 1 0-4.3z"},
    {"#d55e00", "#ff8b3d", "M0-5.2L4.9 3.6H-4.9z"},
    {"#009e73", "#2bb98f", "M0-5.4L5.4 0L0 5.4L-5.4 0z"},
    {"#aa4d86", "#d992b8", "M0 5.2L4.9-3.6H-4.9z"},
    {"#a87400", "#e8ad2c", "M-1.5-4.6h3v3.1h3.1v3h-3.1v3.1h-3v-3.1h-3.1v-3h3.1z"},
    {"#3b4cc0", "#9aa7ff",
     "M-3-4.6L0-1.6L3-4.6L4.6-3L1.6 0L4.6 3L3 4.6L0 1.6L-3 4.6L-4.6 3L-1.6 0L-4.6-3z"},
}};

/// The style sheet of a sweep's picture.
inline std::string sweep_style() {
  std::string light, dark;
  for (std::size_t i = 0; i < pens.size(); ++i) {
    light += fmt::format(".p{} {{--ink:{}}}\n", i, pens[i].light);
    dark += fmt::format(".p{} {{--ink:{}}}\n", i, pens[i].dark);
  }
  return ":root{color-scheme:light dark}\n"
         ".sweep{--text:#1d1d1f;--muted:#6e6e73;--faint:#e5e5ea;--line:#aeaeb2;--ground:#fff;"
         "--best:#b3261e}\n" +
         light +
         "@media screen and (prefers-color-scheme:dark){.sweep{--text:#f5f5f7;--muted:#a1a1a6;"
         "--faint:#2c2c30;--line:#5a5a60;--ground:#161618;--best:#ff8a80}\n" +
         dark +
         "}\n.sweep text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',"
         "sans-serif;fill:var(--text)}\n"
         ".sweep .title{font-size:20px;font-weight:600}.sweep .name{font-size:13px;"
         "font-weight:600}\n.sweep .muted,.sweep .tick{fill:var(--muted)}.sweep .tick{font-size:"
         "11px}\n.sweep .ground{fill:var(--ground)}.sweep .grid{stroke:var(--faint)}\n"
         ".sweep .axis{stroke:var(--line);fill:none}.sweep .end{text-anchor:end}"
         ".sweep .mid{text-anchor:middle}\n"
         ".series .measured{fill:none;stroke:var(--ink);stroke-width:2;stroke-linejoin:round}\n"
         ".series .whisker{stroke:var(--ink);stroke-width:1.2;fill:none}\n"
         ".series .predicted{fill:none;stroke:var(--ink);stroke-width:1.3;stroke-dasharray:5 4}\n"
         ".series .mark{fill:var(--ink);stroke:var(--ground);stroke-width:1}\n"
         ".series .hollow{fill:var(--ground);stroke:var(--ink);stroke-width:1.4}\n"
         ".series .area{fill:transparent}\n"
         ".sweep .bound{fill:none;stroke:var(--text);stroke-width:1.2;stroke-dasharray:1.5 3;"
         "stroke-linecap:round}\n"
         ".sweep .best{fill:none;stroke:var(--best);stroke-width:1.8}"
         ".sweep .best-words{fill:var(--best);font-weight:600}\n"
         ".sweep .halo{paint-order:stroke;stroke:var(--ground);stroke-width:4px;"
         "stroke-linejoin:round}\n"
         ".sweep .knee{stroke:var(--muted);stroke-dasharray:3 3;fill:none}\n"
         ".plot:has(.series:hover) .series:not(:hover){opacity:.25}\n";
}

}  // namespace overlap::report
