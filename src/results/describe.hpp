#pragma once

#include <cmath>

#include "results/result.hpp"

/// Descriptions of plain data of other folders, as result files spell them, and what results of all
/// kinds share.
namespace overlap::base {
void describe(describe::Visitor& v, Summary& s);
void describe(describe::Visitor& v, Estimate& e);
void describe(describe::Visitor& v, BuildInfo& build);
void describe(describe::Visitor& v, HostInfo& host);
void describe(describe::Visitor& v, DeviceInfo& device);
void describe(describe::Visitor& v, Job& job);
void describe(describe::Visitor& v, Placement& placement);
void describe(describe::Visitor& v, Health& health);
}  // namespace overlap::base

namespace overlap::model {
void describe(describe::Visitor& v, Rates& rates);
void describe(describe::Visitor& v, Bounds& bounds);
}  // namespace overlap::model

namespace overlap::results {

/// A text that is null where it is empty; a key that is missing counts as null.
struct TextOrNull {
  using Type = std::string;
  void read(const describe::Reader& reader, std::string& into) const {
    into.clear();
    if (reader.exists() && !reader.is_null()) describe::read(describe::Text(), reader, into);
  }
  Json write(const std::string& text) const { return text.empty() ? Json() : Json(text); }
  describe::Values values() const { return describe::or_null(describe::Text().values()); }
};

/// A text that is not empty.
struct Name : describe::Text {
  std::optional<std::string> parse(const Json& found) const {
    auto text = describe::Text::parse(found);
    return text && !text->empty() ? text : std::nullopt;
  }
  describe::Values values() const { return {"a name", {{"type", "string"}}}; }
};

/// When something happened, UTC.
struct Moment : describe::Text {
  std::optional<std::string> parse(const Json& found) const;
  describe::Values values() const {
    return {"a time such as 2026-01-31T12:00:00Z", {{"type", "string"}}};
  }
};

/// Times of repetitions, seconds.
struct Times : describe::List<describe::Real> {
  Times() : List{{.allowed = "a time above 0", .least = describe::above_0}, "a list of times"} {}
  void read(const describe::Reader& reader, Type& into) const;
};

/// A number that is null where it is not finite.
struct NumberOrNull : describe::Real {
  Json write(double value) const { return std::isfinite(value) ? Json(value) : Json(); }
  describe::Values values() const { return describe::or_null(describe::Real::values()); }
};

/// A hash of a file.
struct Hash : describe::Text {
  describe::Values values() const {
    return {"a hash", {{"type", "string"}, {"pattern", "^[0-9a-f]{64}$"}}};
  }
};

/// An exit code of the program, as a number.
struct CodeNumber {
  using Type = base::ExitCode;
  std::optional<base::ExitCode> parse(const Json& found) const;
  Json write(base::ExitCode code) const { return static_cast<int>(code); }
  describe::Values values() const;
};

/// The one text that a key can have, such as the name and version of a format.
struct OneText {
  using Type = std::string;
  std::string text;
  std::optional<std::string> parse(const Json& found) const {
    return found == text ? std::optional(text) : std::nullopt;
  }
  Json write(const std::string&) const { return text; }
  describe::Values values() const { return {text, {{"const", text}}, "", {text}}; }
};

/// Swept keys and their values.
struct Values {
  using Type = Json;
  void read(const describe::Reader& reader, Json& into) const {
    if (!reader.is_map()) reader.fail_allowed("a map of swept keys");
    into = reader.value();
  }
  Json write(const Json& values) const { return values; }
  describe::Values values() const { return {"a map of swept keys", {{"type", "object"}}}; }
};

/// A key whose value follows from others: written, and not used when it is read.
template <class T>
void derived(describe::Visitor& v, std::string_view key, T value, std::string_view help,
             const auto&... more) {
  v(key, value, help, more...);
}
inline void describe_schema(describe::Visitor& v, const char* schema) {
  derived(v, "schema", std::string(), "Name and version of this format.", OneText{schema});
}

/// What identifies a figure.
void describe_key(describe::Visitor& v, FigureKey& key);
/// Median and interval of a figure.
void describe_value(describe::Visitor& v, base::Summary& value);

}  // namespace overlap::results
