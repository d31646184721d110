#pragma once

#include "base/error.hpp"
#include "describe/words.hpp"

namespace overlap::results {

enum class Verdict { pass, fail, inconclusive, error, skipped, interrupted };
constexpr auto words_of(Verdict) {
  return describe::in_order<Verdict>("PASS", "FAIL", "INCONCLUSIVE", "ERROR", "SKIPPED",
                                     "INTERRUPTED");
}

/// The verdict of an exit code.
Verdict verdict_of(base::ExitCode code);

}  // namespace overlap::results
