#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace overlap::report {

/// Throws base::Error{runtime_error} if `path` cannot be written, or its disk is full; leaves
/// nothing behind. Call before anything runs.
void require_writable(const std::string& path);

/// Whether `path` is a device, a pipe or standard output ("-"), which are written directly.
bool is_stream(const std::string& path);

/// The files of a command; detects outputs that would overwrite another of these files. While it
/// lives, no other process writes the outputs: a lock on an empty file beside each, NAME.lock. The
/// lock of a killed process is void. Without effect where a file system has no locks.
class Files {
 public:
  /// Registers an input; `description` names it in errors: "the deck". Ignores an empty path.
  void reads(const std::string& path, const std::string& description);
  /// Registers an output. Throws base::Error{runtime_error} if it cannot be written,
  /// base::Error{usage} if it is already registered or another process writes it. A stream may
  /// occur several times.
  void writes(const std::string& path, const std::string& option);

  /// Writes a registered output, no stream, whose content is not final. Throws as write_file().
  void draft(const std::string& path, const std::string& content);
  /// Puts back what drafts replaced.
  void restore();

 private:
  std::map<std::string, std::string> descriptions_;           ///< by resolved path
  std::map<std::string, std::optional<std::string>> former_;  ///< by path; empty: no file
  std::vector<std::shared_ptr<void>> locks_;
};

/// Writes all of `content` to a descriptor; `path` is for errors. Throws
/// base::Error{runtime_error}.
void write_all(int descriptor, const std::string& path, std::string_view content);

/// Writes a file atomically: to a temporary file in the same folder, then renamed; a symbolic link
/// to a file stays. Streams are written directly. Throws base::Error{runtime_error}.
void write_file(const std::string& path, const std::string& content);

/// Calls write(file), which returns whether it could, for all files; `path` is their member. If one
/// fails, writes the others again, except streams, because they report it; one for which there is
/// no room the second time is removed.
template <class File>
void write_each(const std::vector<File>& files, std::string File::* path, const auto& write) {
  std::vector<const File*> again;
  for (const File& file : files) {
    if (write(file)) again.push_back(&file);
  }
  if (again.size() == files.size()) return;
  for (const File* const file : again) {
    std::error_code ignored;
    if (!is_stream(file->*path) && !write(*file)) std::filesystem::remove(file->*path, ignored);
  }
}

}  // namespace overlap::report
