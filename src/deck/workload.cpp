#include <algorithm>
#include <cmath>
#include <map>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"

/// The section `workload`.
namespace overlap::deck {
namespace {

using namespace yaml;
using Keys = std::vector<std::string>;

// Kinds of values.

Kind<std::int64_t> size() { return count(1, most_elements); }

Kind<Intensity> intensity() {
  constexpr std::string_view suffix = "x balanced";
  constexpr const char* allowed =
      "a whole number from 0 to 1000000, balanced, or 'Nx balanced' with N from 1 to 1000";
  const Json words = {{"type", "string"}, {"pattern", "^([0-9]+x )?balanced$"}};
  return {.values = {.allowed = allowed,
                     .schema = {{"oneOf", {count(0, 1000000).values.schema, words}}},
                     .words = {"balanced"}},
          .parse = [=](const std::string& text) -> std::optional<Intensity> {
            if (text == "balanced") return Intensity{.balance = 1};
            const bool factor = text.ends_with(suffix);
            const auto n = base::parse_count(
                std::string_view(text).substr(0, text.size() - (factor ? suffix.size() : 0)));
            if (!n || *n < (factor ? 1 : 0) || *n > (factor ? 1000 : 1000000)) return std::nullopt;
            if (factor) return Intensity{.balance = static_cast<double>(*n)};
            return Intensity{.repeats = *n};
          },
          .write = [=](const Intensity& wanted) -> Json {
            if (wanted.balance == 0) return wanted.repeats;
            if (wanted.balance == 1) return "balanced";
            return fmt::format("{}{}", std::llround(wanted.balance), suffix);
          }};
}

/// alpha or beta of a matrix product.
Kind<double> factor(bool zero) {
  constexpr double most = 1e6;
  const char* const first = zero ? "0 or a number of magnitude " : "a number of magnitude ";
  return only(number(fmt::format("{}1e-6 to 1e6", first), -most, most),
              [=](double value) { return std::abs(value) >= 1 / most || (zero && value == 0); });
}

Kind<std::string> name() {
  constexpr auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return {.values = {.allowed = "letters, digits, '_', '-' and '.', at most 64",
                     .schema = {{"type", "string"}, {"pattern", "^[A-Za-z0-9_.-]+$"}}},
          .parse = [=](const std::string& text) {
            const bool good =
                !text.empty() && text.size() <= 64 && std::ranges::all_of(text, allowed);
            return good ? std::optional(text) : std::nullopt;
          }};
}

/// Bytes of a copy, which is verified as 32-bit words.
Kind<std::int64_t> copy_bytes() {
  return only(ranged<std::int64_t>("a multiple of 4 B, up to 1 TiB", 4, std::int64_t{1} << 40, "B",
                                   base::parse_bytes),
              [](std::int64_t value) { return value % 4 == 0; });
}

// The tasks of a custom workload.

/// Indices of the tasks that must be complete before a task starts.
std::vector<int> read_after(const Reader& after, const std::vector<CustomTask>& tasks,
                            const std::map<std::string, int>& numbers, const std::string& self) {
  std::vector<int> places;
  for (const Reader& item : after.items("a list of names of tasks")) {
    const auto found = numbers.find(item.text("the name of a task"));
    if (found == numbers.end()) {
      Keys names;
      for (const CustomTask& task : tasks) {
        if (task.name != self && task.stage != Stage::query) names.push_back(task.name);
      }
      if (names.empty()) item.fail_allowed("nothing: no other task completes anything");
      constexpr std::size_t few = 20;
      if (names.size() <= few) item.fail_allowed(names);
      item.fail_allowed("the name of a task" + yaml::suggestion(item.text(""), names));
    }
    const auto& [name, number] = *found;
    if (name == self) {
      item.fail(fmt::format("found the task itself, '{}'; allowed: other tasks", self));
    }
    if (tasks[static_cast<std::size_t>(number)].stage == Stage::query) {
      item.fail(
          fmt::format("found '{}', a query, which completes nothing; allowed: other tasks", name));
    }
    if (std::ranges::find(places, number) != places.end()) {
      item.fail(fmt::format("found '{}' again; allowed: each task once", name));
    }
    places.push_back(number);
  }
  return places;
}

/// Tasks of which each waits for the next one, and the last for the first; empty: none.
std::vector<int> cycle_in(const std::vector<CustomTask>& tasks) {
  std::vector<std::vector<int>> dependents(tasks.size());
  std::vector<std::size_t> waiting(tasks.size());
  std::vector<int> free;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    waiting[i] = tasks[i].after.size();
    if (waiting[i] == 0) free.push_back(static_cast<int>(i));
    for (const int other : tasks[i].after) {
      dependents[static_cast<std::size_t>(other)].push_back(static_cast<int>(i));
    }
  }
  while (!free.empty()) {
    const auto task = static_cast<std::size_t>(free.back());
    free.pop_back();
    for (const int other : dependents[task]) {
      if (--waiting[static_cast<std::size_t>(other)] == 0) free.push_back(other);
    }
  }
  const auto is_stuck = [&](int task) { return waiting[static_cast<std::size_t>(task)] > 0; };
  const auto stuck = std::ranges::find_if(waiting, [](std::size_t count) { return count > 0; });
  std::vector<int> path;
  if (stuck == waiting.end()) return path;
  std::vector<bool> passed(tasks.size());
  auto at = static_cast<int>(stuck - waiting.begin());
  while (!passed[static_cast<std::size_t>(at)]) {
    passed[static_cast<std::size_t>(at)] = true;
    path.push_back(at);
    at = *std::ranges::find_if(tasks[static_cast<std::size_t>(at)].after, is_stuck);
  }
  path.erase(path.begin(), std::ranges::find(path, at));
  return path;
}

void read_tasks(const Reader& workload, Workload& into) {
  const Reader list = workload.at("tasks");
  if (list.size() > static_cast<std::size_t>(most_tasks)) {
    list.fail(fmt::format("found {} tasks; allowed: at most {}", list.size(), most_tasks));
  }
  const std::vector<Reader> items = list.items(
      "a list of tasks, such as [{name: K1, stage: kernel, lane: 1, duration: 1 ms}]", 1);
  std::map<std::string, int> numbers;
  for (const Reader& item : items) {
    CustomTask& task = into.tasks.emplace_back();
    read(task_table(), item, task);
    if (task.chunk == 0 && task.stage <= Stage::d2h) task.chunk = task.lane;
    const auto [first, is_new] = numbers.emplace(task.name, static_cast<int>(numbers.size()));
    if (!is_new) {
      item.at("name").fail(fmt::format(
          "found '{}' again, first at {}; allowed: a unique name for each task", task.name,
          base::to_string(items[static_cast<std::size_t>(first->second)].at("name").place())));
    }
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    CustomTask& task = into.tasks[i];
    if (!items[i].has("after")) continue;
    task.after = read_after(items[i].at("after"), into.tasks, numbers, task.name);
  }
  const std::vector<int> cycle = cycle_in(into.tasks);
  if (cycle.empty()) return;
  constexpr std::size_t most_named = 6;
  const auto name = [&](int task) { return into.tasks[static_cast<std::size_t>(task)].name; };
  std::string words = name(cycle[0]);
  for (std::size_t i = 1; i <= cycle.size(); ++i) {
    words += i == 1 ? " waits for " : ", which waits for ";
    words += i < most_named ? name(cycle[i % cycle.size()]) : "...";
    if (i == most_named) break;
  }
  items[static_cast<std::size_t>(cycle[0])].at("after").fail(
      fmt::format("found a cycle: {}; allowed: tasks that do not wait for each other", words));
}

Json write_tasks(const Workload& w) {
  Json list = Json::array();
  for (const CustomTask& task : w.tasks) {
    Json& written = list.emplace_back(write(task_table(), task));
    for (const int other : task.after) {
      written["after"].push_back(w.tasks[static_cast<std::size_t>(other)].name);
    }
  }
  return list;
}

Field<Workload> tasks() {
  const Json list = {{"type", "array"}, {"minItems", 1}, {"items", schema(task_table())}};
  return {.key = {.name = "tasks",
                  .help = "The tasks, in the sequence in which order `custom` issues them.",
                  .values = {.allowed = "a list of tasks", .schema = list},
                  .fallback = "required"},
          .read = read_tasks,
          .write = write_tasks};
}

void read_task_duration(const Reader& task, CustomTask& into) {
  const bool copy = into.stage == Stage::h2d || into.stage == Stage::d2h;
  task.expect_one("bytes", "duration");
  if (copy && task.has("bytes")) return;
  if (copy && !task.has("duration")) {
    task.fail("found neither bytes nor duration; allowed: one of them");
  }
  into.duration_s = duration().read(task.at("duration"));
}

// Boxes.

/// Planes, rows and columns of the box or its array; one row reads all of them.
Field<Workload> sizes(const std::string& key, std::array<std::int64_t, 3> Box::* of,
                      const std::string& help) {
  const Json list = {{"type", "array"},
                     {"minItems", 2},
                     {"maxItems", 3},
                     {"items", {{"type", "integer"}, {"minimum", 0}}}};
  const Values values = {.allowed = "none, [rows, columns] or [planes, rows, columns]",
                         .schema = {{"oneOf", {{{"const", "none"}}, list}}}};
  Field<Workload> row{.key = {.name = key, .help = help, .values = values},
                      .write = [=](const Workload& w) -> Json {
                        if (!w.box) return "none";
                        const auto& all = (*w.box).*of;
                        return std::vector(all.begin() + (w.box->array[0] == 1 ? 1 : 0), all.end());
                      }};
  return std::move(row).with({WorkloadKind::increment});
}

void read_box(const Reader& reader, Workload& workload) {
  if (!reader.gives("box")) {
    for (const char* key : {"array", "origin", "pitch"}) {
      if (reader.gives(key)) reader.at(key).fail_allowed("none, or any with workload.box");
    }
    return;
  }
  Box& box = workload.box.emplace();
  using Sizes = std::array<std::int64_t, 3>;
  constexpr Sizes all = {most_elements, most_elements, most_elements};
  std::size_t dimensions = 0;
  // Reads a list of numbers within the range of each dimension; a 2-D array is one plane.
  const auto read = [&](const char* key, const std::string& allowed, Sizes& sizes,
                        const Sizes& least, const Sizes& most) {
    const std::vector<Reader> items = reader.at(key).items(allowed);
    if (dimensions == 0 && (items.size() == 2 || items.size() == 3)) dimensions = items.size();
    if (items.size() != dimensions) reader.at(key).fail_allowed(allowed);
    for (std::size_t i = 0; i < dimensions; ++i) {
      const std::size_t dimension = sizes.size() - dimensions + i;
      sizes[dimension] = count(least[dimension], most[dimension]).read(items[i]);
    }
  };
  read("box", "none, [rows, columns] or [planes, rows, columns]", box.extent, {1, 1, 1}, all);
  const std::string allowed =
      fmt::format("none or a list of {} numbers, as workload.box is", dimensions);
  box.array = box.extent;
  if (reader.gives("array")) read("array", allowed, box.array, box.extent, all);
  Sizes room;
  std::ranges::transform(box.array, box.extent, room.begin(), std::minus());
  if (reader.gives("origin")) read("origin", allowed, box.origin, {0, 0, 0}, room);
  const auto& [planes, rows, columns] = box.array;
  if (planes > most_elements / rows || planes * rows > most_elements / columns) {
    const auto sizes = std::span(box.array).last(dimensions);
    reader.at(reader.gives("array") ? "array" : "box")
        .fail(fmt::format("found {} elements; allowed: at most {}", fmt::join(sizes, " x "),
                          most_elements));
  }
  const std::int64_t elements = box.extent[0] * box.extent[1] * box.extent[2];
  if (reader.has("elements") && workload.elements != elements) {
    reader.at("elements")
        .fail_allowed(fmt::format("{}, those of workload.box, or no key", elements));
  }
  workload.elements = elements;
}

void read_pitch(const Reader& map, Workload& workload) {
  if (!map.gives("pitch")) return;
  std::int64_t lines = workload.rows;
  std::int64_t length = workload.columns;
  if (workload.box) {
    lines = workload.box->array[0] * workload.box->array[1];
    length = workload.box->array[2];
  } else if (workload.axis == SumAxis::columns) {
    std::swap(lines, length);
  }
  if (length > most_elements / lines) return;  // an error of its own
  const auto element = static_cast<std::int64_t>(size_of(workload.type));
  const std::int64_t least = element * length;
  const std::int64_t most = 8 * most_elements / lines;
  const std::string allowed = fmt::format(
      "none or a multiple of {} B from {} B, the bytes of a line, to {} B", element, least, most);
  const auto fits = [=](std::int64_t bytes) { return bytes % element == 0; };
  workload.pitch =
      only(ranged(allowed, least, most, "B", base::parse_bytes), fits).read(map.at("pitch"));
}

// The workload.

void read_type(const Reader& map, Workload& w) {
  const bool rowsum = w.kind == WorkloadKind::rowsum;
  w.type = rowsum                          ? ElementType::int32
           : w.kind == WorkloadKind::dgemm ? ElementType::float64
                                           : ElementType::float32;
  if (!map.has("type")) return;
  if (!rowsum) map.at("type").one_of(Keys{"float32", "float64"});
  w.type = word<ElementType>().read(map.at("type"));
}

/// Rows or columns of a tile, at most those of the product.
Field<Workload> tile(const std::string& key, std::int64_t Workload::* tile,
                     std::int64_t Workload::* whole, const std::string& help) {
  return field(key, tile, size(), help)
      .reads([=](const Reader& map, Workload& w) {
        w.*tile = std::min(w.*tile, w.*whole);
        if (map.has(key)) w.*tile = count(1, w.*whole).read(map.at(key));
      })
      .with({WorkloadKind::dgemm});
}

}  // namespace

Kind<double> duration() {
  return seconds("a time above 0 and up to 100 s, such as 0.005 (seconds), 5 ms or 50 us", above_0,
                 100);
}

const Table<Workload>& workload_table() {
  using W = Workload;
  using enum WorkloadKind;
  static const Table<W> table = {{
      field("kind", &W::kind, word<WorkloadKind>(), "What is computed.")
          .decides(&W::kind)
          .required(),
      field("elements", &W::elements, size(), "Elements of each array, per iteration.")
          .with({increment, pipeline}),
      field("rows", &W::rows, size(), "Rows of the array.").with({rowsum}),
      field("columns", &W::columns, size(), "Columns of the array.").with({rowsum}),
      field("m", &W::m, count(1, 2147483647), "Rows of A and C.").with({dgemm}),
      field("n", &W::n, count(1, 2147483647), "Columns of B and C.").with({dgemm}),
      field("k", &W::k, count(1, 2147483647), "Columns of A, rows of B.").with({dgemm}),
      tile("tile_m", &W::tile_m, &W::m, "Rows of a tile of C, at most m."),
      tile("tile_n", &W::tile_n, &W::n, "Columns of a tile of C, at most n."),
      field("alpha", &W::alpha, factor(false), "Factor of the product.").with({dgemm}),
      field("beta", &W::beta, factor(true), "Factor of the initial C.").with({dgemm}),
      field("type", &W::type, word<ElementType>(),
            "Type of the elements; integers only with rowsum.")
          .reads(read_type)
          .with({increment, rowsum, pipeline, dgemm})
          .defaults_to("`float32`; rowsum: `int32`; dgemm: `float64`"),
      field("sum_type", &W::sum_type, word<SumType>(),
            "Type of the sums: that of the elements, or 64-bit integers for integer elements.")
          .with({rowsum}),
      field("axis", &W::axis, word<SumAxis>(),
            "What is summed: rows of a row-major array, or columns of a column-major one.")
          .with({rowsum}),
      field("kernel", &W::kernel, word<RowsumKernel>(), "How sums are mapped to threads.")
          .with({rowsum}),
      field("iterations", &W::iterations, count(1, most_chunks), "Iterations over the arrays.")
          .with({pipeline}),
      field("intensity", &W::intensity, intensity(),
            "Repeats of the arithmetic; balanced: as many as make the kernel of the largest chunk "
            "take N times as long as its copy to the device.")
          .with({increment, pipeline}),
      sizes("box", &Box::extent, "Size of the box to work on, a part of a larger array.")
          .reads(read_box)
          .defaults_to("`none`"),
      sizes("array", &Box::array, "Size of the array that the box lies in; default: the box's."),
      sizes("origin", &Box::origin, "First element of the box in that array; default: zeros."),
      field("pitch", &W::pitch, or_word("none", bytes(1)),
            "Bytes from the start of one line to the start of the next on the host, a multiple of "
            "the element size; none: lines are adjacent.")
          .reads(read_pitch)
          .with({increment, rowsum}),
      field("host_share", &W::host_share,
            or_word("auto", part("a fraction of the tiles, from 0 to 100 %", 0, 1)),
            "Fraction of the tiles that order `four_way` leaves to the host; auto: the fastest.")
          .with({dgemm}),
      tasks().with({custom}),
  }};
  return table;
}

const Table<CustomTask>& task_table() {
  using T = CustomTask;
  using enum Stage;
  static const Table<T> table = {{
      field("name", &T::name, name(), "Its name, unique in the deck.").required(),
      field("stage", &T::stage, word<Stage>(6), "What it does.").decides(&T::stage).required(),
      field("lane", &T::lane, count(1, most_lanes), "Its lane; lanes count from 1.")
          .required()
          .with({h2d, kernel, d2h, query}),
      field("bytes", &T::bytes, nonzero(copy_bytes()),
            "Size of the copy; alternatively, give `duration`.")
          .with({h2d, d2h}),
      field("duration", &T::duration_s, nonzero(duration()), "Its intended duration.")
          .reads(read_task_duration)
          .with({h2d, kernel, d2h, host, default_stream}),
      field("sms", &T::sms, part("a fraction of the device, above 0 and up to 100 %", above_0, 1),
            "Fraction of the device that the kernel fills.")
          .with({kernel}),
      Field<T>{.key = {.name = "after",
                       .help = "Tasks that must complete before it starts.",
                       .values = {.allowed = "a list of names of tasks",
                                  .schema = {{"type", "array"}, {"items", {{"type", "string"}}}},
                                  .may_miss = true}},
               .write = [](const T& task) { return task.after.empty() ? Json() : Json::array(); }}
          .with({h2d, kernel, d2h, host})
          .defaults_to("not set"),
      field("chunk", &T::chunk, count(1, most_chunks), "The chunk of data that it works on.")
          .with({h2d, kernel, d2h})
          .defaults_to("its lane"),
  }};
  return table;
}

void read(const Reader& reader, Workload& w) {
  read(workload_table(), reader, w);
  // Limits the product of two sizes.
  const auto check_product = [&](const std::string& a, std::int64_t value_a, const std::string& b,
                                 std::int64_t value_b) {
    if (value_a <= most_elements / value_b) return;
    reader.latest(a, b).fail(fmt::format("found {} {} times {} {}; allowed: at most {} together",
                                         value_a, a, value_b, b, most_elements));
  };
  if (w.kind == WorkloadKind::pipeline) {
    check_product("elements", w.elements, "iterations", w.iterations);
  }
  if (w.kind == WorkloadKind::rowsum) check_product("rows", w.rows, "columns", w.columns);
  const bool whole = w.type == ElementType::int32 || w.type == ElementType::int64;
  if (w.sum_type != SumType::same && !whole) {
    const bool late = reader.latest("type", "sum_type").path() == reader.at("type").path();
    if (late) reader.at("type").fail_allowed("int32, int64 with sum_type int64");
    reader.at("sum_type").fail_allowed(fmt::format("same with type {}", to_string(w.type)));
  }
  if (w.kind != WorkloadKind::dgemm) return;
  check_product("m", w.m, "k", w.k);
  check_product("k", w.k, "n", w.n);
  check_product("m", w.m, "n", w.n);
  constexpr std::int64_t most_tiles = 4096;
  const std::int64_t rows = (w.m + w.tile_m - 1) / w.tile_m;
  const std::int64_t columns = (w.n + w.tile_n - 1) / w.tile_n;
  if (rows > most_tiles / columns) {
    reader.latest("tile_m", "tile_n")
        .fail(fmt::format("found {} x {} tiles; allowed: at most {}", rows, columns, most_tiles));
  }
  // For larger k float32 has too few bits for exact products.
  constexpr std::int64_t most_k = 1 << 18;
  if (w.type == ElementType::float32 && w.k > most_k) {
    reader.at("k").fail_allowed(fmt::format("at most {} with float32", most_k));
  }
}

}  // namespace overlap::deck
