#pragma once

namespace overlap::base {

/// Installs signal handlers. Ctrl-C (SIGINT), SIGTERM, and what batch systems send before a time
/// limit (SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGHUP unless it is ignored) ask the program to stop
/// at its next safe point. A second SIGINT or SIGTERM, more than 0.2 s after the first one, ends it
/// at once with exit code 130. Result files appear by renaming, so that neither leaves a partial
/// file. Also ignores SIGXFSZ and SIGPIPE, so that a write beyond the file size limit or to a
/// closed pipe fails with an error.
void catch_interrupts();

/// Whether a stop was requested.
bool interrupted();

/// Throws Error{interrupted} if a stop was requested.
void check_interrupt();

}  // namespace overlap::base
