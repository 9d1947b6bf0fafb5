#include "models/cost/memory/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/cost/memory/gradient_buffers.hpp"
#include "models/cost/memory/kept_weights.hpp"
#include "models/cost/memory/tiers.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/cost/op/op_parts.hpp"
#include "models/plan/pipeline_stages.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {
namespace {

// The training state, and temporary bytes at the end of a step.
struct State {
  double weights = 0;
  double second_copy = 0;  // of weights, for backward passes; it stays on the GPU
  double gradients = 0;
  double optimizer = 0;
  double update = 0;          // flat copies of the weights while the shards are gathered
  double gradients_flat = 0;  // Software::update_bytes
};

// ZeRO (Rajbhandari et al. 2020, arXiv 1910.02054, figure 1): stage 1 shards the optimizer state,
// 2 the gradients too, 3 the weights too. `frozen`: parameters that have nothing but weights.
void add_state(const Job& job, double parameters, double frozen, const StateShards& shards,
               State& state) {
  const Sharding sharding = job.layout.sharding;
  const double weights = weight_bytes_per_parameter(job) * parameters;
  const double held = weights + weight_bytes_per_parameter(job) * frozen;
  // Whole weights have the precision of computation; shards may be the fp32 copy.
  const double of_shards = kept_copy_bytes_per_parameter(job) * parameters + (held - weights);
  state.weights += (sharding == Sharding::zero3 ? of_shards : held) / shards.weights;
  if (shards.secondary > 0) state.second_copy += held / shards.secondary;
  state.gradients += gradient_bytes_per_parameter(job) * parameters / shards.gradients;
  state.optimizer += optimizer_bytes_per_parameter(job) * parameters / shards.optimizer;
  state.gradients_flat += job.software.update_bytes * parameters / shards.optimizer;
  const bool gathers = sharding == Sharding::zero1 || sharding == Sharding::zero2;
  if (gathers && shards.optimizer > 1 && job.software.flat_copies) {
    state.update += weights * (1 + 1 / shards.optimizer);
  }
}

// The numbers of shards for a rank that holds `factor` times the mean of the divided state.
StateShards of_share(StateShards shards, double factor) {
  for (double* ranks : {&shards.weights, &shards.gradients, &shards.optimizer}) {
    if (*ranks > 1) *ranks /= factor;
  }
  return shards;
}

// ZeRO-3: bytes of weights and gradients that are whole at one time. If they are sent with fewer
// bits, the sent form counts, too: weights on arrival, gradients when they leave and arrive.
double whole_bytes(const Job& job, const WholeParameters& whole) {
  const Layout& layout = job.layout;
  const ShardRanks shards = shard_ranks(layout);
  double bytes = 0;
  if (shards.weights > 1) {
    bytes += (weight_bytes_per_parameter(job) + layout.weight_bits / 8.0) * whole.weights;
  }
  if (shards.optimizer > 1) {
    bytes += (whole_gradient_bytes_per_parameter(job) + 2 * layout.gradient_bits / 8.0) *
             whole.gradients;
  }
  return bytes;
}

// In addition to 16-bit weights, Transformer Engine keeps weights in the GEMMs' precision for all
// micro-batches, once as they are and, unless products take any layout, once transposed. Only in
// fp8 can the transposed copy be derived from the other: the other formats scale rows and columns
// separately. A 4-bit base is converted in each pass.
double scaled_weight_bytes(const Job& job) {
  const bool in_4_bits = job.training && job.training->adapter.kind == AdapterKind::qlora;
  if (!job.software.scaled_copies || in_4_bits) return 0;
  switch (job.precision) {
    case Precision::fp8:
      return job.software.weight_transposes && !fp8_in_any_layout(job.cluster.node.gpu) ? 2 : 1;
    case Precision::mxfp8:
      return 2 * (1 + 1.0 / 32);
    case Precision::nvfp4:
      return 2 * (0.5 + 1.0 / 16);
    default:
      return 0;
  }
}

// The share of the weights that no scaled product reads: embedding and loss head.
double whole_precision(const Job& job) {
  if (job.network) return 1;
  return (job.model.embedding_parameters() + job.model.head_parameters()) / job.model.parameters();
}

// cuBLAS workspaces of PyTorch (8 MiB, from Hopper on 32: c10's parseChosenWorkspaceSize) and of
// Transformer Engine (4 and 32 MiB: get_cublas_workspace_size_bytes), one for all GEMMs.
double gemm_workspace_bytes(const GpuSpec& gpu) {
  return gpu.fp8_flops.value > 0 ? (32 + 32) * kMebibyte : (8 + 4) * kMebibyte;
}

// Sums over the stages of a rank.
struct StageSums {
  double dense = 0, experts = 0, frozen = 0;  // parameters
  double transient = 0;
  double kept = 0;         // of a micro-batch of each stage
  double stages_sent = 0;  // the model's last stage sends nothing
  State state;
};

StageSums sums_of(const Job& job, const std::vector<ChunkCost>& chunks,
                  const std::vector<int>& stages, const StateShards& shards,
                  const StateShards& expert_shards) {
  StageSums sums;
  for (const int stage : stages) {
    const ChunkCost& chunk = chunks[stage];
    const double of_experts = chunk.expert_parameters;
    sums.dense += chunk.parameters - of_experts;
    sums.experts += of_experts;
    sums.frozen += chunk.frozen_parameters;
    add_state(job, chunk.parameters - of_experts, chunk.frozen_parameters - chunk.frozen_experts,
              shards, sums.state);
    add_state(job, of_experts, chunk.frozen_experts, expert_shards, sums.state);
    sums.transient = std::max(sums.transient, chunk.transient_bytes);
    sums.kept += chunk.activation_bytes;
    if (stage + 1 < job.layout.stages()) ++sums.stages_sent;
  }
  return sums;
}

// If a step has one micro-batch, new gradients replace freed activations: the peak is at the first
// or the last moment of the backward pass.
bool replaces_activations(const Job& job) {
  return job.software.gradients_released && job.layout.pp == 1 &&
         microbatches(job.layout, job.batch) == 1 && offload_of(job).gradients == MemoryTier::gpu;
}

struct TensorClass {
  const char* name;
  double GpuMemory::*bytes;
};

constexpr std::array<TensorClass, 7> kClasses = {{
    {"weights", &GpuMemory::weights},
    {"gradients", &GpuMemory::gradients},
    {"optimizer state", &GpuMemory::optimizer},
    {"activations", &GpuMemory::activations},
    {"buffers", &GpuMemory::buffers},
    {"fragmentation", &GpuMemory::fragmentation},
    {"framework", &GpuMemory::framework},
}};

// Bytes that a rank with these parameters holds whole in addition to its shards. Under zero3 these
// are weights and gradients of two layers and the vocabulary, or what the schedule says. Under
// zero2 they are the gradients before they are reduce-scattered, because PyTorch's FSDP2 has one
// post_backward for both (torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py).
double whole_buffers(const Job& job, const WholeParameters& held, const WholeParameters* whole) {
  const StateShards shards = state_shards(job, false);
  const bool gathers = job.layout.sharding == Sharding::zero3 && shards.optimizer > 1;
  const bool scatters = job.layout.sharding == Sharding::zero2 && shards.gradients > 1;
  if (!gathers && !scatters) return 0;
  const double most = gathered_parameters(job);
  const WholeParameters by_layer{std::min(most, held.weights), std::min(most, held.gradients)};
  if (scatters) return whole_gradient_bytes_per_parameter(job) * by_layer.gradients;
  return whole_bytes(job, whole == nullptr ? by_layer : *whole);
}

}  // namespace

std::vector<GpuMemory> gpu_memory(const Job& job, const std::vector<ChunkCost>& chunks,
                                  const std::vector<double>& peak_activation_bytes,
                                  const HeldStages& held, const std::vector<double>& weight_copies,
                                  const std::vector<WholeParameters>& whole) {
  const Layout& layout = job.layout;
  const Calibration& calibration = job.calibration;
  const auto ranks = static_cast<std::size_t>(layout.pp);
  CHECK(chunks.size() == static_cast<std::size_t>(layout.stages()), "{} chunks", chunks.size());
  CHECK(peak_activation_bytes.size() == ranks, "{} peaks", peak_activation_bytes.size());
  CHECK(weight_copies.empty() || weight_copies.size() == ranks, "{} copies", weight_copies.size());
  const StateShards even = state_shards(job, false);
  const StateShards expert_shards = state_shards(job, true);
  const double replicas = layout.island_replicas();
  const double boundary = stage_boundary(job).bytes;
  const bool gathered = layout.sharding == Sharding::zero3 && even.optimizer > 1;
  const HeldStages stages_of = stages_of_ranks(layout, held);
  const Offload& offload = offload_of(job);
  std::vector<GpuMemory> memory(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const StateShards shards =
        layout.state_factors.empty() ? even : of_share(even, layout.state_factors[rank]);
    const auto [dense, experts, frozen, transient, kept, stages_sent, state] =
        sums_of(job, chunks, stages_of[rank], shards, expert_shards);
    const double parameters = dense + experts;
    GpuMemory& at = memory[rank];
    const double copies = weight_copies.empty() ? 1 : weight_copies[rank];
    const double scaled = scaled_weight_bytes(job);
    const double plain = job.software.scaled_weights && scaled > 0 ? whole_precision(job) : 1;
    at.weights = plain * copies * (state.weights + state.second_copy) +
                 scaled * (parameters + frozen) / shards.weights;
    at.gradients = state.gradients;
    at.optimizer = state.optimizer + outer_state_bytes(job, dense, experts);
    at.activations = peak_activation_bytes[rank];
    // The software keeps each micro-batch's stage output until the backward pass.
    if (job.software.held_outputs && kept > 0)
      at.activations += stages_sent * boundary * at.activations / kept;
    // Each direction has one activation and one gradient in flight.
    const double pipeline = layout.pp > 1 ? 4 * boundary : 0;
    const double all_gradients = gradient_bytes_per_parameter(job) * parameters;
    // Buckets that are counted in elements are parts of the one buffer that holds all gradients.
    const bool in_place = bucket_elements(job) > 0;
    const bool apart = replicas > 1 && (!in_place || job.software.bucket_copies);
    const double bucket = apart ? std::min(bucket_bytes(job), all_gradients) : 0;
    double buffers = transient + pipeline + bucket + gemm_workspace_bytes(job.cluster.node.gpu);
    buffers += whole_buffers(job, {parameters + frozen, parameters},
                             whole.empty() ? nullptr : &whole[rank]);
    if (gathered && job.software.whole_start) {
      buffers += weight_bytes_per_parameter(job) * (parameters + frozen);
    }
    // Activations are gone when the weights are gathered after the step.
    const double updated_here = 1 - (offload.updates_on_host() ? offload.optimizer_share : 0);
    at.buffers =
        std::max(buffers, state.update - at.activations) + updated_here * state.gradients_flat;
    // Flat copies at the update already use the room that activations leave.
    if (replaces_activations(job) && state.update <= 0) {
      at.gradients = std::max(0.0, at.gradients - at.activations - transient);
    }
    move_to_tiers(job, {copies * state.weights, state.gradients, state.optimizer},
                  parameters + frozen, at);
    if (!job.software.expandable_segments) {
      at.fragmentation = calibration.fragmentation.value * at.allocated();
    }
    at.framework = calibration.framework_bytes.value;
  }
  return memory;
}

double usable_bytes(const GpuSpec& gpu) {
  constexpr double kVisible = 0.99;
  return gpu.memory_bytes.value * (kGibibyte / 1e9) * kVisible;
}

double usable_bytes(const Job& job, const GpuMemory& memory) {
  return usable_bytes(job.cluster.node_of_pool(memory.pool).gpu);
}

double room_bytes(const Job& job, const GpuMemory& memory) {
  return usable_bytes(job, memory) - memory.total();
}

const GpuMemory* tightest(const std::vector<GpuMemory>& memory, const Job& job) {
  const auto room = [&](const GpuMemory& at) { return room_bytes(job, at); };
  const auto found = std::ranges::min_element(memory, {}, room);
  return found == memory.end() ? nullptr : &*found;
}

double tightest_bytes(const std::vector<GpuMemory>& memory, const Job& job) {
  const GpuMemory* found = tightest(memory, job);
  return found == nullptr ? usable_bytes(job.cluster.node.gpu) : usable_bytes(job, *found);
}

double fullest_bytes(const std::vector<GpuMemory>& memory) {
  double most = 0;
  for (const GpuMemory& rank : memory) most = std::max(most, rank.total());
  return most;
}

std::string gpu_memory_excess(const std::vector<GpuMemory>& memory, const Job& job) {
  const GpuMemory* worst = tightest(memory, job);
  if (worst == nullptr) return {};
  const GpuSpec& gpu = job.cluster.node_of_pool(worst->pool).gpu;
  const double usable = usable_bytes(gpu);
  if (worst->total() <= usable) return {};
  const auto largest = std::max_element(kClasses.begin(), kClasses.end(),
                                        [&](const TensorClass& a, const TensorClass& b) {
                                          return (*worst).*a.bytes < (*worst).*b.bytes;
                                        });
  return fmt::format(
      "pipeline rank {} needs {}, {} more than the usable {} of gpu '{}'; the largest part is {} "
      "with {}",
      worst - memory.data(), format_memory(worst->total()), format_memory(worst->total() - usable),
      format_memory(usable), gpu.name, largest->name, format_memory((*worst).*largest->bytes));
}

}  // namespace windtunnel
