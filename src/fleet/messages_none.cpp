#include "base/error.hpp"
#include "fleet/meetings.hpp"

/// A build without MPI.
namespace overlap::fleet {

struct Meetings::Transfer {};

Meetings::Meetings() {
  throw base::Error(base::ExitCode::skipped,
                    "--fleet: this build has no MPI; allowed: a build with -DOVERLAP_MPI=ON");
}
Meetings::~Meetings() = default;
void Meetings::send(int, Tag, Text) {}
std::optional<Meetings::Message> Meetings::receive() { return std::nullopt; }
bool Meetings::sent() { return true; }

}  // namespace overlap::fleet
