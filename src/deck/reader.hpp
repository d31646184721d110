#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
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
    std::string kind = "deck";  ///< what messages call the file
    /// Dotted key that an option made or replaced, and that option as typed, in their order.
    std::vector<std::pair<std::string, std::string>> overrides;
    std::map<std::string, base::Place> places;  ///< of every key met
    std::map<std::string, base::Place> swept;   ///< of the values that a sweep gives keys
  };

  /// `above` is the place of a node that has none of its own: of its key or of the map it is not
  /// in.
  Reader(YAML::Node node, std::string path, Source& source, base::Place above)
      : node_(std::move(node)),
        path_(std::move(path)),
        source_(&source),
        above_(std::move(above)) {}

  const std::string& path() const { return path_; }
  base::Place place() const;
  bool overridden() const;  ///< by --set

  /// Requires a map whose keys are all among `allowed` and appear once. An absent node is an empty
  /// map.
  void expect_keys(std::span<const std::string> allowed) const;

  /// Requires a map, whatever its keys; `allowed` says what should be in it.
  void expect_map(const std::string& allowed) const;

  std::vector<std::string> keys() const;  ///< of a map, in its order
  bool has(const std::string& key) const;
  std::size_t size() const { return node_.size(); }  ///< of a list or a map, else 0
  Reader at(const std::string& key) const;
  Reader at_key(const std::string& key) const;  ///< the key itself, for errors about it
  /// The one of two given keys to blame when they clash: the one that --set gave last, else the
  /// later one in the file.
  Reader latest(const std::string& a, const std::string& b) const;
  /// Of a list; `allowed` says what it should be when it is none.
  std::vector<Reader> items(const std::string& allowed) const;

  const YAML::Node& node() const { return node_; }
  bool is_list() const { return node_.IsSequence(); }
  bool is(const std::string& word) const;  ///< whether it is this scalar
  /// The scalar as text; an error when the node is anything else.
  std::string text(const std::string& allowed = "a single value") const;

  std::int64_t count(std::int64_t least, std::int64_t most) const;
  /// `alternative` is a word that the caller takes instead of a size.
  std::int64_t bytes(std::int64_t least, const std::string& alternative = "") const;
  /// A finite number of at least `least`.
  double number(const std::string& allowed, double least = 0) const;
  /// A time in seconds, from `least` to `most`.
  double seconds(const std::string& allowed, double least = 0,
                 double most = std::numeric_limits<double>::infinity()) const;
  double bandwidth() const;  ///< bytes per second, at least 1
  bool flag() const;         ///< true or false
  std::string line() const;  ///< one line of text

  template <class Enum>
  Enum word() const {
    const std::vector<std::string> allowed = spellings<Enum>();
    const std::string found = one_of(allowed);
    for (const auto& word : words<Enum>) {
      if (word.name == found) return word.value;
    }
    fail_allowed(allowed);
  }
  /// The scalar, one of `allowed`.
  std::string one_of(std::span<const std::string> allowed) const;

  /// Throws Error{usage} "place: key: message".
  [[noreturn]] void fail(const std::string& message) const;
  /// Throws: what was found, what is allowed.
  [[noreturn]] void fail_allowed(const std::string& allowed) const;
  /// Throws: what was found, what is allowed, the nearest match.
  [[noreturn]] void fail_allowed(std::span<const std::string> allowed) const;

 private:
  std::string path_of(const std::string& key) const;
  /// Key and value; both undefined when the key is not there.
  std::pair<YAML::Node, YAML::Node> find(const std::string& key) const;
  /// Number of the last override that gave this node, from 1; 0: none.
  std::size_t override_number() const;

  YAML::Node node_;
  std::string path_;
  Source* source_;
  base::Place above_;
};

/// "; did you mean 'count'?" for the nearest allowed word, empty where none is near. Case is
/// ignored.
std::string suggestion(const std::string& found, std::span<const std::string> allowed);

/// Text from outside in quotes, as one short line: control characters escaped, a long tail cut.
std::string quoted(const std::string& text);

/// Applies `key.path=VALUE` to the document; throws Error{usage} when it cannot.
void apply_override(YAML::Node& root, const std::string& option, Reader::Source& source);

}  // namespace overlap::deck
