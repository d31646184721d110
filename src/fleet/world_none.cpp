#include "base/error.hpp"
#include "fleet/world.hpp"

/// A build without MPI.
namespace overlap::fleet {

struct World::Transfer {};

World::World() {
  throw base::Error(base::ExitCode::skipped,
                    "--fleet: this build has no MPI; allowed: a build with -DOVERLAP_MPI=ON");
}
World::~World() = default;
std::vector<std::string> World::exchange(const std::string&, double) { return {}; }
void World::send(int, Tag, std::string) {}
std::optional<Message> World::receive() { return std::nullopt; }
bool World::sent() { return true; }
void World::end_in_order() {}

}  // namespace overlap::fleet
