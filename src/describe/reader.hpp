#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "describe/document.hpp"

namespace overlap::describe {

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
  bool overridden() const { return place().option > 0; }  ///< by --set
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
  /// The value at dotted keys; "orders[1]" is the second item of a list. Absent if there is none.
  Reader at_path(const std::string& keys) const;
  Reader item(std::size_t number) const;  ///< of a list
  /// The items of a list of at least `least`; `allowed` describes it in errors. Throws Error.
  std::vector<Reader> items(std::string_view allowed, std::size_t least = 0) const;
  /// Which of two conflicting keys to report: the one set last by --set, else the later one in the
  /// file.
  Reader latest(const std::string& a, const std::string& b) const;
  std::vector<std::string> keys() const;  ///< of a map, in its order

  /// The text of a scalar. Throws Error for other values.
  std::string text(const std::string& allowed = "a single value") const;
  /// The text of a scalar, one of `allowed`. Throws Error.
  std::string one_of(std::span<const std::string> allowed) const;
  /// Requires a map with keys from `allowed`, or nothing. Throws Error.
  void expect_keys(std::span<const std::string> allowed) const;
  /// Throws Error if two mutually exclusive keys are both set; `remedy` is appended to the message.
  void expect_one(const std::string& a, const std::string& b, const std::string& remedy = "") const;

  /// Throws Error "place: key: message": of usage or, in a result file, a runtime error.
  [[noreturn]] void fail(const std::string& message) const;
  /// The same about a key of this map, whatever its value.
  [[noreturn]] void fail_at_key(const std::string& key, const std::string& message) const;
  /// Throws Error with the found and the allowed values.
  [[noreturn]] void fail_allowed(const std::string& allowed) const;
  /// Throws Error with the found and the allowed values and the nearest match.
  [[noreturn]] void fail_allowed(std::span<const std::string> allowed) const;

 private:
  Reader(const Document& document, const Json* value, std::string path)
      : document_(&document), value_(value), path_(std::move(path)) {}

  /// Throws Error if a decimal comma made this key of a map in braces: {max: 1,5 ms}.
  void expect_no_comma(const std::string& key) const;

  const Document* document_;
  const Json* value_;
  std::string path_;
};

}  // namespace overlap::describe
