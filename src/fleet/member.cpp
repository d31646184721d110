#include "fleet/member.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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
#include "measure/platform.hpp"

namespace overlap::fleet {
namespace {

using base::ExitCode;
using nlohmann::json;
using namespace std::chrono_literals;

/// Maximum wait of rank 0 after an interrupt for signs of ranks that are done or on other nodes:
/// batch systems kill soon after.
constexpr double interrupted_deadline_s = 10;

constexpr auto nap = 5ms;  ///< sleep of ranks that wait for their turn, so as not to disturb

std::string place_of(int rank, const std::string& node) {
  return fmt::format("rank {} on {}", rank, node);
}

}  // namespace

std::string text_of(const Lost& lost) {
  return place_of(lost.rank, lost.node) +
         " is lost: it ended early or gave no sign of life within fleet.deadline";
}

Member::Member(World& world, double deadline_s) : deadline_s_(deadline_s), world_(world) {
  introduce();
  last_sent_ = Clock::now();
  last_heard_.resize(hosts_.size(), last_sent_);
  texts_.resize(hosts_.size());
  lost_.resize(hosts_.size());
}

std::string Member::name() const {
  return place_of(world_.rank(), nodes_[static_cast<std::size_t>(world_.rank())]);
}

void Member::skip_to(std::size_t phases) {
  while (board_->phases() < phases) {
    board_->begin_phase();
    board_->end_phase();
  }
}

void Member::introduce() {
  const base::HostInfo host = measure::host_info();
  const auto now = Clock::now().time_since_epoch().count();
  json self = {{"host", host.name},
               {"boot", host.boot_id},
               {"cpus", host.affinity},
               {"launch", fmt::format("{}-{}", host.name, now)}};
  self["devices"] = json::array();
  for (const base::DeviceInfo& device : measure::visible_devices()) {
    self["devices"].push_back(
        {device.uuid, device.pci_bus_id.value_or(""), device.numa_node.value_or(-1)});
  }
  std::vector<Rank> ranks;
  std::string board;  // named by the first rank of the node
  for (const std::string& text : world_.exchange(self.dump(), deadline_s_)) {
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
    if (board.empty()) board = "/overlap-" + description.at("launch").get<std::string>();
    local_.push_back(static_cast<int>(ranks.size()) - 1);
  }
  const auto slot = std::ranges::find(local_, world_.rank()) - local_.begin();
  placement_.local_rank = static_cast<int>(slot);
  placement_.local_ranks = static_cast<int>(local_.size());
  nodes_ = base::node_names(hosts_);
  placement_.nodes = static_cast<int>(std::set(nodes_.begin(), nodes_.end()).size());
  board_.emplace(board, placement_.local_rank, placement_.local_ranks, deadline_s_);
  choose_place(ranks);
}

void Member::choose_place(const std::vector<Rank>& ranks) {
  Binding binding;
  const auto same_cores = [&](int rank) {
    return ranks[static_cast<std::size_t>(rank)].cpus ==
           ranks[static_cast<std::size_t>(world_.rank())].cpus;
  };
  const auto sharing = static_cast<int>(std::ranges::count_if(local_, same_cores));
  // When the program was loaded, OpenMP counted the cores as if this rank owned all.
  if (sharing > 1) threads_ = std::max(1, base::usable_cpus() / sharing);
  crowded_ = !measure::on_gpu() && sharing > base::usable_cpus();
  if (!measure::on_gpu()) {
    for (const int rank : local_) devices_.push_back(fmt::format("rank {}", rank));
  }
  if (measure::on_gpu()) {
    const std::vector<Claim> claims = claim_devices(ranks);
    for (const Claim& claim : claims) devices_.push_back(claim.device->id());
    const auto own_claim = std::ranges::find(claims, world_.rank(), &Claim::rank);
    if (own_claim != claims.end()) {
      int part = 0;
      int parts = 0;  // one per rank that shares the cores near its device
      for (const Claim& other : claims) {
        if (other.rank == own_claim->rank) part = parts;
        parts += other.device->numa_node == own_claim->device->numa_node && same_cores(other.rank);
      }
      binding = bind_to_device(own_claim->device->pci_bus_id, part, parts);
    }
  } else if (local_.size() == 1) {
    binding.note = "the only rank of its node";
  } else if (sharing < placement_.local_ranks) {
    binding.note = "bound by the launcher";
  } else {
    binding = bind_to_share(placement_.local_rank, placement_.local_ranks);
  }
  if (!binding.cpus.empty()) {  // shares may be unequal
    threads_ = std::max(1, base::usable_cpus() / binding.ranks);
  }
  placement_.cpus = binding.cpus;
  placement_.memory = binding.memory;
  placement_.note = binding.note;
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
    if (rank != world_.rank()) continue;
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
                                  place_of(rank, nodes_[static_cast<std::size_t>(rank)]),
                                  fmt::join(owners, ", ")));
    }
  }
  return claims;
}

void Member::require_devices(int devices) const {
  if (devices_.size() == static_cast<std::size_t>(devices)) return;
  throw base::Error(
      base::ExitCode::precondition,
      fmt::format("fleet.devices: found {} with a rank on {}; required: {} on each node",
                  experiment::listed(devices_), nodes_[static_cast<std::size_t>(world_.rank())],
                  devices));
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

void Member::sign() {
  board_->sign();
  keep_in_touch();
}

void Member::keep_in_touch() {
  receive();
  const std::chrono::duration<double> since = Clock::now() - last_sent_;
  if (since.count() <= std::min(deadline_s_, interrupted_deadline_s) / 4) return;
  last_sent_ = Clock::now();
  if (world_.rank() > 0) return world_.send(0, Tag::sign);
  for (std::size_t rank = 1; rank < texts_.size(); ++rank) {
    if (texts_[rank]) world_.send(static_cast<int>(rank), Tag::sign);
  }
}

measure::Hooks Member::phase_hooks(deck::Phase phase, const measure::Hooks& hooks, const Poll& poll,
                                   experiment::Window& window) {
  measure::Hooks extended = hooks;
  extended.progress = [this, hooks](int done, int total, const std::string& activity) {
    sign();
    hooks.show(activity, done, total);
  };
  if (phase == deck::Phase::alone) return extended;
  extended.ranks = placement_.local_ranks;
  const Poll short_nap = [this] {
    sign();
    std::this_thread::sleep_for(100us);
  };
  extended.before_sample = [this, short_nap] {
    board_->meet(short_nap);  // others may take long to verify
    board_->meet_at_once();
    board_->start_sample();
  };
  extended.after_sample = [this, poll, &window, number = std::int64_t{0}](bool scored) mutable {
    board_->stop_sample();
    board_->meet(poll);
    if (!scored) return;
    const Board::Shared shared = board_->shared();
    experiment::add_thinned(window.skew_s, shared.skew_s, number, experiment::most_kept);
    experiment::add_thinned(window.shared_s, shared.shared_s, number++, experiment::most_kept);
  };
  extended.all_stop = [this, short_nap](bool wish) { return board_->agree(wish, short_nap); };
  extended.together = [this, poll, short_nap](const std::function<void()>& body) {
    board_->meet(short_nap);
    body();
    board_->meet(poll);
  };
  return extended;
}

results::Point Member::run(deck::Phase phase, const measure::Hooks& hooks, const Body& body) {
  struct Ended {  // in any case: nobody waits for this rank afterwards
    Board& board;
    ~Ended() { board.end_phase(); }
  };
  const auto sleep = [&] {
    sign();
    std::this_thread::sleep_for(nap);
  };
  board_->wait_for_all(sleep);  // a rank that failed in the previous phase did not wait
  board_->begin_phase();
  experiment::Window window;
  results::Point point;
  Poll poll = sleep;
  {
    const Ended ended{*board_};
    if (phase == deck::Phase::alone) {
      hooks.show("waiting for its turn");
      board_->wait_for_turn(sleep);
    } else if (!crowded_) {
      constexpr std::int64_t load_bytes = 32 << 20;
      const measure::Hooks alone = {.ranks = placement_.local_ranks};
      poll = [this, load = std::make_shared<measure::LinkMeter>(load_bytes, alone)] {
        sign();
        load->copy();
      };
    }
    point =
        lanes::keep_if_lost([&] { return body(phase_hooks(phase, hooks, poll, window)); }, poll);
    if (phase == deck::Phase::together) {
      point.window = results::Window{base::summary_if_any(window.skew_s),
                                     base::summary_if_any(window.shared_s)};
    }
  }
  hooks.show("waiting for the other ranks");
  try {
    lanes::keep_if_lost([&] { board_->wait_for_all(poll); }, poll);
  } catch (const base::Error& error) {
    if (error.code() != base::ExitCode::interrupted) throw;
    experiment::interrupt(point);
  }
  return point;
}

void Member::receive() {
  while (auto message = world_.receive()) {
    const auto from = static_cast<std::size_t>(message->from);
    last_heard_[from] = Clock::now();
    switch (message->tag) {
      case Tag::sign:
        break;
      case Tag::result: {
        const std::size_t end = message->text.find('\n');
        std::istringstream lost(message->text.substr(0, end));
        for (std::size_t rank = 0; lost >> rank;) lost_.at(rank) = true;
        texts_[from] = message->text.substr(end + 1);
        break;
      }
      case Tag::verdict:
        verdict_ = message->text;
    }
  }
}

void Member::look_around() {
  const auto rank_of = [&](int slot) {
    return static_cast<std::size_t>(local_[static_cast<std::size_t>(slot)]);
  };
  for (const int slot : board_->alive()) last_heard_[rank_of(slot)] = Clock::now();
  for (const int slot : board_->lost()) lost_[rank_of(slot)] = true;
}

bool Member::silent(std::size_t rank, double deadline_s) const {
  const std::chrono::duration<double> since = Clock::now() - last_heard_[rank];
  return lost_[rank] || since.count() > deadline_s;
}

Gathered Member::gather(std::string text, bool can_end) {
  std::ranges::fill(last_heard_, Clock::now());
  look_around();
  if (!can_end) lost_[static_cast<std::size_t>(world_.rank())] = true;
  if (world_.rank() > 0) {
    std::string lost;  // rank 0 may be on another node
    for (std::size_t rank = 0; rank < lost_.size(); ++rank) {
      if (lost_[rank]) lost += fmt::format("{} ", rank);
    }
    world_.send(0, Tag::result, lost + "\n" + text);
    return {};
  }
  texts_[0] = std::move(text);
  for (std::size_t rank = 1; rank < texts_.size();) {
    keep_in_touch();
    look_around();
    const double deadline_s =
        base::interrupted() ? std::min(deadline_s_, interrupted_deadline_s) : deadline_s_;
    if (texts_[rank] || silent(rank, deadline_s)) {
      ++rank;
    } else {
      std::this_thread::sleep_for(1ms);
    }
  }
  none_lost_ = std::ranges::find(lost_, true) == lost_.end();  // a lost rank may still answer
  Gathered gathered;
  for (std::size_t rank = 0; rank < texts_.size(); ++rank) {
    lost_[rank] = !texts_[rank];
    if (lost_[rank]) {
      gathered.lost.push_back({static_cast<int>(rank), nodes_[rank], hosts_[rank]});
    } else {
      gathered.texts.push_back(std::move(*texts_[rank]));
    }
  }
  none_lost_ = none_lost_ && gathered.lost.empty();
  return gathered;
}

base::ExitCode Member::conclude(base::ExitCode code) {
  if (world_.rank() > 0) return rank_0s_code();
  for (std::size_t rank = 1; rank < hosts_.size(); ++rank) {
    if (lost_[rank]) continue;
    world_.send(static_cast<int>(rank), Tag::verdict,
                fmt::format("{} {}", static_cast<int>(code), none_lost_ ? "whole" : "lost"));
  }
  const auto start = Clock::now();
  while (!world_.sent() && Clock::now() - start < 5s) std::this_thread::sleep_for(1ms);
  if (none_lost_) world_.end_in_order();
  return code;
}

base::ExitCode Member::rank_0s_code() {
  for (receive(); !verdict_ && !silent(0, deadline_s_); receive()) {
    look_around();
    std::this_thread::sleep_for(1ms);
  }
  if (!verdict_) {
    throw base::Error(base::interrupted() ? ExitCode::interrupted : ExitCode::runtime_error,
                      fmt::format("{}, which gathers the results, is lost; the results of this "
                                  "rank are in its own files",
                                  place_of(0, nodes_[0])));
  }
  std::istringstream fields(*verdict_);
  int number = 0;
  std::string state;
  fields >> number >> state;
  if (state == "whole") world_.end_in_order();
  return base::exit_code(number);
}

}  // namespace overlap::fleet
