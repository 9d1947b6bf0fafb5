// What the words of PyTorch and NCCL say of a collective: c10d's names of them ("_allgather_base"),
// kernels of NCCL and RCCL ("ncclDevKernel_AllGather_RING_LL"), and PyTorch's types of elements.
#pragma once

#include <optional>
#include <string_view>

#include "traces/profile/rank_profile.hpp"

namespace windtunnel {

struct NamedCall {
  CallKind kind = CallKind::collective;
  CollectiveKind collective = CollectiveKind::all_reduce;
  bool barrier = false;  // moves nothing
};

// Of c10d ("Collective name" of a kernel); nothing: it is none that is known.
std::optional<NamedCall> call_of_c10d(std::string_view name);
// Of a kernel's own name. Messages of both ways are one kernel: nothing is said of them.
std::optional<NamedCall> call_of_kernel(std::string_view name);

// "BFloat16": 2; 0 where it is not known.
int element_bytes_of(std::string_view dtype);

}  // namespace windtunnel
