// What the loss of a micro-batch keeps from its forward to its backward pass: the softmax of the
// logits, or the gradient that one kernel has written over them. It is not there yet when layers
// run forward, and gone when they run back.
#pragma once

#include "models/plan/job.hpp"

namespace windtunnel {

double loss_bytes(const Job& job, const SequenceSlice& slice);

}  // namespace windtunnel
