#include "report/json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "base/version.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"
#include "report/console.hpp"

namespace overlap::report {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// Whole numbers without a fraction.
Json of_number(double value) {
  return value == std::trunc(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json summary(const base::Summary& s) {
  return {{"median", number(s.median)},
          {"min", number(s.min)},
          {"max", number(s.max)},
          {"lo", number(s.lo)},
          {"hi", number(s.hi)}};
}

Json build(const base::BuildInfo& info) {
  const base::Version v = base::version();
  return {{"version", v.version},
          {"git_sha", or_null(std::string(v.git_sha))},
          {"dirty", v.dirty},
          {"compiler", info.compiler},
          {"kokkos_version", info.kokkos_version},
          {"kokkos_kernels_version", or_null(info.kokkos_kernels_version)},
          {"backend", info.backend},
          {"cuda_toolkit", or_null(info.cuda_toolkit)}};
}

Json host(const base::HostInfo& info) {
  return {{"name", info.name},
          {"cpu", info.cpu},
          {"cores", info.cores},
          {"affinity", info.affinity},
          {"total_bytes", info.total_bytes},
          {"available_bytes", info.available_bytes}};
}

Json device(const std::optional<base::DeviceInfo>& info) {
  if (!info) return nullptr;
  return {{"name", info->name},
          {"uuid", or_null(info->uuid)},
          {"compute_capability", or_null(info->compute_capability)},
          {"copy_engines", or_null(info->copy_engines)},
          {"concurrent_kernels", or_null(info->concurrent_kernels)},
          {"free_bytes", or_null(info->free_bytes)},
          {"total_bytes", or_null(info->total_bytes)},
          {"pci_bus_id", or_null(info->pci_bus_id)},
          {"numa_node", or_null(info->numa_node)},
          {"pcie_gen", or_null(info->pcie_gen)},
          {"pcie_gen_max", or_null(info->pcie_gen_max)},
          {"pcie_width", or_null(info->pcie_width)},
          {"pcie_width_max", or_null(info->pcie_width_max)},
          {"clocks",
           {{"sm_mhz", or_null(info->sm_clock_mhz)},
            {"sm_max_mhz", or_null(info->sm_clock_max_mhz)},
            {"memory_mhz", or_null(info->memory_clock_mhz)}}},
          {"ecc", or_null(info->ecc)},
          {"mig", or_null(info->mig)}};
}

Json json_of(const yaml::Value& value) {
  return std::visit(
      [](const auto& v) -> Json {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, yaml::Value::List>) {
          Json list = Json::array();
          for (const yaml::Value& item : v) list.push_back(json_of(item));
          return list;
        } else if constexpr (std::is_same_v<T, yaml::Value::Map>) {
          Json map = Json::object();
          for (const auto& [key, item] : v) map[key] = json_of(item);
          return map;
        } else {
          return v;
        }
      },
      value.data);
}

Json point(const Result& result) {
  Json json = Json::object();
  const yaml::Value deck = resolved(result.deck);
  for (const deck::Point::Value& value : result.point) {
    const yaml::Value* const found = deck.at(value.key);
    json[value.key] = found == nullptr ? Json() : json_of(*found);
  }
  return json;
}

Json wrong(const std::optional<timeline::WrongData>& wrong) {
  if (!wrong) return nullptr;
  return {{"chunk", wrong->chunk},
          {"array", wrong->array},
          {"index", wrong->index},
          {"expected", number(wrong->expected)},
          {"found", number(wrong->found)}};
}

Json balance(const std::optional<timeline::Balance>& balance) {
  if (!balance) return nullptr;
  return {{"repeats", balance->repeats},
          {"copy_s", balance->copy_s},
          {"kernel_s", balance->kernel_s},
          {"ratio", balance->ratio()}};
}

Json trace(const std::optional<timeline::Trace>& trace) {
  if (!trace) return nullptr;
  return {{"source", trace->source},
          {"parts", trace->parts},
          {"perturbation", trace->perturbation},
          {"doubtful", trace->doubtful}};
}

Json median(const std::optional<base::Summary>& value) {
  return value ? Json(value->median) : Json(nullptr);
}

Json rates(const std::optional<timeline::Rates>& rates) {
  if (!rates) return nullptr;
  return {{"h2d_s", rates->h2d_s},
          {"d2h_s", rates->d2h_s},
          {"both_s", rates->both_s > 0 ? Json(rates->both_s) : Json(nullptr)},
          {"kernel_s", rates->kernel_s},
          {"kernel_beside_copies",
           rates->kernel_beside_copies ? Json(*rates->kernel_beside_copies) : Json(nullptr)}};
}

Json bounds(const std::optional<timeline::Bounds>& bounds) {
  if (!bounds) return nullptr;
  const auto engines = [](double seconds) { return seconds > 0 ? Json(seconds) : Json(nullptr); };
  return {{"serial_s", bounds->serial_s},
          {"one_engine_s", engines(bounds->one_engine_s)},
          {"two_engines_s", engines(bounds->two_engines_s)},
          {"limit", bounds->limit}};
}

Json timeline_of(const schedule::Schedule& schedule,
                 const std::optional<timeline::Timeline>& timeline) {
  if (!timeline) return nullptr;
  Json entries = Json::array();
  for (std::size_t id = 0; id < timeline->spans.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    const timeline::Span& span = timeline->spans[id];
    Json entry = {{"task", id}};
    if (!schedule.names.empty()) entry["name"] = schedule.names[id];
    entry.update({{"stage", schedule::to_string(task.stage)},
                  {"chunk", task.chunk},
                  {"lane", task.lane},
                  {"engine", timeline->engines[static_cast<std::size_t>(span.engine)]},
                  {"start_s", span.start_s},
                  {"stop_s", span.stop_s}});
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// A repetition's copying between the host's arrays and the ring.
Json staging(const timeline::Run& run) {
  if (!run.staging || run.samples_s.empty()) return nullptr;
  const auto repetitions = static_cast<double>(run.samples_s.size());
  return {{"fill_s", run.staging->fill_s / repetitions},
          {"drain_s", run.staging->drain_s / repetitions},
          {"threads", run.staging->threads}};
}

Json host_work(const timeline::Run& run, const Result& result) {
  if (!run.host_work) return nullptr;
  const bool measured = !run.host_work->samples_s.empty();
  return {{"threads", measured ? Json(run.host_work->threads) : Json(nullptr)},
          {"time_s", measured ? summary(base::summarize(run.host_work->samples_s)) : Json(nullptr)},
          {"hidden", median(timeline::host_work_hidden(run, result.runs))}};
}

/// What a run says of the matrix product that it computed; null: none.
Json product(const timeline::Run& run) {
  const double flops = timeline::product_flops(run.schedule);
  if (flops == 0) return nullptr;
  const schedule::Traffic traffic = schedule::traffic(run.schedule);
  const double bytes = static_cast<double>(traffic.h2d + traffic.d2h);
  return {
      {"flops", flops},
      {"flop_per_byte", bytes > 0 ? Json(flops / bytes) : Json(nullptr)},
      {"h2d_bytes", traffic.h2d},
      {"d2h_bytes", traffic.d2h},
      {"host_tiles", timeline::host_tiles(run.schedule)},
      {"flop_per_s", run.samples_s.empty() ? Json(nullptr) : summary(timeline::flops_per_s(run))}};
}

Json run(const timeline::Run& run, const Result& result) {
  const bool measured = !run.samples_s.empty();
  return {{"order", deck::to_string(run.order)},
          {"disturb", run.disturbance ? Json(deck::to_string(*run.disturbance)) : Json(nullptr)},
          {"host_work", host_work(run, result)},
          {"device", or_null(run.device)},
          {"point", point(result)},
          {"tasks", run.schedule.tasks.size()},
          {"chunks", run.schedule.chunks.size()},
          {"lanes", run.schedule.lanes},
          {"slots", run.schedule.slots},
          {"bytes", run.bytes},
          {"transfer", deck::to_string(run.schedule.transfer)},
          {"mechanism", deck::to_string(run.schedule.mechanism)},
          {"samples_s", run.samples_s},
          {"time_s", measured ? summary(timeline::time_s(run)) : Json(nullptr)},
          {"issue_s", run.issue_s.empty() ? Json(nullptr) : summary(timeline::issue_s(run))},
          {"polls", run.issue_s.empty() ? Json(nullptr) : Json(run.polls)},
          {"graph", run.graph ? Json{{"capture_s", run.graph->capture_s},
                                     {"instantiate_s", run.graph->instantiate_s}}
                              : Json(nullptr)},
          {"staging", staging(run)},
          {"product", product(run)},
          {"speedup", median(timeline::speedup(run, result.runs))},
          {"throughput",
           measured && run.bytes > 0 ? Json(timeline::throughput(run).median) : Json(nullptr)},
          {"bound_s", run.bounds ? Json(run.bounds->bound_s) : Json(nullptr)},
          {"schedule_bound_s", run.bounds ? Json(run.bounds->schedule_bound_s) : Json(nullptr)},
          {"overlap_efficiency", median(timeline::overlap_efficiency(run, result.runs))},
          {"bound_fraction", median(timeline::bound_fraction(run))},
          {"schedule_bound_fraction", median(timeline::schedule_bound_fraction(run))},
          {"rates", rates(run.rates)},
          {"bounds", bounds(run.bounds)},
          {"predicted_s", or_null(timeline::predicted_s(run))},
          {"max_error", run.verified ? number(run.max_error) : Json(nullptr)},
          {"verified", run.verified && !run.wrong},
          {"wrong", wrong(run.wrong)},
          {"trace", trace(run.trace)},
          {"timeline", run.trace ? timeline_of(run.schedule, run.trace->timeline) : Json(nullptr)},
          // Those of all points of a sweep would be far too much.
          {"predicted_timeline",
           result.point.empty() ? timeline_of(run.schedule, run.predicted) : Json(nullptr)}};
}

Json runs(const Result& result) {
  Json json = Json::array();
  for (const timeline::Run& r : result.runs) json.push_back(run(r, result));
  return json;
}

Json checks(const Result& result) {
  Json json = Json::array();
  for (const verdict::Check& check : result.checks) {
    json.push_back({{"metric", deck::to_string(check.metric)},
                    {"order", deck::to_string(check.order)},
                    {"point", point(result)},
                    {"value", number(check.value.median)},
                    {"bound", check.at_least ? "min" : "max"},
                    {"limit", check.limit},
                    {"verdict", verdict::to_string(check.verdict)},
                    {"reason", or_null(check.reason)}});
  }
  return json;
}

Json choices(const Result& result) {
  Json json = Json::object();
  for (const auto& [name, value] : result.choices) json[name] = value;
  return json;
}

Json verification(const Result& result) {
  return {{"runs", result.verified_runs}, {"reference_s", result.reference_s}};
}

/// A result but for what comes from its runs.
Json frame(const Result& result) {
  return {{"schema", "overlap-result/1"},
          {"build", build(result.build)},
          {"host", host(result.host)},
          {"device", device(result.device)},
          {"title", result.deck.title},
          {"deck",
           {{"path", result.deck.path},
            {"sha256", result.deck.sha256},
            {"resolved", json_of(resolved(result.deck))}}},
          {"choices", choices(result)},
          {"balance", balance(result.balance)},
          {"verification", verification(result)},
          {"runs", runs(result)},
          {"checks", checks(result)},
          {"verdict", verdict::to_string(result.verdict)},
          {"exit_code", static_cast<int>(result.exit_code)}};
}

/// What a summary says; empty where it is null.
std::optional<base::Summary> read_summary(const Json& json, int n) {
  if (json.is_null()) return std::nullopt;
  return base::Summary{.n = n,
                       .median = json.at("median"),
                       .min = json.at("min"),
                       .max = json.at("max"),
                       .lo = json.at("lo"),
                       .hi = json.at("hi")};
}

std::optional<double> read_number(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<double>(json);
}

std::string read_words(const Json& json) { return json.is_null() ? "" : json.get<std::string>(); }

/// The worst of a run and of the checks of its order; empty where nothing ran.
std::string read_verdict(const Json& run, const Json& checks) {
  if (run.at("samples_s").empty()) return "";
  if (!run.at("wrong").is_null()) return "WRONG DATA";
  auto worst = verdict::Verdict::pass;
  for (const Json& check : checks) {
    const bool of_host_work = check.at("metric") == "host_work_hidden";
    if (check.at("order") != run.at("order") || !run.at("disturb").is_null() ||
        run.at("host_work").is_null() == of_host_work) {
      continue;
    }
    if (check.at("verdict") == "FAIL") worst = verdict::Verdict::fail;
    if (check.at("verdict") == "INCONCLUSIVE" && worst == verdict::Verdict::pass) {
      worst = verdict::Verdict::inconclusive;
    }
  }
  return verdict::to_string(worst);
}

Row read_row(const Json& run, const Json& checks) {
  const Json& host_work = run.at("host_work");
  return {
      .order = run.at("order"),
      .disturb = read_words(run.at("disturb")),
      .host_work = !host_work.is_null(),
      .device = read_words(run.at("device")),
      .lanes = run.at("lanes"),
      .chunks = run.at("chunks"),
      .tasks = run.at("tasks"),
      .bytes = run.at("bytes"),
      .time = read_summary(run.at("time_s"), static_cast<int>(run.at("samples_s").size())),
      .speedup = read_number(run.at("speedup")),
      .throughput = read_number(run.at("throughput")),
      .bound_s = read_number(run.at("bound_s")),
      .schedule_bound_s = read_number(run.at("schedule_bound_s")),
      .overlap_efficiency = read_number(run.at("overlap_efficiency")),
      .host_work_hidden = host_work.is_null() ? std::nullopt : read_number(host_work.at("hidden")),
      .predicted_s = read_number(run.at("predicted_s")),
      .verified = run.at("verified"),
      .verdict = read_verdict(run, checks)};
}

/// The result of a sweep: what its points share, and all of their runs.
Json of_sweep(const Sweep& sweep) {
  Json json = frame(sweep.common);
  Json swept = Json::object();
  for (const Axis& axis : sweep.axes) {
    swept[axis.key] = Json::array();
    for (const Axis::Value& value : axis.values) {
      swept[axis.key].push_back(value.number ? of_number(*value.number) : Json(value.text));
    }
  }
  json["deck"]["resolved"]["sweep"] = swept;
  for (const PointResult& point : sweep.done) {
    const Json done = Json::parse(point.record);
    for (const char* key : {"runs", "checks"}) {
      for (const Json& entry : done.at(key)) json[key].push_back(entry);
    }
    json["verification"]["runs"] =
        json["verification"]["runs"].get<int>() + done.at("verification").at("runs").get<int>();
    json["verification"]["reference_s"] = json["verification"]["reference_s"].get<double>() +
                                          done.at("verification").at("reference_s").get<double>();
    for (const auto& [name, value] : done.at("choices").items()) {
      const bool same = !json["choices"].contains(name) || json["choices"][name] == value;
      json["choices"][name] = same ? value : Json("differs from point to point");
    }
  }
  return json;
}

/// Text from outside (paths, titles) may be no UTF-8: replaced, never an exception.
std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const std::vector<Result>& results, int indent) {
  Json all = Json::array();
  for (const Result& result : results) all.push_back(frame(result));
  const Json document = results.size() == 1 ? all.front() : Json{{"results", all}};
  return text_of(document, indent) + "\n";
}

std::string sweep_json(const Sweep& sweep, int indent) {
  return text_of(of_sweep(sweep), indent) + "\n";
}

std::string record(const Result& result, std::size_t number) {
  return text_of({{"point", number},
                  {"fingerprint", fingerprint({result.point, result.deck})},
                  {"choices", choices(result)},
                  {"verification", verification(result)},
                  {"runs", runs(result)},
                  {"checks", checks(result)},
                  {"exit_code", static_cast<int>(result.exit_code)},
                  {"lines", point_lines(result)}},
                 -1);
}

PointResult read_record(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    PointResult point{.number = json.at("point"),
                      .fingerprint = json.at("fingerprint"),
                      .record = line,
                      .rows = {},
                      .lines = json.at("lines"),
                      .code = static_cast<base::ExitCode>(json.at("exit_code").get<int>())};
    for (const Json& run : json.at("runs")) point.rows.push_back(read_row(run, json.at("checks")));
    return point;
  } catch (const Json::exception& error) {
    throw base::Error(base::ExitCode::usage,
                      "found no finished point of a sweep: " + std::string(error.what()));
  }
}

std::string fingerprint(const deck::Point& point) {
  std::string text = text_of(json_of(resolved(point.deck)), -1);
  for (const deck::Point::Value& value : point.values) text += "\n" + value.key;
  return base::sha256(text).substr(0, 16);
}

std::optional<double> number_at(const deck::Deck& deck, const std::string& key) {
  const yaml::Value values = resolved(deck);
  const yaml::Value* const value = values.at(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* const whole = value->get<std::int64_t>()) return static_cast<double>(*whole);
  const auto* const real = value->get<double>();
  return real == nullptr ? std::nullopt : std::optional(*real);
}

}  // namespace overlap::report
