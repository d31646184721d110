#pragma once

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>
#include <variant>

#include "base/error.hpp"

/// The execution spaces of this build as a list of types, and as values for code that launches no
/// kernels. Only code that does is templated.
namespace overlap::workload {

template <class... Space>
struct SpaceList {
  using Id = std::variant<std::type_identity<Space>...>;
  using Instance = std::variant<const Space*...>;

  /// The list with one more space, unless already in it.
  template <class New>
  using With = std::conditional_t<(std::is_same_v<New, Space> || ...), SpaceList<Space...>,
                                  SpaceList<Space..., New>>;
};

// Kokkos enables at most one device, one threaded host space, and Serial.
using Spaces = SpaceList<Kokkos::DefaultExecutionSpace>::With<Kokkos::DefaultHostExecutionSpace>
#if defined(KOKKOS_ENABLE_SERIAL)
    ::With<Kokkos::Serial>
#endif
    ;

/// One of the spaces; std::visit yields its std::type_identity.
using SpaceId = Spaces::Id;

template <class Space>
concept EnabledSpace = std::is_constructible_v<SpaceId, std::type_identity<Space>>;

template <EnabledSpace Space>
inline constexpr SpaceId id_of = std::type_identity<Space>();

inline constexpr SpaceId default_space = id_of<Kokkos::DefaultExecutionSpace>;

template <class Space>
inline constexpr bool is_host = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;

inline bool on_host(SpaceId id) {
  return std::visit([]<class Space>(std::type_identity<Space>) { return is_host<Space>; }, id);
}
/// Concurrency of the default instance of the space.
inline int concurrency(SpaceId id) {
  return std::visit([]<class Space>(std::type_identity<Space>) { return Space().concurrency(); },
                    id);
}
inline std::string name(SpaceId id) {
  return std::visit([]<class Space>(std::type_identity<Space>) { return Space::name(); }, id);
}

/// The error of a deck that needs a GPU, in a build without a GPU back end; `why`: what needs it.
inline base::Error no_gpu(SpaceId id, const std::string& why) {
  return {base::ExitCode::skipped, why + "; this build (" + name(id) + ") has no GPU back end"};
}

/// Page-locked host memory space for copies of a device; ordinary host memory on host back ends.
template <class Space>
using PinnedSpace =
    std::conditional_t<is_host<Space>, Kokkos::HostSpace, Kokkos::SharedHostPinnedSpace>;

/// A reference to an instance of any enabled space; the instance must outlive it.
class InstanceRef {
 public:
  template <EnabledSpace Space>
  InstanceRef(const Space& instance) : instance_(&instance) {}

  /// The instance. Throws std::bad_variant_access for another space.
  template <EnabledSpace Space>
  operator const Space&() const {
    return *std::get<const Space*>(instance_);
  }

  /// Returns body(instance).
  template <class Body>
  decltype(auto) with(const Body& body) const {
    return std::visit([&](const auto* instance) -> decltype(auto) { return body(*instance); },
                      instance_);
  }

  SpaceId space() const {
    return with([]<class Space>(const Space&) -> SpaceId { return id_of<Space>; });
  }

 private:
  Spaces::Instance instance_;
};

}  // namespace overlap::workload
