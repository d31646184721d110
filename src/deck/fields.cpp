#include "deck/fields.hpp"

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "deck/words.hpp"

namespace overlap::deck {
namespace {

using namespace yaml;

Kind<std::int64_t> size() { return count(1, most_elements); }

Kind<Intensity> intensity() {
  constexpr std::string_view suffix = "x balanced";
  return scalar<Intensity>(
      {.values =
           "a whole number from 0 to 1000000, balanced, or 'Nx balanced' with N from 1 to 1000",
       .schema =
           Value::Map{{"oneOf", Value::List{count(0, 1000000).schema,
                                            Value::Map{{"type", "string"},
                                                       {"pattern", "^([0-9]+x )?balanced$"}}}}},
       .words = {"balanced"},
       .parse = [=](const std::string& text) -> std::optional<Intensity> {
         if (text == "balanced") return Intensity{.balance = 1};
         const bool factor = text.ends_with(suffix);
         const auto n = base::parse_count(
             std::string_view(text).substr(0, text.size() - (factor ? suffix.size() : 0)));
         if (!n || *n < (factor ? 1 : 0) || *n > (factor ? 1000 : 1000000)) return std::nullopt;
         if (factor) return Intensity{.balance = static_cast<double>(*n)};
         return Intensity{.repeats = *n};
       },
       .write = [=](const Intensity& wanted) -> Value {
         if (wanted.balance == 0) return wanted.repeats;
         if (wanted.balance == 1) return "balanced";
         return fmt::format("{}{}", std::llround(wanted.balance), suffix);
       }});
}

/// A factor of a matrix product.
Kind<double> factor(bool zero) {
  constexpr double most = 1e6;
  const char* const first = zero ? "0, a number from " : "a number from ";
  return only(number(fmt::format("{}1e-6 to 1e6 or the same below 0", first), -most, most),
              [=](double value) { return std::abs(value) >= 1 / most || (zero && value == 0); });
}

/// Rows of a tile, or columns: at most those of the product.
Field<Workload> tile(const std::string& key, std::int64_t Workload::* tile,
                     std::int64_t Workload::* whole, const std::string& help) {
  return field(key, tile, size(), help)
      .reads([=](const Reader& map, Workload& w) {
        w.*tile = std::min(w.*tile, w.*whole);
        if (map.has(key)) w.*tile = count(1, w.*whole).read(map.at(key));
      })
      .with({WorkloadKind::dgemm});
}

/// Planes, rows and columns of the box, or of where it lies; one row reads all of them.
Field<Workload> sizes(const std::string& key, std::array<std::int64_t, 3> Box::* of,
                      const std::string& help) {
  const Value list = Value::Map{{"type", "array"},
                                {"minItems", 2},
                                {"maxItems", 3},
                                {"items", Value::Map{{"type", "integer"}, {"minimum", 0}}}};
  Field<Workload> row{
      .key = key,
      .help = help,
      .values = "none, [rows, columns] or [planes, rows, columns]",
      .schema = Value::Map{{"oneOf", Value::List{Value::Map{{"const", "none"}}, list}}},
      .write = [=](const Workload& w) -> Value {
        if (!w.box) return "none";
        const auto& all = (*w.box).*of;
        return Value::List(all.begin() + (w.box->array[0] == 1 ? 1 : 0), all.end());
      }};
  return std::move(row).with({WorkloadKind::increment});
}

Field<Workload> tasks() {
  return {
      .key = "tasks",
      .help = "The tasks, in the order in which the order `custom` issues them.",
      .values = "a list of tasks",
      .schema =
          Value::Map{{"type", "array"}, {"minItems", 1}, {"items", schema(table_of(CustomTask{}))}},
      .read = read_tasks,
      .write =
          [](const Workload& w) {
            Value::List list;
            for (const CustomTask& task : w.tasks) {
              Value::Map map = *write(table_of(CustomTask{}), task).get<Value::Map>();
              for (auto& [key, value] : map) {
                if (key != "after") continue;
                Value::List names;
                for (const int i : task.after) {
                  names.push_back(w.tasks[static_cast<std::size_t>(i)].name);
                }
                value = std::move(names);
              }
              list.push_back(std::move(map));
            }
            return Value(std::move(list));
          },
      .needed = true};
}

Kind<std::string> name() {
  constexpr auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return scalar<std::string>(
      {.values = "letters, digits, '_', '-' and '.', at most 64",
       .schema = Value::Map{{"type", "string"}, {"pattern", "^[A-Za-z0-9_.-]+$"}},
       .parse = [=](const std::string& text) {
         const bool good =
             !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), allowed);
         return good ? std::optional(text) : std::nullopt;
       }});
}

/// Bytes of a copy; verified as 32-bit words.
Kind<std::int64_t> copy_bytes() {
  return only(ranged<std::int64_t>("a multiple of 4 B, up to 1 TiB", 4, std::int64_t{1} << 40, "B",
                                   base::parse_bytes),
              [](std::int64_t value) { return value % 4 == 0; });
}

Field<Criterion> limit(const std::string& key, std::optional<double> Criterion::* member,
                       const std::string& help) {
  return field(key, member,
               optional(number("a non-negative number, for `time` a time", 0, any<double>)), help)
      .reads([=](const Reader& map, Criterion& c) { c.*member = read_limit(map, key, c.metric); })
      .defaults_to("none")
      .optional();
}

Field<Deck> sweep() {
  const Value values =
      Value::Map{{"type", "array"},
                 {"minItems", 1},
                 {"items", Value::Map{{"type", Value::List{"integer", "number", "string"}}}}};
  return Field<Deck>{
      .key = "sweep",
      .help =
          "Dotted keys with lists of values; each combination is an experiment. In results the "
          "other keys are those of the first point.",
      .values = "a map of dotted keys to lists, such as {chunks.count: [1, 2, 4]}",
      .schema =
          Value::Map{{"type", "object"}, {"minProperties", 1}, {"additionalProperties", values}}}
      .defaults_to("none")
      .optional();
}

}  // namespace

Kind<double> duration() {
  return seconds("a time above 0 and up to 100 s, such as 0.005 (seconds), 5 ms or 50 us", above_0,
                 100);
}

const Table<Workload>& table_of(const Workload&) {
  using W = Workload;
  using enum WorkloadKind;
  static const Table<W> rows = {{
      selector("kind", &W::kind, word<WorkloadKind>(), "What is computed.").required(),
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
      field("beta", &W::beta, factor(true), "Factor of the C that is there before.").with({dgemm}),
      field("type", &W::type, word<Type>(), "Type of the elements; whole numbers: rowsum only.")
          .reads(read_type)
          .with({increment, rowsum, pipeline, dgemm})
          .defaults_to("`float32`; rowsum: `int32`; dgemm: `float64`"),
      field("sum_type", &W::sum_type, word<SumType>(),
            "Type of the sums: that of the elements, or 64-bit integers for whole numbers.")
          .with({rowsum}),
      field("axis", &W::axis, word<SumAxis>(),
            "What is summed: rows of a row-major array, or columns of a column-major one.")
          .with({rowsum}),
      field("kernel", &W::kernel, word<RowsumKernel>(), "How threads share the sums.")
          .with({rowsum}),
      field("iterations", &W::iterations, count(1, most_chunks), "Iterations over the arrays.")
          .with({pipeline}),
      field("intensity", &W::intensity, intensity(),
            "Repeats of the arithmetic; balanced: as many as make a kernel N times as long as the "
            "copy of its chunk to the device.")
          .with({increment, pipeline}),
      sizes("box", &Box::extent, "Size of the box of a larger array that is worked on.")
          .reads(read_box)
          .defaults_to("`none`"),
      sizes("array", &Box::array, "Size of the array that the box lies in; default: the box's."),
      sizes("origin", &Box::origin, "First element of the box in that array; default: zeros."),
      field("pitch", &W::pitch, or_word("none", bytes(1)),
            "Bytes from the start of a line to that of the next on the host, a multiple of an "
            "element's size; none: lines are adjacent.")
          .reads(read_pitch)
          .with({increment, rowsum}),
      field("host_share", &W::host_share,
            or_word("auto", number("a part of the tiles, from 0 to 1", 0, 1)),
            "Part of the tiles that the order `four_way` leaves to the host; auto: the fastest.")
          .with({dgemm}),
      tasks().with({custom}),
  }};
  return rows;
}

const Table<CustomTask>& table_of(const CustomTask&) {
  using T = CustomTask;
  using enum Stage;
  static const Table<T> rows = {{
      field("name", &T::name, name(), "Its name, unique in the deck.").required(),
      selector("stage", &T::stage, word<Stage>(6), "What it does.").required(),
      field("lane", &T::lane, nonzero(count(1, most_lanes)), "Its lane; lanes count from 1.")
          .required()
          .with({h2d, kernel, d2h, query}),
      field("bytes", &T::bytes, nonzero(copy_bytes()), "What a copy moves; or give `duration`.")
          .with({h2d, d2h})
          .optional(),
      field("duration", &T::duration_s, nonzero(duration()), "How long it is to take.")
          .reads(read_task_duration)
          .with({h2d, kernel, d2h, host, default_stream})
          .optional(),
      field("sms", &T::sms, number("a part of the device, above 0 and up to 1", above_0, 1),
            "Part of the device that the kernel fills.")
          .with({kernel}),
      Field<T>{.key = "after",
               .help = "Tasks that must be complete before it starts.",
               .values = "a list of names of tasks",
               .schema = Value::Map{{"type", "array"}, {"items", Value::Map{{"type", "string"}}}},
               .write = [](const T& task) { return task.after.empty() ? Value() : Value(true); }}
          .with({h2d, kernel, d2h, host})
          .defaults_to("none")
          .optional(),
      field("chunk", &T::chunk, nonzero(count(1, most_chunks)), "Which data it works on.")
          .reads([](const Reader& map, T& task) {
            task.chunk = task.lane;
            if (map.has("chunk")) {
              task.chunk = static_cast<int>(count(1, most_chunks).read(map.at("chunk")));
            }
          })
          .with({h2d, kernel, d2h})
          .defaults_to("its lane"),
  }};
  return rows;
}

const Table<Chunks>& table_of(const Chunks&) {
  const auto either = [](const char* key) {
    return Value(Value::Map{{"required", Value::List{key}}});
  };
  static const Table<Chunks> rows = {
      {selector("profile", &Chunks::profile, word<Profile>(),
                "How the sizes of the chunks differ."),
       field("count", &Chunks::count, optional(count(1, most_chunks)), "Chunks per iteration.")
           .optional()
           .defaults_to("`4`; pipeline, dgemm, custom: `1`"),
       field("bytes", &Chunks::bytes, optional(bytes(1)),
             "Host-to-device bytes of a chunk, at most; instead of `count`.")
           .optional()
           .defaults_to("none"),
       field("growth", &Chunks::growth, number("a number from 1.01 to 100", 1.01, 100),
             "Size of a chunk in proportion to its neighbour nearer to an end.")
           .with({Profile::ramp}),
       field("spread", &Chunks::spread, number("a number from 1 to 1000000", 1, 1e6),
             "Size of the largest chunk in proportion to the smallest, at most.")
           .with({Profile::ramp})},
      {{"oneOf", Value::List{either("count"), either("bytes")}}}};
  return rows;
}

const Table<Memory>& table_of(const Memory&) {
  static const Table<Memory> rows = {{
      selector("host", &Memory::host, word<HostMemory>(),
               "Page-locked when allocated, not at all, or afterwards; or pageable, and passed "
               "through a ring of page-locked slots."),
      field("transfer", &Memory::transfer, word<Transfer>(),
            "Kernels work on copies on the device, or on host memory itself."),
      field("device_limit", &Memory::device_limit, or_word("none", bytes(1)),
            "Device memory to use, at most; with less than the data need, chunks share it."),
      field("ring_slots", &Memory::ring_slots, count(2, 1024), "Slots in each direction.")
          .with({HostMemory::pageable_staged}),
      field("ring_bytes", &Memory::ring_bytes, bytes(4096), "Size of a slot.")
          .with({HostMemory::pageable_staged}),
  }};
  return rows;
}

const Table<Issue>& table_of(const Issue&) {
  static const Table<Issue> rows = {{
      field("orders", &Issue::orders, list_of(word<Order>(), "a list of issue orders", 1),
            "Issue orders, in the order of their runs; each kind of workload has its own.")
          .defaults_to("`[sequential, depth_first, breadth_first]`; dgemm: `[sequential, two_way, "
                       "three_way]`; custom: `[sequential, custom]`"),
      field("lanes", &Issue::lanes, count(1, most_lanes), "Execution-space instances.")
          .defaults_to("`4`; custom: those that its tasks name"),
      field("mechanism", &Issue::mechanism, word<Mechanism>(),
            "Tasks are issued one by one, or as a graph that was captured before."),
      field("sync", &Issue::sync, word<Sync>(),
            "How the host waits: for the device, a lane, an event, or by polling."),
      field("streams", &Issue::streams, word<Streams>(), "Kind of the lanes' CUDA streams."),
  }};
  return rows;
}

const Table<HostWork>& table_of(const HostWork&) {
  static const Table<HostWork> rows = {
      {field("per_chunk", &HostWork::per_chunk_s, duration(), "Work per chunk.").required()}};
  return rows;
}

const Table<Disturb>& table_of(const Disturb&) {
  static const Table<Disturb> rows = {{
      field("operation", &Disturb::operation, word<Disturbance>(), "The call.").required(),
      field("at", &Disturb::at, number("a part of the tasks, from 0 to 1", 0, 1),
            "Part of the tasks that is issued before it."),
      field("times", &Disturb::times, count(1, 10000), "Calls, one after the other."),
  }};
  return rows;
}

const Table<Measure>& table_of(const Measure&) {
  static const Table<Measure> rows = {{
      field("warmup", &Measure::warmup, count(0, 1000000), "Runs before the samples."),
      field("repetitions", &Measure::repetitions, count(1, 1000000), "Samples per order."),
      field("verify", &Measure::verify, word<Verify>(),
            "Samples whose data are verified: each, or the first and the last."),
  }};
  return rows;
}

const Table<Criterion>& table_of(const Criterion&) {
  const auto either = [](const char* key) {
    return Value(Value::Map{{"required", Value::List{key}}});
  };
  static const Table<Criterion> rows = {
      {field("metric", &Criterion::metric, word<Metric>(), "What is judged.").required(),
       field("order", &Criterion::order, optional(word<Order>()),
             "The order it holds for, one of issue.orders.")
           .defaults_to("every order")
           .optional(),
       limit("min", &Criterion::min, "At least this, in the metric's unit."),
       limit("max", &Criterion::max, "At most this, in the metric's unit.")},
      {{"anyOf", Value::List{either("min"), either("max")}}}};
  return rows;
}

const Table<Deck>& table_of(const Deck&) {
  static const Table<Deck> rows = {{
      field("title", &Deck::title, line(), "Title of reports.")
          .reads([](const Reader& deck, Deck& d) {
            d.title = deck.has("title") ? line().read(deck.at("title")) : d.name();
          })
          .defaults_to("the file's name"),
      section("workload", &Deck::workload, table_of(Workload{}), "What is computed.")
          .reads([](const Reader& deck, Deck& d) {
            read(table_of(Workload{}), deck.at("workload"), d.workload);
            check_workload(deck.at("workload"), d.workload);
          }),
      section("chunks", &Deck::chunks, table_of(Chunks{}), "How the data are cut.")
          .reads(read_chunks),
      section("memory", &Deck::memory, table_of(Memory{}), "Where the data lie."),
      section("issue", &Deck::issue, table_of(Issue{}), "How tasks reach the device.")
          .reads(read_issue),
      field("host_work", &Deck::host_work, or_word("none", map_of(table_of(HostWork{}))),
            "Computation by the host while the device works; each order also runs with it."),
      field("disturb", &Deck::disturb, or_word("none", map_of(table_of(Disturb{}))),
            "A call between the tasks; each order but the baseline also runs with it."),
      section("measure", &Deck::measure, table_of(Measure{}), "How often everything runs."),
      field("acceptance", &Deck::acceptance,
            list_of(map_of(table_of(Criterion{})),
                    "a list of criteria, such as [{metric: speedup, min: 1.3}]"),
            "Criteria of the verdict; without any it is PASS when the data are right.")
          .reads(read_acceptance),
      sweep(),
  }};
  return rows;
}

Value resolved(const Deck& deck) { return write(table_of(Deck{}), deck); }

Value resolved_schema() { return schema(table_of(Deck{})); }

}  // namespace overlap::deck
