// What is kept of the weights beside the optimizer state, whose fp32 copy may be all there is.
#pragma once

#include "models/plan/job.hpp"

namespace windtunnel {

// Bytes of a parameter on the GPU under ZeRO-3. 0 where the shards themselves are fp32
// (Software::fp32_shards): PyTorch's FSDP2, whose state_dict() is of the shards
// (github.com/pytorch/torchtitan, b5bcd76c, docs/fsdp.md), whether parameters stay gathered or not.
// Otherwise weight_bytes_per_parameter().
double kept_copy_bytes_per_parameter(const Job& job);

// Bytes of a parameter in a snapshot (Software::snapshot_weights).
struct SnapshotParameter {
  double weights = 0;    // in the precision that computes
  double optimizer = 0;  // moments, and the weights' copy in fp32

  double bytes() const { return weights + optimizer; }
};
SnapshotParameter snapshot_parameter(const Job& job);

}  // namespace windtunnel
