// Ranks that run the same works at the same time, as ranks of a training job do: they share memory,
// caches and links, and collectives need them all. Rank 0 measures. Before each call it notifies
// the others, which make the same call on their own devices, so that all calls are in the same
// order. A timing starts after a barrier and is that of the slowest rank, because a step waits for
// it. A single rank notifies no one.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/device/device.hpp"
#include "validate/harness/ranks/tcp_group.hpp"
#include "validate/harness/timing/kernel_runner.hpp"

namespace windtunnel {

double now_s();  // from a monotonic clock

// The time of several runs of a work on the slowest rank.
struct Timing {
  double seconds = 0;
  bool disturbed = false;  // others used a rank's device when it began or ended
};

// Rank 0's device before and after a block of timings, and whether any rank's clock moved or was
// throttled, or a hypervisor took much of its time.
struct BlockReadings {
  DeviceReadings before, after;
  bool tainted = false;
};

// One rank's device with the prepared work.
class TeamMember {
 public:
  explicit TeamMember(const Device& device) : device_(device) {}

  const Device& device() const { return device_; }
  void prepare(const TimedWork& work);
  Timing time(int times, TcpGroup* group) const;  // after a barrier if there is a group
  BlockReadings drop();

 private:
  const Device& device_;
  std::function<void()> run_;
  DeviceReadings before_;
  double started_s_ = 0;
};

class Team {
 public:
  // For rank 0; the others call follow(). Without `group`: a single rank.
  explicit Team(const Device& device, TcpGroup* group = nullptr);
  ~Team();  // ends the other ranks
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  const Device& device() const { return own_.device(); }
  int ranks() const { return group_ == nullptr ? 1 : group_->ranks(); }

  // The calls of one block. Throw Error if a connection breaks: another rank has then failed, and
  // reports the reason where it was started.
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

// On every other rank: makes the same calls as rank 0's Team until that ends, finding works by
// name. From now on the process ignores SIGINT and SIGTERM, because a terminal sends them to all
// ranks and rank 0 decides when to end; if rank 0 dies, the broken connection ends this. A fault
// here is thrown, which breaks the connections to all others.
void follow(std::span<const TimedWork> works, const Device& device, TcpGroup& group);

}  // namespace windtunnel
