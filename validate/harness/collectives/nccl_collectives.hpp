// Collectives through NVIDIA's NCCL (docs.nvidia.com/deeplearning/nccl), one process per GPU. The
// library is opened at run time, so that a training job's own NCCL can be measured
// (LD_LIBRARY_PATH), and nothing else depends on it.
//
// Collectives start on the work stream and may be captured into a graph, as Device::time_s does, if
// every rank captures the same ones equally often (NCCL user guide, "Using NCCL with CUDA Graphs").
// All connections are made at the start, so that none is made during a capture. Graphs must be
// destroyed before the collectives. If a rank dies, the others wait in their collectives until a
// launcher ends them or, for forked ranks, until the watch of rank 0 does (rank_watch.hpp). The
// watch cannot end them while NCCL makes its connections.
#pragma once

#include <memory>
#include <string>

#include "validate/harness/collectives/collectives.hpp"
#include "validate/harness/ranks/group_devices.hpp"
#include "validate/harness/ranks/tcp_group.hpp"

namespace windtunnel {

// Returns "" if NCCL can be used, else the reason why not, e.g. "built without NCCL".
std::string why_no_nccl();
std::string nccl_version();  // "2.28.9"; empty: no NCCL

// All ranks call this after take_devices(), which returned `share`. If ranks share a device, NCCL
// is limited to sockets: results are right, but times are not representative. Throws Error on every
// rank if one cannot take part. The group must outlive the result.
std::unique_ptr<Collectives> nccl_collectives(TcpGroup& group, const DeviceShare& share);

}  // namespace windtunnel
