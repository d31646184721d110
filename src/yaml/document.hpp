#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

/// YAML documents as trees whose nodes know their place in the source.
namespace overlap::yaml {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

/// A value of a document. Aliases and the points of a sweep share nodes: nodes are immutable, and
/// with() copies the path to a change.
struct Node {
  enum class Kind { null, scalar, list, map };
  struct Entry {
    NodePtr key;  ///< null for a list
    NodePtr value;
  };

  Kind kind = Kind::null;
  base::SourcePlace place;
  std::string text;            ///< of a scalar
  std::vector<Entry> entries;  ///< of a list or a map, in document order

  /// The entry of a map with this key; null: none.
  const Entry* find(std::string_view key) const;
};

/// A file with one document.
struct Document {
  std::string text;
  NodePtr root;  ///< an empty map for an empty file
};

/// Reads a file with one YAML document in UTF-8. `kind`: its name in messages, such as "deck".
/// Throws Error{usage} "place: message".
Document read_document(const std::string& path, const std::string& kind);

/// Applies an option `key.path=VALUE`; `number` is its position among the options. Below the key
/// `sweep` the rest of the path is one key. Throws Error{usage} for an invalid option.
NodePtr with_option(const NodePtr& root, const std::string& option, int number);

/// Sets the value at a path of keys below a node, creating missing maps at the place of the value.
/// `above`: dotted key of the node itself. Throws Error{usage} if the path leads through a node
/// that is not a map.
NodePtr with(const NodePtr& node, std::span<const std::string> path, const NodePtr& value,
             const std::string& above = "");

/// Maximum number of parts of a dotted key; more would be a nesting that no file has.
inline constexpr std::size_t most_parts = 8;

/// Splits a key at its dots.
std::vector<std::string> parts_of(const std::string& key);

/// External text in quotes on one line: base::one_line(), truncated to 100 columns.
std::string quoted(const std::string& text);
/// The same without quotes.
std::string clean(const std::string& text);
/// Description of a node for the user: its text in quotes, "a list", "a map", "nothing".
std::string describe(const Node* node);

/// File name without folder and extension, safe for key=value lines.
std::string name_of(const std::string& path);

}  // namespace overlap::yaml
