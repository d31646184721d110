#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/machine.hpp"
#include "options.hpp"

/// Placeholders in names of result files: {deck}, {host}, {rank}, {uuid}.
namespace overlap {

/// Values of the placeholders for this process.
struct FileNames {
  std::string host;
  int rank = 0;
  std::string uuid;  ///< of the device; without one its PCI address, or "rankN"
  std::string resolve(std::string name) const;
};

/// `early`: the device is not yet known, and {uuid} stays.
FileNames file_names(const base::Machine& machine, bool early = false);

bool has_deck_placeholder(const std::string& name);
std::string with_deck(const std::string& name, const std::string& deck);
/// Whether the name contains {uuid}, which is known when the device is.
bool has_device_placeholder(const std::string& name);
/// Whether the name contains {rank} or {uuid}, so that each rank has its own file.
bool has_rank_placeholder(const std::string& name);

inline constexpr auto placeholders =
    std::to_array<std::string_view>({"{deck}", "{host}", "{rank}", "{uuid}"});

/// Throws base::Error{usage} if a name contains another word in braces than those allowed.
void require_known_placeholders(std::string_view option, const std::string& name,
                                std::span<const std::string_view> allowed = placeholders);

/// Throws base::Error{usage} if several ranks without --fleet would write the same file.
void require_separate_files(const Options& options);

}  // namespace overlap
