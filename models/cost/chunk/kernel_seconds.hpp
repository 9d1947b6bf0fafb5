// The kernels of a stage by what they compute: the classes that a profiler's trace can tell apart.
#pragma once

#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

struct KernelSeconds {
  double products_s = 0;           // of linear layers, and of unfused attention
  double attention_forward_s = 0;  // fused
  double attention_backward_s = 0;
  double memory_s = 0;  // norms and all that memory bandwidth bounds, but for the optimizer
  double total_s() const {
    return products_s + attention_forward_s + attention_backward_s + memory_s;
  }
};

KernelSeconds operator*(const KernelSeconds& kernels, double times);
KernelSeconds operator+(const KernelSeconds& a, const KernelSeconds& b);

// [stage] of one micro-batch, forward, backward and what is recomputed: the ops that chunk_costs()
// charges, without what the host and other ranks add. Of a table of layers nothing is known by
// class: empty.
std::vector<KernelSeconds> kernel_seconds(const Job& job);

}  // namespace windtunnel
