#include "fleet/member.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "base/interrupt.hpp"
#include "base/parallel.hpp"
#include "experiment/require.hpp"
#include "experiment/run.hpp"
#include "fleet/bind.hpp"
#include "measure/session.hpp"

namespace overlap::fleet {
namespace {

using base::ExitCode;
using nlohmann::json;
using namespace std::chrono_literals;

constexpr auto turn_nap = 5ms;  ///< of ranks that wait for their turn, so as not to disturb

void short_nap() { std::this_thread::sleep_for(100us); }

/// Time of a clock that all ranks of a node share.
std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// Adds the times of a sample. `words`: its start and stop, by rank.
void add_times(experiment::RankWindow& window, const std::vector<std::string>& words,
               std::int64_t number) {
  std::vector<std::int64_t> starts, stops;
  for (const std::string& word : words) {
    std::istringstream(word) >> starts.emplace_back() >> stops.emplace_back();
  }
  const auto [first, last] = std::ranges::minmax(starts);
  const auto add = [&](std::vector<double>& list, std::int64_t ns) {
    experiment::add_thinned(list, 1e-9 * static_cast<double>(ns), number, experiment::most_kept);
  };
  add(window.skew_s, last - first);
  add(window.shared_s, std::ranges::max(stops) - last);
}

}  // namespace

Member::Member(Meetings& meetings, double deadline_s,
               const std::function<void(const std::string&)>& when_lost)
    : meetings_(meetings), deadline_s_(deadline_s) {
  introduce();
  if (rank() == 0) meetings.when_lost = [=, this](int rank) { when_lost(loss(rank)); };
}

std::string Member::name_of(int rank) const {
  return fmt::format("rank {} on {}", rank, node_of(rank));
}

std::string Member::loss(int rank) const {
  return fmt::format(
      "{} is lost: it ended early or gave no sign of life within {} s "
      "(fleet.deadline); its last one came {}",
      name_of(rank), deadline_s_, meetings_.activity_of(rank));
}

void Member::introduce() {
  const base::HostInfo host = base::host_info();
  json self = {{"host", host.name},
               {"boot", host.boot_id},
               {"cpus", host.affinity},
               {"launch", fmt::format("{}-{}", host.name, now_ns())}};
  self["devices"] = json::array();
  for (const base::DeviceInfo& device : measure::visible_devices()) {
    self["devices"].push_back(
        {device.uuid, device.pci_bus_id.value_or(""), device.numa_node.value_or(-1)});
  }
  std::vector<Rank> ranks;
  for (const std::string& text : meetings_.exchange(introduction, self.dump(), deadline_s_)) {
    const json description = json::parse(text);
    Rank& rank = ranks.emplace_back();
    rank.cpus = description.at("cpus");
    for (const json& device : description.at("devices")) {
      base::DeviceInfo& info = rank.devices.emplace_back();
      info.uuid = device.at(0);
      if (device.at(1) != "") info.pci_bus_id = device.at(1);
      if (device.at(2) >= 0) info.numa_node = device.at(2);
    }
    hosts_.emplace_back(description.at("host"), description.at("boot"));
    if (launch_.empty()) launch_ = description.at("launch");
    if (hosts_.back() != base::Node(host.name, host.boot_id)) continue;
    local_.push_back(static_cast<int>(ranks.size()) - 1);
  }
  neighbors_ = local_;
  std::erase(neighbors_, rank());
  if (rank() > 0) {
    meetings_.peers = neighbors_;
    if (local_.front() > 0) meetings_.peers.push_back(0);
  }
  const auto slot = std::ranges::find(local_, rank()) - local_.begin();
  placement_.local_rank = static_cast<int>(slot);
  placement_.local_ranks = static_cast<int>(local_.size());
  nodes_ = base::node_names(hosts_);
  placement_.nodes = static_cast<int>(std::set(nodes_.begin(), nodes_.end()).size());
  choose_place(ranks);
}

void Member::choose_place(const std::vector<Rank>& ranks) {
  const auto same_cores = [&](int rank) {
    return ranks[static_cast<std::size_t>(rank)].cpus ==
           ranks[static_cast<std::size_t>(this->rank())].cpus;
  };
  const auto sharing = static_cast<int>(std::ranges::count_if(local_, same_cores));
  // When the program was loaded, OpenMP counted the cores as if this rank owned all.
  if (sharing > 1) threads_ = std::max(1, base::usable_cpus() / sharing);
  crowded_ = !measure::on_gpu() && sharing > base::usable_cpus();
  if (measure::on_gpu()) {
    const std::vector<Claim> claims = claim_devices(ranks);
    for (const Claim& claim : claims) devices_.push_back(claim.device->id());
    const auto own_claim = std::ranges::find(claims, rank(), &Claim::rank);
    if (own_claim != claims.end()) {
      int part = 0;
      int parts = 0;  // one per rank that shares the cores near its device
      for (const Claim& other : claims) {
        if (other.rank == own_claim->rank) part = parts;
        parts += other.device->numa_node == own_claim->device->numa_node && same_cores(other.rank);
      }
      placement_.note = bind(placement_, own_claim->device->pci_bus_id, part, parts);
    }
  } else {
    for (const int rank : local_) devices_.push_back(fmt::format("rank {}", rank));
    if (local_.size() == 1) {
      placement_.note = "the only rank of its node";
    } else if (sharing < placement_.local_ranks) {
      placement_.note = "bound by the launcher";
    } else {
      placement_.note = bind(placement_, {}, placement_.local_rank, placement_.local_ranks);
    }
  }
  if (!placement_.cpus.empty()) threads_ = base::usable_cpus();  // shares may be unequal
}

/// The ranks of a node choose in order, each the first of its visible devices that is still free:
/// correct whether all ranks see all devices or the batch system assigned one to each.
std::vector<Member::Claim> Member::claim_devices(const std::vector<Rank>& ranks) {
  std::vector<Claim> claims;
  for (const int rank : local_) {
    const auto& devices = ranks[static_cast<std::size_t>(rank)].devices;
    const auto owner_of = [&](const base::DeviceInfo& device) {
      return std::ranges::find(claims, device.id(), [](const Claim& c) { return c.device->id(); });
    };
    const auto free = std::ranges::find_if(devices, [&](const base::DeviceInfo& device) {
      return !device.id().empty() && owner_of(device) == claims.end();  // without one: it is lost
    });
    if (free != devices.end()) claims.push_back({&*free, rank});
    if (rank != this->rank()) continue;
    if (free != devices.end()) {
      placement_.device = static_cast<int>(free - devices.begin());
    } else if (!devices.empty()) {  // without devices the back end reports it
      std::vector<std::string> owners;
      for (const base::DeviceInfo& device : devices) {
        const auto owner = owner_of(device);
        owners.push_back(owner == claims.end()
                             ? "one is lost"
                             : fmt::format("rank {} uses {}", owner->rank, device.id()));
      }
      unplaced_ =
          base::Error(base::ExitCode::precondition,
                      fmt::format("{}: found no free device ({}); allowed: one rank per device",
                                  name_of(rank), fmt::join(owners, ", ")));
    }
  }
  return claims;
}

void Member::require_devices(int devices) const {
  if (devices_.size() == static_cast<std::size_t>(devices)) return;
  throw base::Error(
      base::ExitCode::precondition,
      fmt::format("fleet.devices: found {} with a rank on {}; required: {} on each node",
                  experiment::listed(devices_), node_of(rank()), devices));
}

std::vector<std::string> Member::kokkos_arguments(std::vector<std::string> arguments) const {
  const bool threads_given = std::getenv("OMP_NUM_THREADS") != nullptr ||
                             std::getenv("KOKKOS_NUM_THREADS") != nullptr ||
                             std::ranges::any_of(arguments, [](const std::string& argument) {
                               return argument.starts_with("--kokkos-num-threads");
                             });
  if (placement_.device) {
    arguments.push_back(fmt::format("--kokkos-device-id={}", *placement_.device));
  }
  if (threads_ && !threads_given) {
    arguments.push_back(fmt::format("--kokkos-num-threads={}", *threads_));
  }
  return arguments;
}

void Member::skip_to(std::int64_t phases) {
  if (phase_ >= phases) return;
  phase_ = phases;
  end_phase();
}

void Member::end_phase() {
  meetings_.show("after a phase");
  meetings_.tell(neighbors_, begin_of(phase_ + 1));
}

void Member::sign() {
  meetings_.keep_in_touch();
  if (!meetings_.expelled()) return;
  throw base::Error(ExitCode::runtime_error,
                    "the other ranks continued without this one, which gave no sign of life "
                    "within fleet.deadline");
}

void Member::wait(const Ranks& ranks, Meeting meeting, const Poll& poll) {
  meetings_.hear(ranks, meeting, [&] {
    sign();
    base::check_interrupt();
    poll();
  });
}

std::vector<std::string> Member::meet(const Poll& poll, const std::string& word) {
  meetings_.tell(neighbors_, ++meeting_, word);
  wait(neighbors_, meeting_, poll);
  std::vector<std::string> words = {word};
  for (const int neighbor : neighbors_) {
    if (const auto* other = meetings_.word(neighbor, meeting_)) words.push_back(*other);
  }
  return words;
}

measure::Hooks Member::phase_hooks(deck::Phase phase, const measure::Hooks& hooks,
                                   experiment::RankWindow& window) {
  measure::Hooks extended = hooks;
  extended.progress = [this, hooks](int done, int total, const std::string& activity) {
    sign();
    hooks.show(activity, done, total);
  };
  if (phase == deck::Phase::alone) return extended;
  extended.ranks = placement_.local_ranks;
  extended.before_sample = [this] {
    meet(short_nap);  // others may take long to verify
    // If ranks share cores, the last one may need the core of a waiting one.
    const Poll spin = [polls = 0]() mutable {
      if (++polls > 200) sched_yield();
    };
    constexpr std::int64_t longest_message_ns = 20000;
    std::int64_t start_ns = 0;  // by the clock, which is more precise than messages
    for (const std::string& word : meet(spin, std::to_string(now_ns() + longest_message_ns))) {
      start_ns = std::max<std::int64_t>(start_ns, std::stoll(word));
    }
    do {
      start_ns_ = now_ns();
    } while (start_ns_ < start_ns);
  };
  extended.after_sample = [this, &window, number = std::int64_t{0}](bool scored) mutable {
    const auto words = meet(poll_, fmt::format("{} {}", start_ns_, now_ns()));
    if (scored) add_times(window, words, number++);
  };
  extended.all_stop = [this](bool wish) {
    const auto votes = meet(short_nap, wish ? "stop" : "");
    return std::ranges::find(votes, "") == votes.end();
  };
  extended.together = [this](const std::function<void()>& body) {
    meet(short_nap);
    body();
    meet(poll_);
  };
  return extended;
}

results::Point Member::run(deck::Phase phase, const measure::Hooks& hooks, const Body& body) {
  const Poll sleep = [] { std::this_thread::sleep_for(turn_nap); };
  meetings_.show(fmt::format("in phase {}", deck::to_string(phase)));
  meeting_ = begin_of(++phase_);
  meetings_.tell(neighbors_, meeting_);
  wait(neighbors_, meeting_, sleep);  // a rank that failed in the previous phase did not wait
  const Meeting next = begin_of(phase_ + 1);
  experiment::RankWindow window;
  poll_ = sleep;  // after an error it may still be the load
  if (phase == deck::Phase::alone) {
    hooks.show("waiting for its turn");
    wait({local_.begin(), std::ranges::find(local_, rank())}, next, sleep);
  } else if (!crowded_) {
    poll_ = measure::load(placement_.local_ranks);
  }
  results::Point point = body(phase_hooks(phase, hooks, window));
  if (phase == deck::Phase::together) {
    point.window =
        results::Window{base::summary_if_any(window.skew_s), base::summary_if_any(window.shared_s)};
  }
  end_phase();  // after an error the next meeting does it
  hooks.show("waiting for the other ranks");
  try {
    wait(neighbors_, next, poll_);
  } catch (const base::Error& error) {
    if (error.code() != base::ExitCode::interrupted) throw;
    experiment::interrupt(point);
  }
  poll_ = sleep;  // frees the load while the device is known to live
  return point;
}

std::vector<std::string> Member::gather(const std::string& text) {
  meetings_.tell(neighbors_, after_phases);
  if (rank() > 0) meetings_.tell({0}, gathering, text);
  std::vector<std::string> texts = {text};
  if (rank() > 0) return texts;
  meetings_.hear(meetings_.others(), gathering);
  meetings_.when_lost = {};
  for (const int other : meetings_.others()) {
    std::string* const result = meetings_.word(other, gathering);
    texts.push_back(result != nullptr ? std::move(*result) : "");
  }
  return texts;
}

base::ExitCode Member::conclude(base::ExitCode code, bool can_end) {
  if (rank() == 0) {
    meetings_.tell(meetings_.others(), verdict, std::to_string(static_cast<int>(code)));
  } else {
    meetings_.hear({0}, verdict);
    const std::string* const answer = meetings_.word(0, verdict);
    if (answer == nullptr) {
      throw base::Error(base::interrupted() ? ExitCode::interrupted : ExitCode::runtime_error,
                        name_of(0) +
                            ", which gathers the results, is lost; the results of this "
                            "rank are in its own files");
    }
    code = base::exit_code(std::stoi(*answer));
  }
  meetings_.end_all(can_end);
  return code;
}

}  // namespace overlap::fleet
