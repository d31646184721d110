#pragma once

#include <string>

namespace overlap::report {

/// Throws base::Error{runtime_error} if `path` cannot be written; leaves nothing behind. To be
/// asked before anything runs.
void require_writable(const std::string& path);

/// Whether `path` is a device, a pipe or what the process has open (/dev/stdout): beside it there
/// is no place for another file.
bool is_stream(const std::string& path);

/// The file that a name leads to, the same for all names of one file.
std::string written_to(const std::string& path);

/// Writes all of it to what the process has open; `path` is for the error. Throws
/// base::Error{runtime_error}.
void write_all(int descriptor, const std::string& path, const std::string& content);

/// Writes a file whole or not at all: beside its place first, then renamed; a link stays a link.
/// Devices, pipes and what the process has open (/dev/stdout) are written directly. Throws
/// base::Error{runtime_error}.
void write_file(const std::string& path, const std::string& content);

}  // namespace overlap::report
