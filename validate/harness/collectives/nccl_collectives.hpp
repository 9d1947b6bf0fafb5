// Collectives through NVIDIA's NCCL (docs.nvidia.com/deeplearning/nccl), one process for each GPU.
// The library is opened at run time, so that the one that a training job uses can be measured
// (LD_LIBRARY_PATH), and nothing else depends on it.
//
// They start on the work stream and may be captured into a graph, as Device::time_s does, when
// every rank captures the same ones as often (NCCL user guide, "Using NCCL with CUDA Graphs"). All
// connections are made at the start, so that none falls into a capture. A graph must be gone before
// the collectives are. A rank that dies leaves the others waiting in theirs: a launcher ends them,
// or where ranks were forked the watch of rank 0 (rank_watch.hpp). Only while NCCL makes the
// connections nothing does.
#pragma once

#include <memory>
#include <string>

#include "validate/harness/collectives/collectives.hpp"
#include "validate/harness/ranks/group_devices.hpp"
#include "validate/harness/ranks/tcp_group.hpp"

namespace windtunnel {

// Empty where it can be used, else the reason why not, e.g. "built without NCCL".
std::string why_no_nccl();
std::string nccl_version();  // "2.28.9"; empty: none

// Called by all ranks after take_devices(), which told `share`. Where ranks share a device, NCCL is
// held to its sockets: good for results, not for times. Throws Error on every rank where one cannot
// take part. The group must outlive what it returns.
std::unique_ptr<Collectives> nccl_collectives(TcpGroup& group, const DeviceShare& share);

}  // namespace windtunnel
