// GPU and host memory from first principles.
#pragma once

#include <string>
#include <vector>

#include "models/chunk_cost.hpp"
#include "models/snapshot.hpp"

namespace windtunnel {

// Bytes on the GPU of one pipeline rank at its peak.
struct GpuMemory {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double buffers = 0;       // communication buckets, pipeline buffers, logits of the loss
  double framework = 0;     // context, library workspaces, fragmentation
  double total() const {
    return weights + gradients + optimizer + activations + buffers + framework;
  }
};

// One per pipeline rank. `peak_activation_bytes[r]` comes from the schedule (evaluator): the most
// that is alive at once on rank r. Mixed precision as Megatron-LM: 2 B weights and 4 B gradients per
// parameter, 12 B optimizer state (fp32 copy, two moments), sharded over dp x cp under ZeRO-1;
// fp32 and tf32 training: 4 + 4 + 8.
std::vector<GpuMemory> gpu_memory(const TransformerSpec& model, const Layout& layout,
                                  const Batch& batch, Precision precision,
                                  const std::vector<ChunkCost>& chunks,
                                  const std::vector<double>& peak_activation_bytes,
                                  double bucket_bytes, const Calibration& calibration);

// Bytes of the training state that one GPU of pipeline rank r must save (weights and optimizer
// state; gradients are not saved), with the copies of a sharded state written once per job.
std::vector<double> snapshot_bytes_per_gpu(const Layout& layout, Precision precision,
                                           const std::vector<ChunkCost>& chunks);

// Why the job does not fit, naming rank, tensor class and excess; empty if it fits.
std::string gpu_memory_excess(const std::vector<GpuMemory>& memory, const GpuSpec& gpu);
std::string host_memory_excess(double bytes_per_node, const NodeSpec& node);

}  // namespace windtunnel
