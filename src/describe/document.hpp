#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

/// Documents in YAML or JSON as one kind of tree, with places in the source.
namespace overlap::describe {

/// A value of a document, or one to be written. Maps keep their order. Scalars of YAML are strings.
using Json = nlohmann::ordered_json;

struct Document {
  /// Line and column count from 1; line 0: the whole origin.
  struct Place {
    int origin = 0;  ///< index into `origins`
    int line = 0;
    int column = 0;
  };
  struct Places {
    Place key, value;
  };

  std::string kind;                  ///< its name in messages, such as "deck"
  std::vector<std::string> origins;  ///< the file, then the text of each option that changed it
  /// Of a result file: keys that no reader knows are ignored, others must be there.
  bool json = false;
  std::string sha256 = {};  ///< of the file
  Json root = Json::object();
  /// By path; null in JSON. Copies share them.
  std::shared_ptr<std::map<std::string, Places>> places = {};
  /// What set() changed; the last one that a path lies in counts.
  std::vector<std::pair<std::string, Place>> changes = {};

  /// The place of the value at a path or, without one, of its key or what it would lie in.
  base::SourcePlace place(const std::string& path) const;
  base::SourcePlace key_place(const std::string& path) const;
  /// Sets the value at a dotted key, creating missing maps; the rest of the path below `sweep` is
  /// one key. `origin`: path of a value whose place it gets; empty: the last option. Throws
  /// Error{usage} for a path that no deck has and one through a value that is not a map.
  void set(const std::string& key, Json value, const std::string& origin = "");
};

/// Reads a YAML file in UTF-8. `kind`: its name in messages. Throws Error{usage} "place: message".
Document read_yaml(const std::string& path, const std::string& kind);
/// Adds the text of an option to the origins and parses its value. Throws Error{usage}.
Json parse_option(Document& document, const std::string& option, const std::string& value);
/// Parses the text of a result file, except the values of the keys `without`. Throws
/// Error{runtime_error}.
Document parse_json(const std::string& path, const std::string& text,
                    std::span<const std::string_view> without = {});

/// A value of a document with its path, so that errors can name file, line, column and key. May be
/// absent. Cheap to copy; the document must outlive it.
class Reader {
 public:
  explicit Reader(const Document& document) : Reader(document, &document.root, "") {}

  const Document& document() const { return *document_; }
  Reader root() const { return Reader(*document_); }
  const std::string& path() const { return path_; }
  /// Place of the value; if absent, of its key or the enclosing map.
  base::SourcePlace place() const { return document_->place(path_); }
  /// Origin of the value, for errors about another key.
  std::string origin() const { return exists() ? base::to_string(place()) : "by default"; }

  bool exists() const { return value_ != nullptr; }
  const Json& value() const { return *value_; }
  bool is_map() const { return exists() && value_->is_object(); }
  bool is_list() const { return exists() && value_->is_array(); }
  bool is_null() const { return exists() && value_->is_null(); }
  bool is_text() const { return exists() && value_->is_string(); }
  bool is(std::string_view word) const { return is_text() && *value_ == word; }
  std::size_t size() const { return is_map() || is_list() ? value_->size() : 0; }

  bool has(const std::string& key) const { return is_map() && value_->contains(key); }
  /// Whether a key is set to a value other than "none".
  bool gives(const std::string& key) const { return has(key) && !at(key).is("none"); }
  /// The value of a key; absent if there is none.
  Reader at(const std::string& key) const;
  /// The value at dotted keys. Absent if there is none.
  Reader at_path(const std::string& keys) const;
  Reader item(std::size_t number) const;  ///< of a list
  /// The items of a list of at least `least`; `allowed` describes it in errors. Throws Error.
  std::vector<Reader> items(std::string_view allowed, std::size_t least = 0) const;
  std::vector<std::string> keys() const;  ///< of a map, in its order

  /// The text of a scalar. Throws Error for other values.
  std::string text(const std::string& allowed = "a single value") const;
  /// Throws Error if two mutually exclusive keys are both set.
  void expect_one(const std::string& a, const std::string& b) const;

  /// Throws Error "place: key: message": of usage or, in a result file, a runtime error.
  [[noreturn]] void fail(const std::string& message) const;
  /// The same about a key of this map, whatever its value.
  [[noreturn]] void fail_at_key(const std::string& key, const std::string& message) const;
  /// Throws Error with the found and the allowed values.
  [[noreturn]] void fail_allowed(const std::string& allowed) const;

 private:
  Reader(const Document& document, const Json* value, std::string path)
      : document_(&document), value_(value), path_(std::move(path)) {}

  const Document* document_;
  const Json* value_;
  std::string path_;
};

/// The path of a key of a map, of which `above` is the path.
std::string path_of(const std::string& above, const std::string& key);
/// Splits a key at its dots.
std::vector<std::string> split_key(const std::string& key);
/// The value at dotted keys, such as "memory.host"; null: no such key.
Json value_at(const Json& map, std::string key);
/// The value as one line of YAML. Texts are quoted only for a file, where they need it.
std::string spell(const Json& value, bool for_file = false);

/// What messages say of a value: its text in quotes, "a list", "a map", "nothing".
std::string found(const Json* value);
/// External text in quotes on one line: base::one_line() with spelled spaces, truncated to 100
/// columns.
std::string quoted(const std::string& text);
/// The same without quotes.
std::string clean(const std::string& text);
/// "; did you mean 'count'?" for the nearest allowed word by edit distance, ignoring case. Empty
/// unless the distance is at most a third of the length of the word (at least 1), so that only
/// likely typing errors match, or one of both begins the other.
std::string suggestion(const std::string& text, std::span<const std::string> allowed);
/// File name without folder and extension, safe for key=value lines.
std::string name_of(const std::string& path);

}  // namespace overlap::describe
