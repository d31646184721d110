#include "fleet/bind.hpp"

/// A build without hwloc.
namespace overlap::fleet {
namespace {

const Binding unbound = {.note = "this build has no hwloc"};

}  // namespace

Binding bind_to_device(const std::optional<std::string>&, int, int) { return unbound; }
Binding bind_to_share(int, int) { return unbound; }

}  // namespace overlap::fleet
