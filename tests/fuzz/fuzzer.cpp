/// One target for libFuzzer: OVERLAP_FUZZ_TARGET names it.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "targets.hpp"

namespace {

using json = nlohmann::json;

const overlap::fuzz::Target& target() {
  static const auto found = std::ranges::find(overlap::fuzz::targets(), OVERLAP_FUZZ_TARGET,
                                              &overlap::fuzz::Target::name);
  return *found;
}

void collect(json& node, std::vector<json*>& all) {
  all.push_back(&node);
  if (!node.is_structured()) return;
  for (json& child : node) collect(child, all);
}

/// Replaces, removes or repeats one value somewhere in the document.
void mutate(json& document, std::minstd_rand& random) {
  static const std::vector<json> odd = {nullptr,
                                        false,
                                        true,
                                        0,
                                        -1,
                                        1,
                                        2,
                                        1e300,
                                        -1e300,
                                        1e-300,
                                        std::int64_t{1} << 62,
                                        "",
                                        "a",
                                        "\n\x1b",
                                        "-",
                                        "{}",
                                        json::array(),
                                        json::object(),
                                        json::array({nullptr})};
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  std::vector<json*> all;
  collect(document, all);
  json& node = *all[below(all.size())];
  switch (below(4)) {
    case 0:
      node = odd[below(odd.size())];
      break;
    case 1:
      node = json(*all[below(all.size())]);
      break;
    case 2:
      if (!node.empty() && node.is_structured()) {
        node.erase(std::next(node.begin(), static_cast<std::ptrdiff_t>(below(node.size()))));
      }
      break;
    default:
      if (node.is_array() && !node.empty()) node.push_back(json(node[below(node.size())]));
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

/// Bytes as libFuzzer changes them; of JSON mostly values, so that the document stays one.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  if (target().json && random() % 8 != 0) {
    json document = json::parse(data, data + size, nullptr, false);
    if (!document.is_discarded()) {
      do mutate(document, random);
      while (random() % 2 == 0);
      const std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
      if (text.size() <= most) {
        std::memcpy(data, text.data(), text.size());
        return text.size();
      }
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target().run(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
