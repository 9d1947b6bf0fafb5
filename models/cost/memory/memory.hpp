// GPU and host memory from first principles: what a stage holds (Rajbhandari et al. 2020, arXiv
// 1910.02054, for the training state; Korthikanti et al. 2022, arXiv 2205.05198, for activations,
// generalised to GQA, SwiGLU and fused attention); and what of it Job::offload lays in host memory
// or on drives. Not modelled: checkpointed activations divided over tp.
#pragma once

#include <string>
#include <vector>

#include "models/cost/chunk/activations.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/op/op.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

// Bytes of the training state per parameter. Mixed precision as Megatron-LM: 2 B weights, 4 B
// gradients, 12 B optimizer state (fp32 copy and two moments; Software::optimizer may keep fewer,
// all in fp32); fp32 and tf32: 4 + 4 + 8. Where gradients are reduced, with
// Software::reduced_copy_bytes.
double weight_bytes_per_parameter(const Job& job);
double gradient_bytes_per_parameter(const Job& job);
double optimizer_bytes_per_parameter(const Job& job);
double moment_bytes_per_parameter(const Job& job);  // of one of the optimizer's moments
// Of a gradient on its way: over the network, to a server or to the host.
double reduce_bytes_per_parameter(const Job& job);
// Of the gradients that are reduced together, by Communication::bucket_elements or bucket_bytes.
double bucket_bytes(const Job& job);
// Of a snapshot, which holds weights and optimizer state, the share that weights are.
double weight_share(const Job& job);

// Of the same what lies on the GPU: the rest is offloaded.
double state_share_on_gpu(const Job& job);

// What a rank keeps for the levels of Job::sync, of so many parameters of its stages: its own part
// of them, as all ranks of an island that hold the same ones divide what they exchange.
double outer_state_bytes(const Job& job, double dense, double experts);

// Ranks that share one copy, as shard_ranks(). Of experts tp / ep times as many or
// Layout::expert_shard_ranks, without levels or a second copy.
struct StateShards {
  double weights = 1;
  double secondary = 0;  // 0: no second copy
  double gradients = 1;
  double optimizer = 1;
};
StateShards state_shards(const Job& job, bool experts);

// gathered_parameters() of stage_parameters.hpp, or those of a table of layers.
double gathered_parameters(const Job& job);

// What of a GPU's job lies beside it, in a tier of Job::offload, in bytes at its peak.
struct TierMemory {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double total() const { return weights + gradients + optimizer + activations; }
};

// Bytes on the GPU of one pipeline rank at its peak.
struct GpuMemory {
  double weights = 0;
  double gradients = 0;  // and what a compressor keeps from step to step
  double optimizer = 0;
  double activations = 0;
  double buffers = 0;        // a gradient bucket, pipeline buffers, what lives while a chunk runs
  double fragmentation = 0;  // what the allocator reserves beyond its tensors
  double framework = 0;      // outside the allocator: context and communicators
  int pool = -1;             // whose GPU it is: Cluster::node_of_pool()
  TierMemory host = {};      // of its node's memory
  TierMemory disk = {};      // of its node's drives
  double allocated() const { return weights + gradients + optimizer + activations + buffers; }
  double total() const { return allocated() + fragmentation + framework; }
};

// Under ZeRO-3 with a schedule that says when stages are gathered and reduced: the most parameters
// of a rank whose weights, and whose gradients, are whole at once.
struct WholeParameters {
  double weights = 0;
  double gradients = 0;
};
// [rank]; empty: the schedule says nothing.
std::vector<WholeParameters> whole_parameters(const Schedule& schedule,
                                              const std::vector<ChunkCost>& chunks);

// One per pipeline rank. `peak_activation_bytes[r]` comes from the schedule (evaluator): the most
// that is alive at once on rank r. The optimizer state is sharded over dp x cp under ZeRO-1.
// `held`: which stages are where, [rank]; empty: looped. `weight_copies`: versions of the weights
// that an asynchronous schedule keeps (Schedule::weight_copies), [rank]; empty: 1.
// `whole`: whole_parameters(); empty: layer by layer.
std::vector<GpuMemory> gpu_memory(const Job& job, const std::vector<ChunkCost>& chunks,
                                  const std::vector<double>& peak_activation_bytes,
                                  const HeldStages& held = {},
                                  const std::vector<double>& weight_copies = {},
                                  const std::vector<WholeParameters>& whole = {});

// Bytes of the training state that one GPU of pipeline rank r must save: weights and optimizer
// state, each copy once per job, so the dp x cp ranks that hold the same share the writing
// (gradients are not saved).
// Of stages that two ranks hold each saves half.
std::vector<double> snapshot_bytes_per_gpu(const Job& job, const std::vector<ChunkCost>& chunks,
                                           const HeldStages& held = {});

// Adds what leaves the GPU of each pipeline rank between forward and backward: `bytes` at its peak.
void add_offloaded_activations(const Job& job, const std::vector<double>& bytes,
                               std::vector<GpuMemory>& memory);

// Of the memory as it is sold: "80 GB" are 80 GiB, of which the driver keeps some. What is left to
// CUDA is what PyTorch's out-of-memory messages call the capacity: 79.11 GiB of an H100 80 GB (98.9
// %; github.com/vllm-project/vllm/issues/27508), 79.25 of an A100 80 GB (99.1 %), 31.75 of a V100
// 32 GB (99.2 %), 31.37 of an RTX 5090 32 GB (98.0 %). nvidia-smi counts the driver's part in:
// 81,559 MiB of an H100 80 GB (99.6 %). Context and communicators are the job's.
double usable_bytes(const GpuSpec& gpu);
double usable_bytes(const Job& job, const GpuMemory& memory);  // of its GPU

double room_bytes(const Job& job, const GpuMemory& memory);  // that are left of them

// The one that has the least room left, or lacks the most; nullptr: there is none.
const GpuMemory* tightest(const std::vector<GpuMemory>& memory, const Job& job);
// usable_bytes() of it; without one, of the job's nodes.
double tightest_bytes(const std::vector<GpuMemory>& memory, const Job& job);

// Of the fullest GPU; 0: there is none.
double fullest_bytes(const std::vector<GpuMemory>& memory);

// Why the job does not fit, naming rank, tensor class and excess; empty if it fits.
std::string gpu_memory_excess(const std::vector<GpuMemory>& memory, const Job& job);

}  // namespace windtunnel
