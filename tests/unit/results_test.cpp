#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "generated.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"

/// Results: what is written is read, and no report can tell the difference.
namespace overlap {
namespace {

using describe::Json;
using results::Result;

/// A value that a schema allows.
class Any {
 public:
  explicit Any(unsigned seed) : random_(seed) {}

  Json value(const Json& schema) {
    if (schema.contains("const")) return schema["const"];
    if (schema.contains("enum")) return pick(schema["enum"]);
    for (const char* const key : {"oneOf", "anyOf"}) {
      if (schema.contains(key)) return value(pick(schema[key]));
    }
    Json types = schema.value("type", Json("string"));
    const std::string type = types.is_array() ? pick(types) : types;
    if (type == "object") return object(schema);
    if (type == "array") {
      Json list = Json::array();
      for (int i = below(4); i > 0; --i) list.push_back(value(schema["items"]));
      return list;
    }
    if (type == "boolean") return below(2) == 0;
    if (type == "integer") return 1 + below(9);
    if (type == "number") {
      const double any = number();
      return any == 0 && schema.contains("exclusiveMinimum") ? 1 : any;
    }
    if (type == "null") return nullptr;
    return text();
  }

 private:
  Json object(const Json& schema) {
    Json map = Json::object();
    const Json keys = schema.value("properties", Json::object());
    for (const auto& [key, part] : keys.items()) map[key] = value(part);
    if (schema.contains("additionalProperties") && keys.empty()) {
      for (int i = below(3); i > 0; --i) map[text()] = value(schema["additionalProperties"]);
    }
    return map;
  }
  Json number() {
    constexpr std::array<double, 4> odd = {0, 1e-300, 1.0 / 3, 12345678.9};
    return below(3) == 0 ? odd[static_cast<std::size_t>(below(4))] : 1e-3 * (1 + below(5000));
  }
  std::string text() {
    const std::vector<std::string> texts = {"a", "<b> & \"c\"", "ä,ö", "x\ny", "\x1b[1m", "7 %"};
    return texts[static_cast<std::size_t>(below(static_cast<int>(texts.size())))];
  }
  Json pick(const Json& list) {
    return list.at(static_cast<std::size_t>(below(static_cast<int>(list.size()))));
  }
  int below(int end) { return std::uniform_int_distribution(0, end - 1)(random_); }

  std::mt19937 random_;
};

/// A result whose every field is random, but for what ties fields together.
Result any_result(unsigned seed) {
  static const Json schema = describe::schema<Result>();
  Any any(seed);
  Json json = any.value(schema);
  const auto same_length = [](Json& rates) {
    if (!rates.is_object()) return;
    for (const char* const key : {"d2h_s", "duplex_s", "duplex_h2d_s", "duplex_d2h_s"}) {
      rates[key] = rates["h2d_s"];
    }
  };
  json["started"] = "2026-01-31T12:00:00Z";
  json["host"]["name"] = json["host"]["cpu"] = json["build"]["backend"] = "x";
  json["deck"]["resolved"] = {{"workload", {{"kind", "increment"}}},
                              {"memory", {{"host", "pinned"}}}};
  if (json["points"].empty())
    json["points"].push_back(any.value(schema["properties"]["points"]["items"]));
  for (Json& point : json["points"]) {
    same_length(point["rates"]);
    point["values"] = Json::object();
    point["text"] = Json::object();
    for (Json& run : point["runs"]) {
      for (const char* const key : {"timeline", "predicted_timeline"}) {
        if (!run[key].is_array()) continue;
        for (Json& task : run[key]) task["after"] = Json::array();
      }
    }
  }
  Result result;
  const describe::Document document = describe::parse_json("any.json", json.dump());
  describe::read(describe::Reader(document), result);
  return result;
}

Result again(const Result& result) {
  const std::string text = describe::write(result).dump();
  const describe::Document document = describe::parse_json("again.json", text);
  Result read;
  describe::read(describe::Reader(document), read);
  return read;
}

/// Everything that is said of results, by name.
std::vector<std::pair<std::string, std::string>> all_reports(const report::Results& all) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const report::Writer& writer : report::writers) {
    texts.emplace_back(std::string(writer.option) + std::string(writer.suffix), writer.write(all));
  }
  for (const bool verbose : {false, true}) {
    texts.emplace_back("terminal", report::terminal(report::report(all), {.verbose = verbose}));
  }
  for (const Result& result : all) texts.emplace_back("lines", report::result_lines(result));
  return texts;
}

void expect_same_reports(const Result& result) {
  const auto first = all_reports({result}), second = all_reports({again(result)});
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].second, second[i].second) << first[i].first;
  }
}

TEST(Results, NoReportTellsAResultFromTheSameReadFromItsFile) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    expect_same_reports(any_result(seed));
    if (HasFailure()) break;
  }
}

TEST(Results, NumbersThatAreNotFiniteAreNull) {
  Result result = any_result(1);
  results::Check& check = result.points[0].checks.emplace_back();
  check.value.median = std::numeric_limits<double>::quiet_NaN();
  check.limit = std::numeric_limits<double>::infinity();
  const Result read = again(result);
  EXPECT_TRUE(std::isnan(read.points[0].checks.back().value.median));
  EXPECT_TRUE(std::isnan(read.points[0].checks.back().limit));
}

}  // namespace
}  // namespace overlap
