#include <hwloc.h>

#include <memory>

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

}  // namespace

std::string bind(base::Placement& place, const std::optional<std::string>& pci, int part,
                 int parts) {
  const Topology owner = load_topology();
  const hwloc_topology_t topology = owner.get();
  if (topology == nullptr) return "hwloc cannot read the machine";
  hwloc_obj_t near = hwloc_get_root_obj(topology);
  if (pci) {
    const hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology, pci->c_str());
    if (device == nullptr) return "hwloc does not know where the device is";
    near = hwloc_get_non_io_ancestor_obj(topology, device);
  }
  const auto count = [&](hwloc_obj_type_t type) {
    return hwloc_get_nbobjs_by_type(topology, type);
  };
  const bool one_node = count(HWLOC_OBJ_NUMANODE) < 2;
  if (pci && one_node && parts == 1) return "one NUMA node";
  const Bitmap set = bitmap();
  if (hwloc_get_cpubind(topology, set.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    hwloc_bitmap_copy(set.get(), hwloc_topology_get_allowed_cpuset(topology));
  }
  hwloc_bitmap_and(set.get(), set.get(), near->cpuset);
  std::string note;
  // Linux binds memory per thread; threads created later inherit the binding.
  if (pci && !one_node) {
    const bool done = hwloc_set_membind(topology, near->nodeset, HWLOC_MEMBIND_BIND,
                                        HWLOC_MEMBIND_BYNODESET) == 0;
    (done ? place.memory : note) =
        done ? as_list(near->nodeset) : "the system refused to bind memory";
  }
  // Also counts cores of which the process may use only some hardware threads.
  hwloc_topology_restrict(topology, set.get(), 0);
  // Some virtual machines show hardware threads only.
  const hwloc_obj_type_t type = count(HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  const int cores = hwloc_bitmap_iszero(set.get()) ? 0 : count(type);
  const Bitmap share = bitmap();
  for (int core = cores * part / parts; core < cores * (part + 1) / parts; ++core) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(core));
    hwloc_bitmap_or(share.get(), share.get(), object->cpuset);
  }
  if (cores < parts) return "more ranks than cores" + std::string(pci ? " near the device" : "");
  if (hwloc_set_cpubind(topology, share.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    return "the system refused to bind the threads";
  }
  place.cpus = as_list(share.get());
  return note;
}

}  // namespace overlap::fleet
