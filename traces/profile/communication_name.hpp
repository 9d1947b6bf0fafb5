// Recognises collectives by their names in PyTorch's c10d ("_allgather_base") and in kernels of
// NCCL and RCCL ("ncclDevKernel_AllGather_RING_LL"), and PyTorch's element types.
#pragma once

#include <optional>
#include <string_view>

#include "traces/profile/rank_profile.hpp"

namespace windtunnel {

struct NamedCall {
  CallKind kind = CallKind::collective;
  CollectiveKind collective = CollectiveKind::all_reduce;
  bool barrier = false;  // sends no data
};

// A name of c10d ("Collective name" of a kernel); nothing if it is unknown.
std::optional<NamedCall> call_of_c10d(std::string_view name);
// A name of a kernel. Sends and receives share one kernel, so their direction is unknown.
std::optional<NamedCall> call_of_kernel(std::string_view name);

// "BFloat16": 2; 0 for an unknown type.
int element_bytes_of(std::string_view dtype);

}  // namespace windtunnel
