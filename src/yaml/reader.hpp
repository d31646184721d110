#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "yaml/document.hpp"

namespace overlap::yaml {

/// A node of a document that knows its dotted path, so that every error can name file, line, column
/// and key. It may be absent. Cheap to copy; the document must outlive it.
class Reader {
 public:
  /// The whole document; `kind` is what messages call it, such as "deck".
  Reader(const Node& root, std::string kind)
      : node_(&root), kind_(std::move(kind)), above_(root.place) {}

  const std::string& path() const { return path_; }
  /// A value that is not there is where its key or the map around it is.
  base::SourcePlace place() const;
  bool overridden() const { return place().option > 0; }  ///< by --set

  /// Requires a map whose keys are all among `allowed` and appear once. An absent node is an empty
  /// map.
  void expect_keys(std::span<const std::string> allowed) const;

  std::vector<std::string> keys() const;  ///< of a map, in its order
  std::size_t size() const { return node_ == nullptr ? 0 : node_->entries.size(); }
  bool has(const std::string& key) const { return at(key).node_ != nullptr; }
  /// The value of a key; absent where there is none.
  Reader at(const std::string& key) const;
  Reader at_key(const std::string& key) const;  ///< the key itself, for errors about it
  /// The value at dotted keys, where "orders[1]" is a list's second item; absent where there is
  /// none.
  Reader at_path(const std::string& keys) const;
  /// The one of two given keys to blame when they clash: the one that --set gave last, else the
  /// later one in the file.
  Reader latest(const std::string& a, const std::string& b) const;
  /// Of a list of at least `least`; `allowed` describes it.
  std::vector<Reader> items(const std::string& allowed, std::size_t least = 0) const;

  /// Whether a key has a value other than the word for having none.
  bool gives(const std::string& key) const { return has(key) && !at(key).is("none"); }
  bool is(const std::string& word) const;  ///< this scalar
  bool is(Node::Kind kind) const { return node_ != nullptr && node_->kind == kind; }
  const NodePtr& node_of(std::size_t item) const { return node_->entries[item].value; }
  /// The scalar as text; an error when the node is anything else.
  std::string text(const std::string& allowed = "a single value") const;
  /// The scalar, one of `allowed`.
  std::string one_of(std::span<const std::string> allowed) const;

  /// Where the value came from, for errors at another key.
  std::string origin() const;

  /// Throws Error{usage} "place: key: message".
  [[noreturn]] void fail(const std::string& message) const;
  /// Throws: what was found, what is allowed.
  [[noreturn]] void fail_allowed(const std::string& allowed) const;
  /// Throws: what was found, what is allowed, the nearest match.
  [[noreturn]] void fail_allowed(std::span<const std::string> allowed) const;
  /// Throws where two keys of a map that exclude each other are both given. `remedy` may follow.
  void expect_one(const std::string& a, const std::string& b, const std::string& remedy = "") const;

 private:
  Reader(const NodePtr& node, std::string path, base::SourcePlace above)
      : node_(node.get()), path_(std::move(path)), above_(std::move(above)) {}

  std::string path_of(const std::string& key) const;
  /// Of nulls where there is no such key.
  const Node::Entry& entry(const std::string& key) const;

  const Node* node_;
  std::string path_;
  std::string kind_;  ///< of the whole document, which has no path
  base::SourcePlace above_;
};

/// "; did you mean 'count'?" for the nearest allowed word, empty where none is near. Case is
/// ignored.
std::string suggestion(const std::string& found, std::span<const std::string> allowed);

}  // namespace overlap::yaml
