// Buffers of gradients: how many are reduced together, and the size of those that are not sharded
// yet.
#pragma once

#include "models/plan/job.hpp"

namespace windtunnel {

// Gradients per bucket, by Communication; 0: buckets are counted in bytes.
double bucket_elements(const Job& job);

// Bytes per parameter of the two units (layers, or the vocabulary's weights) whose gradients are
// whole until they are reduce-scattered. Both are in the type that is reduced. If gradients are
// stored in a smaller type, only the unit being reduced is in that type, as a copy: FSDP2's
// foreach_reduce (github.com/pytorch/pytorch,
// torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py).
double whole_gradient_bytes_per_parameter(const Job& job);

}  // namespace windtunnel
