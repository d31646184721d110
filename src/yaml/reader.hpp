#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "yaml/document.hpp"

namespace overlap::yaml {

/// A node of a document with its dotted path, so that errors can name file, line, column and key.
/// May be absent. Cheap to copy; the document must outlive it.
class Reader {
 public:
  /// The whole document. `kind`: its name in messages, such as "deck".
  Reader(const Node& root, std::string kind)
      : node_(&root), kind_(std::move(kind)), above_(root.place) {}

  const std::string& path() const { return path_; }
  /// Place of the value; if absent, of its key or the enclosing map.
  base::SourcePlace place() const;
  bool overridden() const { return place().option > 0; }  ///< by --set

  /// Requires a map with keys from `allowed`, each at most once. An absent node counts as an empty
  /// map. Throws Error{usage}.
  void expect_keys(std::span<const std::string> allowed) const;

  std::vector<std::string> keys() const;  ///< of a map, in its order
  std::size_t size() const { return node_ == nullptr ? 0 : node_->entries.size(); }
  bool has(const std::string& key) const { return at(key).node_ != nullptr; }
  /// The value of a key; absent if there is none.
  Reader at(const std::string& key) const;
  Reader at_key(const std::string& key) const;  ///< the key itself, for errors about it
  /// The value at dotted keys; "orders[1]" is the second item of a list. Absent if there is none.
  Reader at_path(const std::string& keys) const;
  /// Which of two conflicting keys to report: the one set last by --set, else the later one in the
  /// file.
  Reader latest(const std::string& a, const std::string& b) const;
  /// The items of a list of at least `least`; `allowed` describes it in errors. Throws
  /// Error{usage}.
  std::vector<Reader> items(const std::string& allowed, std::size_t least = 0) const;

  /// Whether a key is set to a value other than "none".
  bool gives(const std::string& key) const { return has(key) && !at(key).is("none"); }
  bool is(const std::string& word) const;  ///< a scalar with this text
  bool is(Node::Kind kind) const { return node_ != nullptr && node_->kind == kind; }
  const NodePtr& node_of(std::size_t item) const { return node_->entries[item].value; }
  /// The text of a scalar. Throws Error{usage} for other nodes.
  std::string text(const std::string& allowed = "a single value") const;
  /// The text of a scalar, one of `allowed`. Throws Error{usage}.
  std::string one_of(std::span<const std::string> allowed) const;

  /// Origin of the value, for errors about another key.
  std::string origin() const;

  /// Throws Error{usage} "place: key: message".
  [[noreturn]] void fail(const std::string& message) const;
  /// Throws Error{usage} with the found and the allowed values.
  [[noreturn]] void fail_allowed(const std::string& allowed) const;
  /// Throws Error{usage} with the found and the allowed values and the nearest match.
  [[noreturn]] void fail_allowed(std::span<const std::string> allowed) const;
  /// Throws Error{usage} if two mutually exclusive keys are both set; `remedy` is appended to the
  /// message.
  void expect_one(const std::string& a, const std::string& b, const std::string& remedy = "") const;

 private:
  Reader(const NodePtr& node, std::string path, base::SourcePlace above)
      : node_(node.get()), path_(std::move(path)), above_(std::move(above)) {}

  std::string path_of(const std::string& key) const;
  /// The entry of a key; null key and value if there is none.
  const Node::Entry& entry(const std::string& key) const;

  /// Throws Error{usage} if a decimal comma made this item of a map in braces: {max: 1,5 ms}.
  void fail_comma(std::size_t item) const;

  const Node* node_;
  std::string path_;
  std::string kind_;  ///< of the whole document, whose path is empty
  base::SourcePlace above_;
};

/// "; did you mean 'count'?" for the nearest allowed word, ignoring case; empty if none is near.
std::string suggestion(const std::string& found, std::span<const std::string> allowed);

/// What errors say of a number with a decimal comma.
std::string decimal_comma(const std::string& meant);

}  // namespace overlap::yaml
