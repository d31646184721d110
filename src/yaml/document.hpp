#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

/// YAML files as trees that know where each of their parts was written.
namespace overlap::yaml {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

/// A value of a document. Aliases share nodes, and so do the points of a sweep: nodes never change,
/// with() copies what leads to a change.
struct Node {
  enum class Kind { null, scalar, list, map };
  struct Entry {
    NodePtr key;  ///< of a list: null
    NodePtr value;
  };

  Kind kind = Kind::null;
  base::SourcePlace place;
  std::string text;            ///< of a scalar
  std::vector<Entry> entries;  ///< of a list or a map, in the document's order

  /// The entry of a map with this key; null: there is none.
  const Entry* find(std::string_view key) const;
};

/// A file with one document.
struct Document {
  std::string text;
  NodePtr root;  ///< an empty map where the file is empty
};

/// Reads a file with one YAML document in UTF-8. `kind` is what messages call it, such as "deck".
/// Throws Error{usage} "place: message".
Document read_document(const std::string& path, const std::string& kind);

/// The document with what an option `key.path=VALUE` sets, where `number` counts the options. Below
/// the key `sweep` the rest of the path is one key. Throws Error{usage} when it cannot.
NodePtr with_option(const NodePtr& root, const std::string& option, int number);

/// A node with a value at a path of keys below it. Maps that are missing are made, at the value's
/// place. `above` are the node's own keys. Throws Error{usage} where the path leads through a node
/// that is not a map.
NodePtr with(const NodePtr& node, std::span<const std::string> path, const NodePtr& value,
             const std::string& above = "");

/// The parts between the dots of a key.
std::vector<std::string> parts_of(const std::string& key);

/// Text from outside in quotes, as one short line: base::one_line() with a long tail cut.
std::string quoted(const std::string& text);
/// The same without quotes.
std::string clean(const std::string& text);
/// What a node is, in the user's words: its text in quotes, "a list", "a map", "nothing".
std::string describe(const Node* node);

/// The file's name without folder and ending, fit for key=value lines.
std::string name_of(const std::string& path);

}  // namespace overlap::yaml
