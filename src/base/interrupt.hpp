#pragma once

namespace overlap::base {

/// Installs signal handlers: the first Ctrl-C (SIGINT) or SIGTERM asks the program to stop at its
/// next safe point, one more than 0.2 s later ends it at once with exit code 130. Result files
/// appear by renaming, so that neither leaves a partial file. Also ignores SIGXFSZ and SIGPIPE, so
/// that a write beyond the file size limit or to a closed pipe fails with an error.
void catch_interrupts();

/// Whether a stop was requested.
bool interrupted();

/// Throws Error{interrupted} if a stop was requested.
void check_interrupt();

}  // namespace overlap::base
