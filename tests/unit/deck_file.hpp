#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "deck/deck.hpp"

namespace overlap {

/// A deck in a folder of its own; both go with it.
class DeckFile {
 public:
  explicit DeckFile(const std::string& text, const std::string& name = "deck.yaml") {
    folder_ = (std::filesystem::temp_directory_path() / "overlap-XXXXXX").string();
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = folder_ + "/" + name;
    std::ofstream file(path_, std::ios::binary);
    file << text;
    if (!file.flush()) throw std::runtime_error(path_ + ": cannot be written");
  }
  ~DeckFile() { std::filesystem::remove_all(folder_); }
  DeckFile(const DeckFile&) = delete;
  DeckFile& operator=(const DeckFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  std::string path_;
};

/// The first point of a deck.
inline deck::Deck load(const std::string& path, const std::vector<std::string>& overrides = {}) {
  return deck::load_points(path, overrides).front().deck;
}

}  // namespace overlap
