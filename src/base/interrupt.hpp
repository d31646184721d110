#pragma once

namespace overlap::base {

/// From now on Ctrl-C (SIGINT) and SIGTERM ask the program to stop at its next safe point; a second
/// one ends it at once with exit code 130. Result files appear by renaming, so neither leaves half
/// a file.
void catch_interrupts();

/// Whether a stop has been asked for.
bool interrupted();

/// Throws Error{interrupted} if a stop has been asked for.
void check_interrupt();

}  // namespace overlap::base
