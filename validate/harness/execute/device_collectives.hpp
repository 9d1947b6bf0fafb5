// Collectives of all ranks of a Plan on the memory of their devices, through NCCL. They run at this
// machine's speed, not that of the scenario's links.
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

// Returns the form of the task on devices; nothing if it goes over TCP.
std::optional<CollectiveForm> device_form(const Task& task);

// Throws Error if ranks could call collectives in different orders: all ranks have one
// communicator, so all collectives must be in one ordered stream.
void check_device_collectives(const Plan& plan);

class DeviceCollectives {
 public:
  // All ranks call this at the same time. Takes over the sockets that connect them. Throws Error on
  // every rank if one has no device or no NCCL.
  DeviceCollectives(int rank, const RankSockets& sockets);
  ~DeviceCollectives();

  // Runs a collective and returns whether its numbers are right. Only one thread of the rank may
  // call it.
  bool run(const CollectiveNumbers& numbers);

 private:
  TcpGroup group_;
  std::unique_ptr<Collectives> collectives_;
  std::optional<DeviceBuffer> values_, result_;
};

}  // namespace windtunnel
