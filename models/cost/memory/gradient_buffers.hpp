// Gradients on their way: how many are reduced together, and what those take that are whole.
#pragma once

#include "models/plan/job.hpp"

namespace windtunnel {

// Gradients of a bucket, by Communication; 0: buckets are counted in bytes.
double bucket_elements(const Job& job);

// Bytes of a gradient of the two units that are whole at a time until they are scattered (layers,
// or the vocabulary's weights). Both lie in the type that is reduced; where gradients are kept in a
// smaller one, only the unit that is being reduced does, for which it is copied, as FSDP2's
// foreach_reduce does (github.com/pytorch/pytorch,
// torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py).
double whole_gradient_bytes_per_parameter(const Job& job);

}  // namespace windtunnel
