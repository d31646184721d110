#pragma once

#include <memory>

#include "lanes/lanes.hpp"

namespace overlap {

/// The back end's lanes, for tests to change a call of.
class ChangedLanes : public lanes::Lanes {
 public:
  explicit ChangedLanes(int lanes, const deck::Issue& options = {})
      : lanes_(lanes::make_lanes(lanes, options)) {}
  void bind(const schedule::Schedule& s, const workload::Workload& w) override {
    lanes_->bind(s, w);
  }
  void attach_thread() override { lanes_->attach_thread(); }
  void issue(schedule::TaskId task) override { lanes_->issue(task); }
  void wait(int lane) override { lanes_->wait(lane); }
  bool query(int lane) override { return lanes_->query(lane); }
  const Space& instance(int lane) const override { return lanes_->instance(lane); }

 private:
  std::unique_ptr<lanes::Lanes> lanes_;
};

}  // namespace overlap
