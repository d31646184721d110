// Loaded before the C library (LD_PRELOAD): the n-th call that touches a file below a folder fails.
//   FAULTS_BELOW   the folder, an absolute path without links
//   FAULTS_CALL    write, fsync, rename, close, open, ftruncate, unlink or flock
//   FAULTS_N       which call of these, from 1 on
//   FAULTS_KIND    ENOSPC, EIO, EINTR, ENOLCK, short (write a part), or lost (pretend to write: a
//   planted defect) FAULTS_REACHED a file outside of the folder that is made when the fault happens
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

std::string_view setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is_below(std::string_view path) {
  const std::string_view folder = setting("FAULTS_BELOW");
  return !folder.empty() && path.size() > folder.size() && path.starts_with(folder) &&
         path[folder.size()] == '/';
}

bool is_below(int descriptor) {
  std::array<char, PATH_MAX> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = readlink(link.c_str(), path.data(), path.size());
  return size > 0 && is_below(std::string_view(path.data(), static_cast<std::size_t>(size)));
}

/// The kind of the fault if this call is the one that fails, else empty.
template <class File>
std::string_view fault(std::string_view call, File file) {
  static std::atomic<int> calls = 0;
  const int before = errno;
  const bool counts = call == setting("FAULTS_CALL") && is_below(file);
  errno = before;
  if (!counts || ++calls != std::atoi(setting("FAULTS_N").data())) return "";
  const int reached = creat(setting("FAULTS_REACHED").data(), 0600);
  if (reached >= 0) real<int(int)>("close")(reached);
  const std::string_view kind = setting("FAULTS_KIND");
  errno = kind == "ENOSPC" ? ENOSPC : kind == "EIO" ? EIO : kind == "ENOLCK" ? ENOLCK : EINTR;
  return kind;
}

int open_with(const char* name, const char* path, int flags, mode_t mode) {
  if (!fault("open", path).empty()) return -1;
  return real<int(const char*, int, ...)>(name)(path, flags, mode);
}

mode_t mode_of(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* data, size_t size) {
  const auto real_write = real<ssize_t(int, const void*, size_t)>("write");
  const std::string_view kind = fault("write", descriptor);
  if (kind == "short") return real_write(descriptor, data, size > 1 ? size / 2 : size);
  if (kind == "lost") return static_cast<ssize_t>(size);
  return kind.empty() ? real_write(descriptor, data, size) : -1;
}

int fsync(int descriptor) {
  return fault("fsync", descriptor).empty() ? real<int(int)>("fsync")(descriptor) : -1;
}

int ftruncate(int descriptor, off_t size) noexcept {
  return fault("ftruncate", descriptor).empty()
             ? real<int(int, off_t)>("ftruncate")(descriptor, size)
             : -1;
}

int flock(int descriptor, int operation) noexcept {
  return fault("flock", descriptor).empty() ? real<int(int, int)>("flock")(descriptor, operation)
                                            : -1;
}

int rename(const char* from, const char* to) noexcept {
  return fault("rename", to).empty() ? real<int(const char*, const char*)>("rename")(from, to) : -1;
}

int unlink(const char* path) noexcept {
  return fault("unlink", path).empty() ? real<int(const char*)>("unlink")(path) : -1;
}

// As Linux does it: the descriptor is closed in any case.
int close(int descriptor) {
  const bool fails = !fault("close", descriptor).empty();
  const int error = errno;
  const int result = real<int(int)>("close")(descriptor);
  if (!fails) return result;
  errno = error;
  return -1;
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_with("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_with("open64", path, flags, mode);
}

int mkstemp(char* path) {
  return fault("open", path).empty() ? real<int(char*)>("mkstemp")(path) : -1;
}

int mkstemp64(char* path) { return mkstemp(path); }
}
