// Copies of the weights apart from the optimizer state, whose fp32 copy may be the only one.
#pragma once

#include "models/plan/job.hpp"

namespace windtunnel {

// Bytes per parameter on the GPU under ZeRO-3. 0 if the shards themselves are fp32
// (Software::fp32_shards): PyTorch's FSDP2, whose state_dict() contains the shards
// (github.com/pytorch/torchtitan, b5bcd76c, docs/fsdp.md) even if parameters stay gathered.
// Otherwise weight_bytes_per_parameter().
double kept_copy_bytes_per_parameter(const Job& job);

// A snapshot stores these bytes per parameter (Software::snapshot_weights).
struct SnapshotParameter {
  double weights = 0;    // in the precision of computation
  double optimizer = 0;  // moments, and the fp32 copy of the weights

  double bytes() const { return weights + optimizer; }
};
SnapshotParameter snapshot_parameter(const Job& job);

}  // namespace windtunnel
