#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "deck/words.hpp"

namespace overlap::deck {

/// A place in a YAML document that knows its dotted path and where it stands, so that every error
/// can name file, line, column and key. Cheap to copy.
class Reader {
 public:
  /// Where values came from: the file, or the command line for those below an override.
  struct Source {
    std::string file;
    std::map<std::string, std::string> overrides;  ///< dotted key -> the option as typed
    std::map<std::string, base::Place> places;     ///< of every key met
  };

  Reader(YAML::Node node, std::string path, Source& source)
      : node_(std::move(node)), path_(std::move(path)), source_(&source) {}

  const std::string& path() const { return path_; }
  base::Place place() const;

  /// Requires a map whose keys are all among `allowed` and appear once. An absent node is an empty
  /// map.
  void expect_keys(std::span<const std::string> allowed) const;

  bool has(const std::string& key) const;
  Reader at(const std::string& key) const;
  std::vector<Reader> items() const;  ///< of a list

  /// The scalar as text; an error when the node is a list or a map.
  std::string text() const;

  std::int64_t count(std::int64_t least, std::int64_t most) const;
  std::int64_t bytes(std::int64_t least) const;
  double number() const;

  template <class Enum>
  Enum word() const {
    const std::string found = text();
    for (const auto& word : words<Enum>) {
      if (word.name == found) return word.value;
    }
    fail_allowed(found, spellings<Enum>());
  }

  /// Throws Error{usage} "place: key: message".
  [[noreturn]] void fail(const std::string& message) const;
  /// Throws: found, allowed, nearest match.
  [[noreturn]] void fail_allowed(const std::string& found,
                                 std::span<const std::string> allowed) const;

 private:
  YAML::Node node_;
  std::string path_;
  Source* source_;
};

/// Applies `key.path=VALUE` to the document; throws Error{usage} when it cannot.
void apply_override(YAML::Node& root, const std::string& option, Reader::Source& source);

}  // namespace overlap::deck
