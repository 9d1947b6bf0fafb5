// GPU and host memory from first principles: the training state (Rajbhandari et al. 2020, arXiv
// 1910.02054) and activations (Korthikanti et al. 2022, arXiv 2205.05198, generalised to GQA,
// SwiGLU and fused attention) of a stage, and the part of them that Job::offload moves to host
// memory or drives. Not modelled: checkpointed activations divided over tp.
#pragma once

#include <string>
#include <vector>

#include "models/cost/chunk/activations.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/op/op.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

// Bytes of the training state per parameter. Mixed precision as in Megatron-LM: 2 B weights, 4 B
// gradients, 12 B optimizer state (fp32 copy and two moments; Software::optimizer may keep fewer,
// all in fp32); fp32 and tf32: 4 + 4 + 8. If gradients are reduced, includes
// Software::reduced_copy_bytes.
double weight_bytes_per_parameter(const Job& job);
double gradient_bytes_per_parameter(const Job& job);
double optimizer_bytes_per_parameter(const Job& job);
double moment_bytes_per_parameter(const Job& job);  // of one optimizer moment
// Bytes per gradient in transit: over the network, to a server or to the host.
double reduce_bytes_per_parameter(const Job& job);
// Communication::bucket_elements or bucket_bytes sets the size.
double bucket_bytes(const Job& job);
// The weights' share of a snapshot, which holds weights and optimizer state.
double weight_share(const Job& job);

// The share of a snapshot that comes from the GPU; the rest of the state is offloaded.
double state_share_on_gpu(const Job& job);

// State that a rank keeps for the levels of Job::sync, given the parameters of its stages. All
// ranks of an island that hold the same parameters divide this state.
double outer_state_bytes(const Job& job, double dense, double experts);

// Numbers of ranks that share one copy of each state (shard_ranks()). Experts have tp / ep times as
// many ranks, or Layout::expert_shard_ranks; they have no levels and no second copy.
struct StateShards {
  double weights = 1;
  double secondary = 0;  // 0: no second copy
  double gradients = 1;
  double optimizer = 1;
};
StateShards state_shards(const Job& job, bool experts);

// gathered_parameters() of stage_parameters.hpp, or of a table of layers.
double gathered_parameters(const Job& job);

// A GPU's part of the job needs at most these bytes in a tier of Job::offload.
struct TierMemory {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double total() const { return weights + gradients + optimizer + activations; }
};

// A GPU of one pipeline rank needs at most these bytes.
struct GpuMemory {
  double weights = 0;
  double gradients = 0;  // including what a compressor keeps between steps
  double optimizer = 0;
  double activations = 0;
  double buffers = 0;  // a gradient bucket, pipeline buffers, tensors that live while a chunk runs
  double fragmentation = 0;  // memory reserved by the allocator beyond tensors
  double framework = 0;      // outside the allocator: CUDA context and communicators
  int pool = -1;             // of the GPU: Cluster::node_of_pool()
  TierMemory host = {};      // in its node's memory
  TierMemory disk = {};      // on its node's drives
  double allocated() const { return weights + gradients + optimizer + activations + buffers; }
  double total() const { return allocated() + fragmentation + framework; }
};

// Under ZeRO-3 with a schedule that says when stages are gathered and reduced: the largest numbers
// of parameters whose weights, and whose gradients, are whole on a rank at the same time.
struct WholeParameters {
  double weights = 0;
  double gradients = 0;
};
// [rank]; empty: the schedule does not say.
std::vector<WholeParameters> whole_parameters(const Schedule& schedule,
                                              const std::vector<ChunkCost>& chunks);

// One per pipeline rank. `peak_activation_bytes[r]` comes from the schedule (evaluator): the most
// that is allocated at once on rank r. The optimizer state is sharded over dp x cp under ZeRO-1.
// `held`: stages by [rank]; empty: looped. `weight_copies`: [rank] versions of the weights that an
// asynchronous schedule keeps (Schedule::weight_copies); empty: 1. `whole`: whole_parameters();
// empty: layer by layer.
std::vector<GpuMemory> gpu_memory(const Job& job, const std::vector<ChunkCost>& chunks,
                                  const std::vector<double>& peak_activation_bytes,
                                  const HeldStages& held = {},
                                  const std::vector<double>& weight_copies = {},
                                  const std::vector<WholeParameters>& whole = {});

// Bytes of training state that one GPU of each pipeline rank must save: weights and optimizer
// state, each copy once per job, so the dp x cp ranks with the same copy share the writing.
// Gradients are not saved. A stage that two ranks hold counts half for each.
std::vector<double> snapshot_bytes_per_gpu(const Job& job, const std::vector<ChunkCost>& chunks,
                                           const HeldStages& held = {});

// Adds the peak `bytes` that each pipeline rank's GPU offloads between forward and backward.
void add_offloaded_activations(const Job& job, const std::vector<double>& bytes,
                               std::vector<GpuMemory>& memory);

// Usable bytes of the capacity as sold. "80 GB" are 80 GiB, part of which the driver uses; the rest
// is what PyTorch's out-of-memory messages call the capacity: 79.11 GiB of an H100 80 GB (98.9 %;
// github.com/vllm-project/vllm/issues/27508), 79.25 of an A100 80 GB (99.1 %), 31.75 of a V100 32
// GB (99.2 %), 31.37 of an RTX 5090 32 GB (98.0 %). nvidia-smi includes the driver's part: 81,559
// MiB of an H100 80 GB (99.6 %). CUDA context and communicators belong to the job.
double usable_bytes(const GpuSpec& gpu);
double usable_bytes(const Job& job, const GpuMemory& memory);  // of that GPU

double room_bytes(const Job& job, const GpuMemory& memory);  // usable bytes that are left

// The entry with the least room, or the largest excess; nullptr if there are no entries.
const GpuMemory* tightest(const std::vector<GpuMemory>& memory, const Job& job);
// Returns usable_bytes() of that entry, or of the job's nodes if there are no entries.
double tightest_bytes(const std::vector<GpuMemory>& memory, const Job& job);

// Returns the bytes of the fullest GPU; 0 without entries.
double fullest_bytes(const std::vector<GpuMemory>& memory);

// Why the job does not fit: rank, tensor class and excess; empty if it fits.
std::string gpu_memory_excess(const std::vector<GpuMemory>& memory, const Job& job);

}  // namespace windtunnel
