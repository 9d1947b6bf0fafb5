// What is kept of the weights beside the optimizer state, whose fp32 copy may be all there is.
#pragma once

#include "models/plan/job.hpp"

namespace windtunnel {

// Bytes of a parameter in snapshots, and on the GPU under ZeRO-3. 0 where the shards themselves are
// fp32 and are cast on their way into a gather (Software::shard_copies): PyTorch's FSDP2, whose
// state_dict() is of the shards (github.com/pytorch/torchtitan, b5bcd76c, docs/fsdp.md), whether
// parameters stay gathered or not. Otherwise weight_bytes_per_parameter().
double kept_copy_bytes_per_parameter(const Job& job);

}  // namespace windtunnel
