// Kernel time of a stage by class, as far as a profiler's trace can distinguish classes.
#pragma once

#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

struct KernelSeconds {
  double products_s = 0;           // of linear layers, and of unfused attention
  double attention_forward_s = 0;  // fused
  double attention_backward_s = 0;
  double memory_s = 0;  // norms and everything memory-bound, except the optimizer
  double total_s() const {
    return products_s + attention_forward_s + attention_backward_s + memory_s;
  }
};

KernelSeconds operator*(const KernelSeconds& kernels, double times);
KernelSeconds operator+(const KernelSeconds& a, const KernelSeconds& b);

// [stage] per micro-batch: forward, backward and recomputation. These are the ops of chunk_costs()
// without host overhead and communication. Empty for a table of layers, whose ops have no classes.
std::vector<KernelSeconds> kernel_seconds(const Job& job);

}  // namespace windtunnel
