#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"

/// The section `workload`.
namespace overlap::deck {
namespace {

using namespace describe;
using Names = std::vector<std::string>;
using Triple = std::array<std::int64_t, 3>;

// Kinds of values.

constexpr std::string_view balanced = "x balanced";

constexpr Spelling<Intensity> intensity_codec = {
    .values =
        [] {
          const Json text = {{"type", "string"}, {"pattern", "^([0-9]+x )?balanced$"}};
          return Values{
              .allowed =
                  "a whole number from 0 to 1000000, balanced, or 'Nx balanced' with N from 1 to "
                  "1000",
              .schema = {{"oneOf", {count(0, 1000000).values().schema, text}}},
              .words = {"balanced"}};
        },
    .from = [](const std::string& text) -> std::optional<Intensity> {
      if (text == "balanced") return Intensity{.balance = 1};
      const bool factor = text.ends_with(balanced);
      const auto n = base::parse_count(
          std::string_view(text).substr(0, text.size() - (factor ? balanced.size() : 0)));
      if (!n || *n < (factor ? 1 : 0) || *n > (factor ? 1000 : 1000000)) return std::nullopt;
      if (factor) return Intensity{.balance = static_cast<double>(*n)};
      return Intensity{.repeats = *n};
    },
    .write = [](const Intensity& intensity) -> Json {
      if (intensity.balance == 0) return intensity.repeats;
      if (intensity.balance == 1) return "balanced";
      return fmt::format("{}{}", std::llround(intensity.balance), balanced);
    }};

constexpr Spelling<std::string> task_name = {
    .values =
        [] {
          return Values{"letters, digits, '_', '-' and '.', at most 64",
                        {{"type", "string"}, {"pattern", "^[A-Za-z0-9_.-]+$"}}};
        },
    .from = [](const std::string& text) -> std::optional<std::string> {
      constexpr const char* allowed =
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
      const bool good = !text.empty() && text.size() <= 64 &&
                        text.find_first_not_of(allowed) == std::string::npos;
      return good ? std::optional(text) : std::nullopt;
    },
    .write = [](const std::string& name) { return Json(name); }};

/// Bytes of a copy, which is verified as 32-bit words.
Count copy_bytes() {
  Count codec = bytes(4, std::int64_t{1} << 40);
  codec.allowed = "a multiple of 4 B, up to 1 TiB";
  codec.divisor = 4;
  return codec;
}

/// Planes, rows and columns of a box or its array; with one plane they may be spelled without it.
struct Sizes {
  using Type = std::optional<Box>;
  Triple Box::* part;
  std::int64_t least = 1;

  void read(const Reader& reader, Type& box) const {
    if (reader.is("none")) return;
    const std::vector<Reader> items = reader.items(values().allowed);
    if (items.size() < 2 || items.size() > 3) reader.fail_allowed(values().allowed);
    if (!box) box.emplace();
    for (std::size_t i = 0; i < items.size(); ++i) {
      ((*box).*part)[3 - items.size() + i] = parse(count(least, most_elements), items[i]);
    }
  }
  Json write(const Type& box) const {
    if (!box) return "none";
    const Triple& sizes = (*box).*part;
    return std::vector(sizes.begin() + (box->array[0] == 1 ? 1 : 0), sizes.end());
  }
  Values values() const {
    const Json list = {{"type", "array"},
                       {"minItems", 2},
                       {"maxItems", 3},
                       {"items", {{"type", "integer"}, {"minimum", least}}}};
    return {"none, [rows, columns] or [planes, rows, columns]",
            {{"oneOf", {{{"const", "none"}}, list}}}};
  }
};

// The tasks of a custom workload.

/// A task that can never start, because it waits for tasks of which each waits for the next; empty:
/// there is none.
std::optional<std::size_t> task_behind_cycle(const std::vector<CustomTask>& tasks) {
  std::vector<std::vector<int>> dependents(tasks.size());
  std::vector<std::size_t> waiting;
  std::vector<int> free;
  for (const CustomTask& task : tasks) {
    const auto number = static_cast<int>(waiting.size());
    waiting.push_back(task.after.size());
    if (task.after.empty()) free.push_back(number);
    for (const int other : task.after) {
      dependents[static_cast<std::size_t>(other)].push_back(number);
    }
  }
  while (!free.empty()) {
    const int task = free.back();
    free.pop_back();
    for (const int other : dependents[static_cast<std::size_t>(task)]) {
      if (--waiting[static_cast<std::size_t>(other)] == 0) free.push_back(other);
    }
  }
  const auto stuck = std::ranges::find_if(waiting, [](std::size_t count) { return count > 0; });
  if (stuck == waiting.end()) return std::nullopt;
  return static_cast<std::size_t>(stuck - waiting.begin());
}

/// Sets what tasks wait for and checks their names and dependencies.
void link_tasks(const std::vector<Reader>& items, std::vector<CustomTask>& tasks) {
  std::map<std::string, int> numbers;
  for (const CustomTask& task : tasks) {
    const auto [first, is_new] = numbers.emplace(task.name, static_cast<int>(numbers.size()));
    if (is_new) continue;
    const auto name = [&](std::size_t i) { return items[i].at("name"); };
    name(numbers.size())
        .fail(fmt::format("found '{}' again, first at {}; allowed: a unique name for each task",
                          task.name, name(static_cast<std::size_t>(first->second)).origin()));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Reader after = items[i].at("after");
    if (!after.exists()) continue;
    for (const Reader& item : after.items("a list of names of tasks")) {
      const auto found = numbers.find(item.text("the name of a task"));
      if (found == numbers.end()) {
        Names names;
        for (const CustomTask& task : tasks) names.push_back(task.name);
        item.fail_allowed("the name of a task" + suggestion(item.text(), names));
      }
      const auto number = static_cast<std::size_t>(found->second);
      std::vector<int>& places = tasks[i].after;
      if (number == i || tasks[number].stage == Stage::query ||
          std::ranges::find(places, found->second) != places.end()) {
        item.fail_allowed("other tasks, each once, and no query, which completes nothing");
      }
      places.push_back(found->second);
    }
  }
  if (const auto task = task_behind_cycle(tasks)) {
    items[*task].at("after").fail(fmt::format(
        "found a cycle, for which {} waits; allowed: tasks that do not wait for each other",
        tasks[*task].name));
  }
}

void describe_tasks(Visitor& v, Workload& w) {
  const char* const allowed =
      "a list of tasks, such as [{name: K1, stage: kernel, lane: 1, duration: 1 ms}]";
  const auto task =
      map_of<CustomTask>([&](Visitor& part, CustomTask& t) { describe(part, t, w.tasks); });
  v("tasks", w.tasks, "The tasks, in the sequence in which order `custom` issues them.",
    list_of(task, allowed, 1), required);
  if (const Reader* const map = v.reader()) link_tasks(map->at("tasks").items(allowed), w.tasks);
}

// Boxes.

void check_box(const Reader& map, Workload& w) {
  const Box& box = *w.box;
  const std::size_t dimensions = map.at("box").size();
  const Reader last = map.at(map.gives("origin") ? "origin" : map.gives("array") ? "array" : "box");
  for (const char* const key : {"array", "origin"}) {
    if (!map.gives(key) || map.at(key).size() == dimensions) continue;
    map.at(key).fail_allowed(fmt::format("{} numbers, as workload.box has", dimensions));
  }
  for (std::size_t d = 0; d < 3; ++d) {
    if (box.origin[d] + box.extent[d] <= box.array[d]) continue;
    last.fail(fmt::format("found a box from {} to {} in an array of {}; allowed: inside the array",
                          box.origin[d], box.origin[d] + box.extent[d], box.array[d]));
  }
  const auto& [planes, rows, columns] = box.array;
  if (planes > most_elements / rows || planes * rows > most_elements / columns) {
    map.at(map.gives("array") ? "array" : "box")
        .fail(fmt::format("found {} elements; allowed: at most {}",
                          fmt::join(std::span(box.array).last(dimensions), " x "), most_elements));
  }
  const std::int64_t elements = box.extent[0] * box.extent[1] * box.extent[2];
  if (map.has("elements") && w.elements != elements) {
    map.at("elements").fail_allowed(fmt::format("{}, those of workload.box, or no key", elements));
  }
  w.elements = elements;
}

void describe_box(Visitor& v, Workload& w) {
  const Reader* const map = v.reader();
  v("box", w.box, "Size of the box to work on, a part of a larger array.", Sizes{&Box::extent});
  if (map != nullptr && w.box) w.box->array = w.box->extent;
  for (const char* const key : {"array", "origin", "pitch"}) {
    if (map == nullptr || w.box || !map->gives(key)) continue;
    map->at(key).fail_allowed("none, or any with workload.box");
  }
  v("array", w.box, "Size of the array that the box lies in; default: the box's.",
    Sizes{&Box::array});
  v("origin", w.box, "First element of the box in that array; default: zeros.",
    Sizes{&Box::origin, 0});
  if (map != nullptr && w.box) check_box(*map, w);
}

void describe_pitch(Visitor& v, Workload& w) {
  std::int64_t lines = w.rows;
  std::int64_t length = w.columns;
  if (w.box) {
    lines = w.box->array[0] * w.box->array[1];
    length = w.box->array[2];
  } else if (w.axis == SumAxis::columns) {
    std::swap(lines, length);
  }
  const auto element = static_cast<std::int64_t>(size_of(w.type));
  Count codec = bytes(1);
  std::string allowed;
  if (v.reader() != nullptr) {
    if (length > most_elements / lines) return;  // an error of its own
    codec.least = element * length;
    codec.most = 8 * most_elements / lines;
    allowed = fmt::format("a multiple of {} B from {} B, the bytes of a line, to {} B", element,
                          codec.least, codec.most);
    codec.allowed = allowed;
    codec.divisor = element;
  }
  v("pitch", w.pitch,
    "Bytes from the start of one line to the start of the next on the host, a multiple of the "
    "element size; none: lines are adjacent.",
    or_word("none", codec));
}

// The workload.

void describe_dgemm(Visitor& v, Workload& w) {
  const Count size = count(1, 2147483647);
  v("m", w.m, "Rows of A and C.", size);
  v("n", w.n, "Columns of B and C.", size);
  v("k", w.k, "Columns of A, rows of B.", size);
  const bool reads = v.reader() != nullptr;
  if (reads) {
    w.tile_m = std::min(w.tile_m, w.m);
    w.tile_n = std::min(w.tile_n, w.n);
  }
  v("tile_m", w.tile_m, "Rows of a tile of C, at most m.", count(1, reads ? w.m : most_elements));
  v("tile_n", w.tile_n, "Columns of a tile of C, at most n.",
    count(1, reads ? w.n : most_elements));
  v("beta", w.beta, "1: adds the product to C; 0: C is not read.", count(0, 1));
}

void check(const Reader& reader, const Workload& w) {
  // Limits the product of two sizes.
  const auto check_product = [&](const char* a, std::int64_t value_a, const char* b,
                                 std::int64_t value_b) {
    if (value_a <= most_elements / value_b) return;
    reader.at(reader.has(b) ? b : a)
        .fail(fmt::format("found {} {} times {} {}; allowed: at most {} together", value_a, a,
                          value_b, b, most_elements));
  };
  if (w.kind == WorkloadKind::pipeline) {
    check_product("elements", w.elements, "iterations", w.iterations);
  }
  if (w.kind == WorkloadKind::rowsum) check_product("rows", w.rows, "columns", w.columns);
  if (w.sum_type != SumType::same && !is_integer(w.type)) {
    reader.at("sum_type")
        .fail_allowed(
            fmt::format("same with type {} ({})", to_string(w.type), reader.at("type").origin()));
  }
  if (w.kind != WorkloadKind::dgemm) return;
  check_product("m", w.m, "k", w.k);
  check_product("k", w.k, "n", w.n);
  check_product("m", w.m, "n", w.n);
  constexpr std::int64_t most_tiles = 4096;
  const std::int64_t rows = (w.m + w.tile_m - 1) / w.tile_m;
  const std::int64_t columns = (w.n + w.tile_n - 1) / w.tile_n;
  if (rows > most_tiles / columns) {
    reader.at(reader.has("tile_n") ? "tile_n" : "tile_m")
        .fail(fmt::format("found {} x {} tiles; allowed: at most {}", rows, columns, most_tiles));
  }
  // For larger k float32 has too few bits for exact products.
  constexpr std::int64_t most_k = 1 << 18;
  if (w.type == ElementType::float32 && w.k > most_k) {
    reader.at("k").fail_allowed(fmt::format("at most {} with float32", most_k));
  }
}

}  // namespace

Real duration() {
  return seconds("a time above 0 and up to 100 s, such as 0.005 (seconds), 5 ms or 50 us", above_0,
                 100);
}

void describe(Visitor& v, Workload& w) {
  using enum WorkloadKind;
  const Reader* const map = v.reader();
  v.selector("kind", w.kind, "What is computed.", required);
  const Count size = count(1, most_elements);
  const bool arrays = w.kind == increment || w.kind == pipeline;
  if (arrays) v("elements", w.elements, "Elements of each array, per iteration.", size);
  if (w.kind == rowsum) {
    v("rows", w.rows, "Rows of the array.", size);
    v("columns", w.columns, "Columns of the array.", size);
  }
  if (w.kind == dgemm) describe_dgemm(v, w);
  OneOf<ElementType> types;
  if (map != nullptr) {
    w.type = row_of(w.kind).type;
    if (!row_of(w.kind).integers) types.only = {ElementType::float32, ElementType::float64};
  }
  if (row_of(w.kind).split != Split::tasks) {
    v("type", w.type, "Type of the elements; integers only with rowsum.", types,
      defaults_to("`float32`; rowsum: `int32`; dgemm: `float64`"));
  }
  if (w.kind == rowsum) {
    v("sum_type", w.sum_type,
      "Type of the sums: that of the elements, or 64-bit integers for integer elements.");
    v("axis", w.axis,
      "What is summed: rows of a row-major array, or columns of a column-major one.");
    v("kernel", w.kernel, "How sums are mapped to threads.");
  }
  if (w.kind == pipeline) {
    v("iterations", w.iterations, "Iterations over the arrays.", count(1, most_chunks));
  }
  if (arrays) {
    v("intensity", w.intensity,
      "Repeats of the arithmetic; balanced: as many as make the kernel of the largest chunk take N "
      "times as long as its copy to the device.",
      intensity_codec);
  }
  if (w.kind == increment) describe_box(v, w);
  if (w.kind == increment || w.kind == rowsum) describe_pitch(v, w);
  if (w.kind == dgemm) {
    v("host_share", w.host_share,
      "Fraction of the tiles that order `four_way` leaves to the host, which requires it.",
      optional(part("a fraction of the tiles, from 0 to 100 %", 0, 1)), defaults_to("not set"));
  }
  if (w.kind == custom) describe_tasks(v, w);
  if (map != nullptr) check(*map, w);
}

void describe(Visitor& v, CustomTask& t, const std::vector<CustomTask>& tasks) {
  using enum Stage;
  v("name", t.name, "Its name, unique in the deck.", task_name, required);
  v.selector("stage", t.stage, "What it does.", required,
             OneOf<Stage>{{h2d, kernel, d2h, host, query, default_stream}});
  const bool copies = t.stage == h2d || t.stage == d2h;
  if (copies || t.stage == kernel || t.stage == query) {
    v("lane", t.lane, "Its lane; lanes count from 1.", count(1, most_lanes), required);
  }
  if (copies) {
    v("bytes", t.bytes, "Size of the copy; alternatively, give `duration`.",
      unless(t.bytes == 0, copy_bytes()));
  }
  if (const Reader* const map = v.reader(); map != nullptr && copies) {
    map->expect_one("bytes", "duration");
    if (!map->has("bytes") && !map->has("duration")) {
      map->fail("found neither bytes nor duration; allowed: one of them");
    }
  }
  if (t.stage != query) {
    v("duration", t.duration_s, "Its intended duration.", unless(t.duration_s == 0, duration()),
      Missing{.error = !copies});
  }
  if (t.stage == kernel) {
    v("sms", t.sms, "Fraction of the device that the kernel fills.",
      part("a fraction of the device, above 0 and up to 100 %", above_0, 1));
  }
  if (copies || t.stage == kernel || t.stage == host) {
    const auto names = [&](const std::vector<int>& after) {
      Json list;
      for (const int other : after) list.push_back(tasks[static_cast<std::size_t>(other)].name);
      return list;
    };
    v("after", t.after, "Tasks that must complete before it starts.",
      written<std::vector<int>>(names, {"a list of names of tasks",
                                        {{"type", "array"}, {"items", {{"type", "string"}}}}}),
      defaults_to("not set"));
  }
  if (copies || t.stage == kernel) {
    v("chunk", t.chunk, "The chunk of data that it works on.", count(1, most_chunks),
      defaults_to("its lane"));
    if (v.reader() != nullptr && t.chunk == 0) t.chunk = t.lane;
  }
}

}  // namespace overlap::deck
