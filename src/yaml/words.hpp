#pragma once

#include "describe/words.hpp"

namespace overlap::yaml {

using describe::in_order;
using describe::spellings;
using describe::to_string;
using describe::Word;
using describe::words;

}  // namespace overlap::yaml
