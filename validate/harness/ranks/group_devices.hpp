// Assigns devices to the ranks of a group: the ranks of a host take its devices in turn.
#pragma once

#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "validate/harness/ranks/tcp_group.hpp"

namespace windtunnel {

// Returns the texts of all ranks, in rank order.
std::vector<std::string> told_by_all(TcpGroup& group, const std::string& own);

// Throws AgreedFault on every rank, with the rank at fault, if any rank has a fault ("": none).
// Ranks call it before steps in which others would wait for a rank that cannot take part.
void agree(TcpGroup& group, const std::string& fault);

// Returns the largest number of ranks with equal texts, such as ranks on one host or on one device.
int most_alike(const std::vector<std::string>& told);

double least_of_all(TcpGroup& group, double own);

struct DeviceShare {
  int index = 0;  // of the device that this rank took, on its host
  // The most ranks of the group on one device (CPU: on one core); if above 1, they share its time.
  int ranks_per_device = 1;
  int hosts = 1;
  int local_rank = 0;  // index among the ranks of its host, and their number
  int local_ranks = 1;
};

// Must be called before anything runs on the device. Throws Error on every rank if one has no
// device.
DeviceShare take_devices(TcpGroup& group, const Device& device);

struct UsableDevices {
  int count = 0;
  std::string why_none;
};

// Asks in a separate process, so that this one can still fork processes that use the devices.
UsableDevices usable_devices(DeviceKind kind);

}  // namespace windtunnel
