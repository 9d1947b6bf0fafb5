// Collectives of all ranks of a Plan on the memory of their devices, through NCCL: at the speed of
// this machine, not of the scenario's links.
#pragma once

#include <memory>
#include <optional>

#include "kernels/device/device.hpp"
#include "models/plan/plan.hpp"
#include "validate/harness/collectives/collectives.hpp"
#include "validate/harness/execute/collective_work.hpp"
#include "validate/harness/ranks/rank_sockets.hpp"
#include "validate/harness/ranks/tcp_group.hpp"

namespace windtunnel {

// In which form a task runs there; none: it has none, and goes over TCP.
std::optional<CollectiveForm> device_form(const Task& task);

// Throws Error where ranks could call them in different orders: they have one communicator, so one
// stream in order has them all.
void check_device_collectives(const Plan& plan);

class DeviceCollectives {
 public:
  // All ranks at once, which are joined by these sockets; they become its own. Throws Error on
  // every rank where one has no device or no NCCL.
  DeviceCollectives(int rank, const RankSockets& sockets);
  ~DeviceCollectives();

  // Runs one, and whether its numbers are right. One thread of the rank.
  bool run(const CollectiveNumbers& numbers);

 private:
  TcpGroup group_;
  std::unique_ptr<Collectives> collectives_;
  std::optional<DeviceBuffer> values_, result_;
};

}  // namespace windtunnel
