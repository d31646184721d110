#pragma once

#include <map>
#include <string>

namespace overlap::report {

/// Throws base::Error{runtime_error} if `path` cannot be written; leaves nothing behind. To be
/// asked before anything runs.
void require_writable(const std::string& path);

/// Whether `path` is a device, a pipe or what the process has open (/dev/stdout): beside it there
/// is no place for another file.
bool is_stream(const std::string& path);

/// The files of a command: none is written that is another one of them.
class Files {
 public:
  /// `what` it is, for errors: "the deck". An empty path is none.
  void reads(const std::string& path, const std::string& what);
  /// Throws base::Error{runtime_error} if it cannot be written, base::Error{usage} if it is one of
  /// the others. Any number may be written to one stream.
  void writes(const std::string& path, const std::string& option);

 private:
  std::map<std::string, std::string> known_;  ///< what they are, by where their names lead
};

/// Writes all of it to what the process has open; `path` is for the error. Throws
/// base::Error{runtime_error}.
void write_all(int descriptor, const std::string& path, const std::string& content);

/// Writes a file whole or not at all: beside its place first, then renamed; a link stays a link.
/// Devices, pipes and what the process has open (/dev/stdout) are written directly. Throws
/// base::Error{runtime_error}.
void write_file(const std::string& path, const std::string& content);

}  // namespace overlap::report
