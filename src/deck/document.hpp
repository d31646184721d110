#pragma once

#include <string>

#include "deck/reader.hpp"

namespace overlap::deck {

/// A YAML file, read but not yet understood: a deck or a device description.
struct Document {
  std::string text;
  YAML::Node root;  ///< an empty map where the file is empty
  Reader::Source source;

  /// Of the whole; the document must outlive it.
  Reader reader() { return {root, "", source, {source.file}}; }
};

/// Reads a file with one YAML document in UTF-8. `kind` is what messages call it, such as "deck".
/// Throws Error{usage} "place: message".
Document read_document(const std::string& path, const std::string& kind);

/// The file's name without folder and ending, fit for key=value lines.
std::string name_of(const std::string& path);

}  // namespace overlap::deck
