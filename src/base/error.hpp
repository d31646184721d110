#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace overlap::base {

/// Exit codes of the program: part of the contract with users and test harnesses.
enum class ExitCode : int {
  pass = 0,
  runtime_error = 1,
  wrong_data = 2,
  usage = 3,
  precondition = 4,
  performance = 5,
  inconclusive = 6,
  skipped = 77,
  interrupted = 130,
};

/// The more severe of two exit codes. From most to least severe: 3, 2, 130, 1, 4, 5, 6, 77, 0.
ExitCode worst(ExitCode a, ExitCode b);

/// The exit code with this number. Throws Error{usage} if there is none.
ExitCode exit_code(double number);

/// An error for the user: one line of text and the exit code of the program. The message may quote
/// anything: one_line() makes it safe.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message);
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Any exception as an error for the user: an Error unchanged, std::bad_alloc as
/// Error{precondition}, the first line of any other as Error{runtime_error}.
Error error_of(const std::exception& exception);

/// A place in a text file, or an option of the command line. Lines, columns and options count from
/// 1; line 0 means the whole file, option 0 means that the place is in a file.
struct SourcePlace {
  std::string file;  ///< or the text of the option
  int line = 0;
  int column = 0;
  int option = 0;

  bool operator==(const SourcePlace&) const = default;
};

/// "file:line:column"; the file alone if the line is 0.
std::string to_string(const SourcePlace& place);

}  // namespace overlap::base
