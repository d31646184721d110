#pragma once

namespace overlap {

/// From here on a lack of memory ends in one line and an exit code. The first allocation that fails
/// gives back a reserve, from which its exception is handled; one that fails where no exception may
/// pass (in a destructor of a JSON value, say) ends the program at once. So does abort(), which
/// Kokkos calls on a device that is lost. A crash stays a crash.
void prepare_for_ends();

}  // namespace overlap
