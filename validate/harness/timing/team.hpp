// Ranks that run the same works at the same time, as those of a training job do: they share memory,
// caches and links, and a collective needs them all. Rank 0 measures; before each call it tells the
// others, who make the same one on a device of their own, so that all make the same calls in the
// same order. A timing starts behind a barrier and is that of the slowest rank: a step waits for
// it. One rank alone tells nobody.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/device/device.hpp"
#include "validate/harness/ranks/tcp_group.hpp"
#include "validate/harness/timing/timed_work.hpp"

namespace windtunnel {

double now_s();  // of a clock that never goes back

// Of so many runs of a work, on the slowest rank.
struct Timing {
  double seconds = 0;
  bool disturbed = false;  // others took from the device of some rank when it began or ended
};

// Rank 0's device before and after a block of timings, and whether any rank's clock moved, was held
// back, or a hypervisor took much of its time.
struct BlockReadings {
  DeviceReadings before, after;
  bool tainted = false;
};

// One rank's device, and the work that is prepared on it.
class TeamMember {
 public:
  explicit TeamMember(const Device& device) : device_(device) {}

  const Device& device() const { return device_; }
  void prepare(const TimedWork& work);
  Timing time(int times, TcpGroup* group) const;  // behind a barrier, where there is a group
  BlockReadings drop();

 private:
  const Device& device_;
  std::function<void()> run_;
  DeviceReadings before_;
  double started_s_ = 0;
};

class Team {
 public:
  // On rank 0; the others follow(). Without `group`: alone.
  explicit Team(const Device& device, TcpGroup* group = nullptr);
  ~Team();  // ends the others
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  const Device& device() const { return own_.device(); }
  int ranks() const { return group_ == nullptr ? 1 : group_->ranks(); }

  // Of one block. Throw Error when a connection breaks: then another rank has failed, and says why
  // where it was started.
  void prepare(const TimedWork& work);
  Timing time(int times);
  BlockReadings drop();

 private:
  friend class Follower;
  struct Order;
  void tell(const Order& order, std::string_view work = "");

  TeamMember own_;
  TcpGroup* group_;
};

// On every other rank: makes the calls of rank 0's Team until that ends, with the works of that
// name. From now on the process ignores SIGINT and SIGTERM: a terminal sends them to all ranks at
// once, and it is rank 0 that decides when it is over; a rank 0 that dies ends this by its broken
// connection. What fails here is thrown, which breaks the connections to all others.
void follow(std::span<const TimedWork> works, const Device& device, TcpGroup& group);

}  // namespace windtunnel
