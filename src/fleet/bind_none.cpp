#include "fleet/bind.hpp"

std::string overlap::fleet::bind(base::Placement&, const std::optional<std::string>&, int, int) {
  return "this build has no hwloc";
}
