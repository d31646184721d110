#pragma once

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>

/// The execution spaces of this build, as a list of types, and as numbers for all code that
/// launches no kernel itself: only what does is a template.
namespace overlap::workload {

template <class... Space>
struct SpaceList {
  template <class Wanted>
  static constexpr int position() {
    int position = 0;
    int found = -1;
    ((std::is_same_v<Wanted, Space> ? found = position++ : position++), ...);
    return found;
  }

  /// With a further space, unless it is in the list.
  template <class New>
  using With = std::conditional_t<(std::is_same_v<New, Space> || ...), SpaceList<Space...>,
                                  SpaceList<Space..., New>>;
};

// Kokkos enables at most one device, one host space with threads, and Serial.
using Spaces = SpaceList<Kokkos::DefaultExecutionSpace>::With<Kokkos::DefaultHostExecutionSpace>
#if defined(KOKKOS_ENABLE_SERIAL)
    ::With<Kokkos::Serial>
#endif
    ;

/// A place in the list.
enum class SpaceId : int {};

template <class Space>
concept EnabledSpace = Spaces::position<Space>() >= 0;

template <EnabledSpace Space>
inline constexpr SpaceId id_of = SpaceId(Spaces::position<Space>());

inline constexpr SpaceId default_space = id_of<Kokkos::DefaultExecutionSpace>;

/// Returns body(std::type_identity<the space>()).
template <class Body, class First, class... Others>
decltype(auto) with_space(SpaceId id, const Body& body, SpaceList<First, Others...>) {
  if constexpr (sizeof...(Others) > 0) {
    if (id != id_of<First>) return with_space(id, body, SpaceList<Others...>());
  }
  return body(std::type_identity<First>());
}
template <class Body>
decltype(auto) with_space(SpaceId id, const Body& body) {
  return with_space(id, body, Spaces());
}

template <class Space>
inline constexpr bool is_host = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;

bool on_host(SpaceId space);
/// Threads of the space's default instance.
int concurrency(SpaceId space);
std::string name(SpaceId space);

/// Page-locked host memory for the space's copies; host back ends have no use for page locking.
template <class Space>
using PinnedSpace =
    std::conditional_t<is_host<Space>, Kokkos::HostSpace, Kokkos::SharedHostPinnedSpace>;

/// Refers to an instance of any enabled space, which must outlive it.
class InstanceRef {
 public:
  template <EnabledSpace Space>
  InstanceRef(const Space& instance) : instance_(&instance), space_(id_of<Space>) {}

  SpaceId space() const { return space_; }

  /// The instance; it must be one of this space.
  template <EnabledSpace Space>
  operator const Space&() const {
    if (space_ != id_of<Space>) Kokkos::abort("an instance is used as one of another space");
    return *static_cast<const Space*>(instance_);
  }

  /// Calls body(the instance).
  template <class Body>
  void with(const Body& body) const {
    with_space(space_, [&](auto space) {
      body(static_cast<const typename decltype(space)::type&>(*this));
    });
  }

  void fence(const std::string& label) const {
    with([&](const auto& instance) { instance.fence(label); });
  }

 private:
  const void* instance_;
  SpaceId space_;
};

}  // namespace overlap::workload
