#include <hwloc.h>

#include <memory>
#include <utility>

#include "fleet/bind.hpp"

namespace overlap::fleet {
namespace {

using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

Bitmap bitmap() { return {hwloc_bitmap_alloc(), hwloc_bitmap_free}; }

std::string as_list(hwloc_const_bitmap_t set) {
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, set) < 0) return "";
  const std::unique_ptr<char, decltype(&std::free)> owner(text, std::free);
  return text;
}

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

/// The machine with its PCI devices; null: hwloc cannot read it.
Topology load_topology() {
  hwloc_topology_t handle = nullptr;
  const bool initialized = hwloc_topology_init(&handle) == 0;
  Topology topology(initialized ? handle : nullptr, hwloc_topology_destroy);
  if (initialized) hwloc_topology_set_io_types_filter(handle, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (initialized && hwloc_topology_load(handle) != 0) topology.reset();
  return topology;
}

/// The CPUs that this process may use.
Bitmap allowed(hwloc_topology_t topology) {
  Bitmap set = bitmap();
  if (hwloc_get_cpubind(topology, set.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    hwloc_bitmap_copy(set.get(), hwloc_topology_get_allowed_cpuset(topology));
  }
  return set;
}

const Binding unreadable = {.note = "hwloc cannot read the machine"};

/// Binds the threads to the `part`-th of `parts` nearly equal shares of the cores in `set`; to all
/// of them where there are fewer. Changes the topology.
Binding bind_threads(hwloc_topology_t topology, hwloc_const_bitmap_t set, int part, int parts) {
  // Also counts cores of which the process may use only some hardware threads.
  hwloc_topology_restrict(topology, set, 0);
  const auto count = [&](hwloc_obj_type_t type) {
    return hwloc_get_nbobjs_by_type(topology, type);
  };
  // Some virtual machines show hardware threads only.
  const hwloc_obj_type_t type = count(HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  const int cores = count(type);
  Binding bound;
  if (cores < parts) {
    bound = {.ranks = parts, .note = "more ranks than cores: ranks share cores"};
    part = 0;
    parts = 1;
  }
  const Bitmap share = bitmap();
  for (int core = cores * part / parts; core < cores * (part + 1) / parts; ++core) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(core));
    hwloc_bitmap_or(share.get(), share.get(), object->cpuset);
  }
  if (hwloc_set_cpubind(topology, share.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    return {.note = "the system refused to bind the threads"};
  }
  bound.cpus = as_list(share.get());
  return bound;
}

}  // namespace

Binding bind_to_device(const std::optional<std::string>& pci, int part, int parts) {
  const Topology topology = load_topology();
  if (!topology) return unreadable;
  hwloc_obj_t device =
      pci ? hwloc_get_pcidev_by_busidstring(topology.get(), pci->c_str()) : nullptr;
  const hwloc_obj_t near =
      device != nullptr ? hwloc_get_non_io_ancestor_obj(topology.get(), device) : nullptr;
  if (near == nullptr) {
    return {.note = "hwloc does not know where the device is"};
  }
  const bool one_node = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE) < 2;
  if (one_node && parts == 1) return {.note = "one NUMA node"};
  const Bitmap set = allowed(topology.get());
  hwloc_bitmap_and(set.get(), set.get(), near->cpuset);
  if (hwloc_bitmap_iszero(set.get())) {
    return {.note = "the process may not use any core near the device"};
  }
  // Linux binds memory per thread; threads created later inherit the binding.
  std::string memory = as_list(near->nodeset);
  const bool refused =
      !one_node && hwloc_set_membind(topology.get(), near->nodeset, HWLOC_MEMBIND_BIND,
                                     HWLOC_MEMBIND_BYNODESET) != 0;
  Binding bound = bind_threads(topology.get(), set.get(), part, parts);
  if (refused) {
    bound.note += std::string(bound.note.empty() ? "" : "; ") + "the system refused to bind memory";
  } else if (!one_node) {
    bound.memory = std::move(memory);
  }
  return bound;
}

Binding bind_to_share(int part, int parts) {
  const Topology topology = load_topology();
  if (!topology) return unreadable;
  const Bitmap set = allowed(topology.get());
  return bind_threads(topology.get(), set.get(), part, parts);
}

}  // namespace overlap::fleet
