// Which device each rank of a group works on: the ranks of a host take its devices in turn.
#pragma once

#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "validate/harness/ranks/tcp_group.hpp"

namespace windtunnel {

// What every rank says, in their order.
std::vector<std::string> told_by_all(TcpGroup& group, const std::string& own);

// Throws AgreedFault on every rank where any says what is wrong, with its rank; "": nothing. Before
// steps in which the others would wait for the one that cannot take part.
void agree(TcpGroup& group, const std::string& fault);

// Of each rank how many share what it says with it, the most of them: ranks on one host, or on one
// device.
int most_alike(const std::vector<std::string>& told);

double least_of_all(TcpGroup& group, double own);

struct DeviceShare {
  int index = 0;             // of the device on its host that this rank took
  int ranks_per_device = 1;  // the most in the group; more than 1: time-sliced. CPU: per core
  int hosts = 1;
  int local_rank = 0;  // among the ranks of its host, and how many these are
  int local_ranks = 1;
};

// Called before anything runs on the device. Throws Error on every rank where one has none.
DeviceShare take_devices(TcpGroup& group, const Device& device);

struct UsableDevices {
  int count = 0;
  std::string why_none;
};

// Asked in a process of its own, so that this one can still fork others that use them.
UsableDevices usable_devices(DeviceKind kind);

}  // namespace windtunnel
