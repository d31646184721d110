#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "deck/deck.hpp"

namespace overlap {

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    path_ = (std::filesystem::temp_directory_path() / "overlap-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  /// The path of a file that it writes.
  std::string write(const std::string& name, const std::string& text) const {
    std::string file_path = path_ + "/" + name;
    std::ofstream file(file_path, std::ios::binary);
    file << text;
    if (!file.flush()) throw std::runtime_error(file_path + ": cannot be written");
    return file_path;
  }

 private:
  std::string path_;
};

/// A deck in a folder of its own; both go with it.
class DeckFile {
 public:
  explicit DeckFile(const std::string& text, const std::string& name = "deck.yaml")
      : path_(folder_.write(name, text)) {}

  const std::string& path() const { return path_; }
  const std::string& folder() const { return folder_.path(); }

 private:
  Folder folder_;
  std::string path_;
};

/// The first point of a deck.
inline deck::Deck load(const std::string& path, const std::vector<std::string>& overrides = {}) {
  return deck::load_points(path, overrides).front().deck;
}

}  // namespace overlap
