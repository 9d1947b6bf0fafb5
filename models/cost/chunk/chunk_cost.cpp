#include "models/cost/chunk/chunk_cost.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/chunk/activations.hpp"
#include "models/cost/chunk/block_coster.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/cost/op/op_tower.hpp"
#include "models/cost/parallel/expert_parallel.hpp"
#include "models/cost/parallel/orthogonal_update.hpp"
#include "models/workload/stage_parameters.hpp"
#include "models/workload/tower.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {
namespace {

void add_block(ChunkCost& chunk, const BlockCost& block, double times) {
  add_costs(chunk.forward, block.forward, times);
  add_costs(chunk.backward_input, block.backward_input, times);
  add_costs(chunk.backward_weight, block.backward_weight, times);
  add_costs(chunk.recompute, block.recompute, times);
  chunk.hardware_flops += times * block.hardware_flops;
  chunk.masked_flops += times * block.masked_flops;
}

// Costs at the ends of a chunk, in addition to its layers.
void add_ends(ChunkCost& chunk, const BlockCost& first, const BlockCost& last) {
  add_costs(chunk.forward, last.forward_end, 1);
  add_costs(chunk.backward_input, first.backward_end, 1);
}

// The job as a part of its model sees it (Training::part).
Job at_part(const Job& job, const PartTraining& part) {
  Job own = job;
  if (job.training == nullptr) return own;
  Training training = *job.training;
  training.part = part;
  own.training = std::make_shared<const Training>(std::move(training));
  return own;
}
Job at_part(const Job& job, int part) {
  return at_part(job, part_training(job.training.get(), part, job.model.layers));
}

// A kind of layer: dense or with experts, and how it is trained. If expert loads differ between
// layers, each form is a single layer.
struct LayerForm {
  Block block = Block::layer;
  int layer = kAny;  // index among layers with experts
  static constexpr int kAny = -1;
  PartTraining training = {};
  BlockCost cost = {};
  LayerActivations activations = {};
};

// The forms that layers of the model have, in its order.
std::vector<LayerForm> layer_forms(const Job& job) {
  const TransformerSpec& model = job.model;
  std::vector<LayerForm> forms;
  for (int layer = 0; layer < model.all_layers(); ++layer) {
    LayerForm form{.block = model.block_of(layer),
                   .training = part_training(job.training.get(), layer, model.layers)};
    if (has_experts(form.block) && model.draws_by_layer()) {
      form.layer = model.moe_layers_before(layer);
    }
    const bool known = std::ranges::any_of(forms, [&](const LayerForm& other) {
      return other.block == form.block && other.layer == form.layer &&
             other.training == form.training;
    });
    if (!known) forms.push_back(form);
  }
  return forms;
}

std::vector<LayerForm> layer_kinds(const Job& job, const ChunkUnit& unit) {
  const BlockCoster coster(job, unit);
  std::vector<LayerForm> kinds = layer_forms(job);
  for (LayerForm& kind : kinds) {
    if (!job.training && kind.layer == LayerForm::kAny) {
      kind.cost = coster.layer(kind.block);
      kind.activations = layer_activations(job, kind.block, unit.slice);
      continue;
    }
    Job own = at_part(job, kind.training);
    own.model.moe.layer = std::max(kind.layer, 0);
    kind.cost = BlockCoster(own, unit).layer(kind.block);
    kind.activations = layer_activations(own, kind.block, unit.slice);
  }
  return kinds;
}

void add_layers(ChunkCost& chunk, const LayerForm& kind, int count, bool recomputes_ahead) {
  if (count == 0) return;
  const LayerActivations& bytes = kind.activations;
  add_block(chunk, kind.cost, count);
  chunk.activation_bytes += count * bytes.kept;
  chunk.recomputed_bytes += count * bytes.recomputed;
  chunk.weight_activation_bytes += count * bytes.for_weights;
  chunk.transient_bytes =
      std::max(chunk.transient_bytes, bytes.transient - (recomputes_ahead ? bytes.recomputed : 0));
}

// Costs of a layer of one kind, with and without recomputation.
struct SharedKind {
  LayerForm recomputing;
  LayerForm keeping;  // equal to `recomputing` if nothing is recomputed
};

std::vector<SharedKind> shared_kinds(const Job& job, const ChunkUnit& unit) {
  const std::vector<LayerForm> recomputing = layer_kinds(job, unit);
  std::vector<LayerForm> keeping = recomputing;
  const bool some = !unit.recompute_shares.empty() || job.recompute.by_layer();
  if (some && job.recompute != Recompute::none) {
    Job without = job;
    without.recompute = Recompute::none;
    keeping = layer_kinds(without, unit);
  }
  std::vector<SharedKind> kinds;
  for (std::size_t i = 0; i < recomputing.size(); ++i)
    kinds.push_back({recomputing[i], keeping[i]});
  return kinds;
}

// Layers of a kind that recompute in a stage, and those that do not.
struct LayerCounts {
  int recomputing = 0;
  int keeping = 0;
};

// Numbers of layers in a stage and before it; the moe counts are layers with experts.
struct StageLayers {
  int all = 0;
  int moe = 0;
  int before = 0;
  int moe_before = 0;
};

std::vector<StageLayers> stage_layers(const Job& job) {
  const std::vector<int> layers = layers_per_stage(job.model, job.layout);
  std::vector<StageLayers> stages;
  int before = 0;
  int moe_before = 0;
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    const int end = before + layers[stage];
    const int moe = job.model.moe_layers_before(end) - moe_before;
    stages.push_back({layers[stage], moe, before, moe_before});
    before = end;
    moe_before += moe;
  }
  return stages;
}

// Messages that cross the cuts before and after a stage.
struct Crossings {
  bool receives = false;
  bool sends = false;
  bool receives_gradient = false;
  bool sends_gradient = false;
};

Crossings crossings(const Job& job, const std::vector<StageLayers>& layers, std::size_t stage) {
  const Training* training = job.training.get();
  const int first = first_trained_part(training, job.model.layers);
  const auto passes = [&](std::size_t to) {
    return !is_zeroth_order(training) && first < layers[to].before;
  };
  const bool receives = stage > 0;
  const bool sends = stage + 1 < layers.size();
  return {receives, sends, sends && passes(stage + 1), receives && passes(stage)};
}

// The products at the cuts; in the backward pass those of the gradients.
void add_cuts(const Job& job, const BoundaryRecipe& cut, const Crossings& at, ChunkCost& chunk) {
  const auto add = [&](const std::vector<Op>& ops, std::vector<CostPart>& parts) {
    for (const Op& op : ops) {
      const OpCost cost = op_cost(op, job);
      add_cost(parts, Category::compression, cost.origin, cost.seconds);
      chunk.hardware_flops += op.flops;
    }
  };
  if (at.receives) add(cut.behind, chunk.forward);
  if (at.sends_gradient) add(cut.before, chunk.backward_input);
  if (at.sends) add(cut.before, chunk.forward);
  if (at.receives_gradient) add(cut.behind, chunk.backward_input);
}

// Counts a stage's layers with this block and training; `covered`: only those that recompute.
int layers_like(const Job& job, const LayerForm& form, const StageLayers& of, bool covered) {
  int count = 0;
  for (int layer = of.before; layer < of.before + of.all; ++layer) {
    count += job.model.block_of(layer) == form.block &&
             (!covered || job.recompute.covers(layer - of.before)) &&
             part_training(job.training.get(), layer, job.model.layers) == form.training;
  }
  return count;
}

LayerCounts layer_counts(const Job& job, const SharedKind& kind, const StageLayers& of,
                         double share) {
  const int count = layers_like(job, kind.keeping, of, false);
  const int covered = layers_like(job, kind.keeping, of, true);
  const int recomputing = static_cast<int>(std::lround(share * covered));
  if (kind.keeping.layer == LayerForm::kAny) return {recomputing, count - recomputing};
  const int place = kind.keeping.layer - of.moe_before;  // recomputing layers come first
  if (place < 0 || place >= of.moe) return {};
  return place < recomputing ? LayerCounts{1, 0} : LayerCounts{0, 1};
}

double recompute_share_of(const ChunkUnit& unit, std::size_t stage) {
  return unit.recompute_shares.empty() ? 1 : unit.recompute_shares[stage];
}

// Multiplies what fused models hold, send and compute together; the seconds of their kernels are
// already totals.
void multiply_amounts(ChunkCost& chunk, int fused) {
  for (double ChunkCost::*amount :
       {&ChunkCost::parameters, &ChunkCost::expert_parameters, &ChunkCost::frozen_parameters,
        &ChunkCost::frozen_experts, &ChunkCost::activation_bytes, &ChunkCost::offloaded_bytes,
        &ChunkCost::weight_activation_bytes, &ChunkCost::transient_bytes,
        &ChunkCost::recomputed_bytes, &ChunkCost::boundary_bytes, &ChunkCost::hardware_flops,
        &ChunkCost::masked_flops}) {
    chunk.*amount *= fused;
  }
  for (double& bytes : chunk.offloaded_of_layers) bytes *= fused;
}

void set_parameters(const Job& job, const std::vector<StageLayers>& layers,
                    std::vector<ChunkCost>& chunks) {
  const TransformerSpec& model = job.model;
  if (job.training) {
    const std::vector<TrainedParameters> held =
        trained_parameters(model, job.layout, *job.training, is_mixed(job.precision) ? 2 : 4);
    for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
      chunks[stage].parameters = held[stage].trained;
      chunks[stage].expert_parameters = held[stage].trained_experts;
      chunks[stage].frozen_parameters = held[stage].frozen;
      chunks[stage].frozen_experts = held[stage].frozen_experts;
    }
    return;
  }
  const std::vector<double> parameters = stage_parameters(model, job.layout);
  const double local_experts = static_cast<double>(model.moe.experts) / job.layout.ep;
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    chunks[stage].parameters = parameters[stage];
    chunks[stage].expert_parameters = layers[stage].moe * local_experts * model.expert_parameters();
  }
}

// Returns the kind of this layer. Where layers have different expert loads, any kind with the same
// block and training will do.
std::size_t kind_of(const Job& job, const std::vector<SharedKind>& kinds, int layer) {
  const Block block = job.model.block_of(layer);
  const PartTraining part = part_training(job.training.get(), layer, job.model.layers);
  for (std::size_t kind = kinds.size(); kind-- > 0;) {
    const LayerForm& form = kinds[kind].keeping;
    if (form.block == block && form.training == part) return kind;
  }
  CHECK(false, "layer {} has no cost", layer);
  return 0;
}

// The form without recomputation.
const LayerForm& form_of(const Job& job, const std::vector<SharedKind>& kinds, int layer) {
  return kinds[kind_of(job, kinds, layer)].keeping;
}

// [layer of a stage] Bytes that it keeps until its backward pass and that nothing else reads. The
// first layers of each kind recompute.
std::vector<double> kept_by_layer(const Job& job, const std::vector<SharedKind>& kinds,
                                  const StageLayers& of, double recompute_share) {
  std::vector<double> kept;
  std::vector<int> met(kinds.size(), 0);
  for (int layer = of.before; layer < of.before + of.all; ++layer) {
    const std::size_t kind = kind_of(job, kinds, layer);
    const bool recomputes =
        met[kind]++ < layer_counts(job, kinds[kind], of, recompute_share).recomputing;
    const LayerForm& form = recomputes ? kinds[kind].recomputing : kinds[kind].keeping;
    kept.push_back(std::max(0.0, form.activations.kept - form.activations.read_by_slices));
  }
  return kept;
}

// Moves a share of the layers' activations off the GPU between forward and backward. Returns the
// bytes of the layers that still occupy it for a while: the one that a pass works on, and those
// being copied.
double offload_activations(const Offload& offload, std::vector<double> kept, ChunkCost& chunk) {
  const std::vector<double> shares = offloaded_shares(offload, static_cast<int>(kept.size()));
  for (std::size_t layer = 0; layer < kept.size(); ++layer) kept[layer] *= shares[layer];
  chunk.offloaded_of_layers = kept;
  chunk.offloaded_bytes = std::accumulate(kept.begin(), kept.end(), 0.0);
  chunk.activation_bytes -= chunk.offloaded_bytes;
  std::ranges::sort(kept, std::greater<>());
  kept.resize(std::min(kept.size(), std::size_t(std::max(2, offload.sections))));
  return std::accumulate(kept.begin(), kept.end(), 0.0);
}

// The job as its embedding or loss head sees it.
Job at_end(const Job& job, Block block) {
  return at_part(job, block == Block::embedding ? kEmbeddingPart : head_part(job.model.layers));
}

BlockCost end_cost(const Job& job, const ChunkUnit& unit, const BlockCoster& coster, Block block) {
  if (!job.training) return coster.end(block);
  const Job own = at_end(job, block);
  return BlockCoster(own, unit).end(block);
}

// Embeddings of a micro-batch are computed once for the loss of all, and again for its backward
// pass (GradCache: Gao et al. 2021, arXiv 2101.06983).
bool embeds_twice(const Job& job) {
  return is_contrastive(job.training.get()) && microbatches(job.layout, job.batch) > 1;
}

void add_second_pass(const Job& job, const std::vector<SharedKind>& kinds, ChunkCost& chunk) {
  for (const CostPart& part : chunk.forward) {
    const bool kernels = part.category == Category::forward;
    add_cost(chunk.recompute, kernels ? Category::recompute : part.category, part.origin,
             part.seconds);
  }
  for (int layer = 0; layer < job.model.layers; ++layer) {
    const BlockCost& cost = form_of(job, kinds, layer).cost;
    chunk.hardware_flops += cost.forward_flops;
    chunk.masked_flops += cost.forward_masked_flops;
  }
}

void add_stack(const Job& job, const std::vector<SharedKind>& kinds, const StageLayers& of,
               const ChunkUnit& unit, std::size_t stage, ChunkCost& chunk) {
  for (const SharedKind& kind : kinds) {
    const LayerCounts count = layer_counts(job, kind, of, recompute_share_of(unit, stage));
    add_layers(chunk, kind.recomputing, count.recomputing, unit.recomputes_ahead);
    add_layers(chunk, kind.keeping, count.keeping, unit.recomputes_ahead);
  }
}

// Whether a tower computes something. Its weights are held in any case.
bool runs_tower(const Job& job) {
  return job.model.tower != nullptr && job.model.tower->sources > 0;
}

// The layers of a tower, which the first stage runs before its own, and its two ends.
void add_tower(const Job& job, const ChunkUnit& unit, const BlockCoster& coster, ChunkCost& chunk) {
  const Job own = tower_job(job, kTowerPart);
  const std::vector<SharedKind> kinds = shared_kinds(own, unit);
  add_stack(own, kinds, {.all = own.model.layers}, unit, 0, chunk);
  const BlockCost& layer = kinds.front().keeping.cost;
  add_ends(chunk, layer, layer);
  for (const int part : {kTowerPart, kProjectorPart}) add_block(chunk, coster.tower_end(part), 1);
  const double bytes = tower_end_bytes(job);
  chunk.activation_bytes += bytes;
  chunk.weight_activation_bytes += bytes;
}

// Runs the pass twice: with the weights moved along a random direction, and in the opposite one.
void run_twice(ChunkCost& chunk) {
  for (CostPart& part : chunk.forward) part.seconds *= 2;
  chunk.hardware_flops *= 2;
  chunk.masked_flops *= 2;
  chunk.boundary_bytes *= 2;
}

}  // namespace

std::vector<ChunkCost> chunk_costs(const Job& job, const ChunkUnit& unit) {
  if (job.network) {
    std::vector<ChunkCost> chunks = network_chunk_costs(job, unit);
    if (is_zeroth_order(job.training.get())) run_twice(chunks.front());
    multiply_amounts(chunks.front(), unit.fused);
    return chunks;
  }
  const BlockCoster coster(job, unit);
  const std::vector<SharedKind> kinds = shared_kinds(job, unit);
  const std::vector<StageLayers> layers = stage_layers(job);
  const BoundaryRecipe cut = stage_boundary(job, unit.slice);
  std::vector<ChunkCost> chunks(layers.size());
  set_parameters(job, layers, chunks);
  std::vector<double> copied(chunks.size(), 0);
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    ChunkCost& chunk = chunks[stage];
    const int moe = layers[stage].moe;
    add_stack(job, kinds, layers[stage], unit, stage, chunk);
    if (offload_of(job).activations != MemoryTier::gpu) {
      const double share = recompute_share_of(unit, stage);
      copied[stage] = offload_activations(offload_of(job),
                                          kept_by_layer(job, kinds, layers[stage], share), chunk);
    }
    if (layers[stage].all > 0) {
      const int first = layers[stage].before;
      add_ends(chunk, form_of(job, kinds, first).cost,
               form_of(job, kinds, first + layers[stage].all - 1).cost);
    }
    chunk.boundary_bytes = cut.bytes / boundary_parts(job);
    const Crossings at = crossings(job, layers, stage);
    chunk.passes_gradient = at.sends_gradient;
    add_cuts(job, cut, at, chunk);
    add_block(chunk, coster.gathered(cut, at.receives, at.receives_gradient), 1);
    if (moe > 0) chunk.transient_bytes += hot_expert_bytes(job);
  }
  add_block(chunks.front(), end_cost(job, unit, coster, Block::embedding), 1);
  if (runs_tower(job)) add_tower(job, unit, coster, chunks.front());
  if (embeds_twice(job)) add_second_pass(job, kinds, chunks.front());
  const int modules = job.model.mtp_layers;
  add_block(chunks.back(), end_cost(job, unit, coster, Block::head), 1 + modules);
  if (modules > 0) add_block(chunks.back(), coster.joining(), modules);
  std::optional<Job> own_end;
  if (job.training) own_end = at_end(job, Block::head);
  const Job& end = own_end ? *own_end : job;
  const LayerActivations head = head_activations(end, unit.slice);
  ChunkCost& last = chunks.back();
  const double joined = modules * joining_bytes(job, unit.slice);
  last.activation_bytes += (1 + modules) * head.kept + joined;
  last.weight_activation_bytes += (1 + modules) * head.for_weights + joined;
  // While one multi-token prediction module runs backward, the other losses still occupy memory.
  const double of_loss = loss_bytes(end, unit.slice);
  // Between the two passes of accumulated embeddings no micro-batch has activations.
  const double under_way = embeds_twice(job) ? last.activation_bytes : 0;
  last.transient_bytes =
      std::max({0.0, last.transient_bytes - of_loss, head.transient - under_way});
  const double pending = pending_gradient_bytes(job, unit.slice);
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    chunks[stage].transient_bytes += copied[stage] + layers[stage].all * pending;
  }
  for (ChunkCost& chunk : chunks) {
    if (is_zeroth_order(job.training.get())) run_twice(chunk);
    multiply_amounts(chunk, unit.fused);
  }
  return chunks;
}

std::vector<ChunkRounds> chunk_rounds(const Job& job, const ChunkUnit& unit) {
  if (job.network) return std::vector<ChunkRounds>(1);
  const BlockCoster coster(job, unit);
  const std::vector<SharedKind> kinds = shared_kinds(job, unit);
  const std::vector<StageLayers> layers = stage_layers(job);
  std::vector<ChunkRounds> chunks(layers.size());
  const int passes = is_zeroth_order(job.training.get()) ? 2 : 1;
  const auto add = [&](ChunkRounds& chunk, int count, const PassRounds& rounds) {
    if (count > 0) chunk.push_back({passes * count, rounds});
  };
  const auto add_stack = [&](ChunkRounds& chunk, const Job& of, const std::vector<SharedKind>& all,
                             const StageLayers& stack, std::size_t stage) {
    for (const SharedKind& kind : all) {
      const LayerCounts count = layer_counts(of, kind, stack, recompute_share_of(unit, stage));
      add(chunk, count.recomputing, kind.recomputing.cost.rounds);
      add(chunk, count.keeping, kind.keeping.cost.rounds);
    }
  };
  if (runs_tower(job)) {
    const Job own = tower_job(job, kTowerPart);
    add_stack(chunks.front(), own, shared_kinds(own, unit), {.all = own.model.layers}, 0);
  }
  add(chunks.front(), 1, end_cost(job, unit, coster, Block::embedding).rounds);
  const BoundaryRecipe cut = stage_boundary(job, unit.slice);
  const int cut_in_parts = boundary_parts(job) > 1 ? 1 : 0;
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    // Forward, the input is gathered before all layers; backward, it is gathered after them.
    const Crossings at = crossings(job, layers, stage);
    add(chunks[stage], cut_in_parts, coster.gathered(cut, at.receives, false).rounds);
    add_stack(chunks[stage], job, kinds, layers[stage], stage);
    add(chunks[stage], cut_in_parts, coster.gathered(cut, false, at.receives_gradient).rounds);
  }
  const int modules = job.model.mtp_layers;
  if (modules > 0) add(chunks.back(), modules, coster.joining().rounds);
  add(chunks.back(), 1 + modules, end_cost(job, unit, coster, Block::head).rounds);
  return chunks;
}

namespace {

// Everything in 16 bit: gradient read, weight and moments read and written in one kernel.
bool updates_16_bit(const Job& job) {
  return job.software.pure_16_bit && is_mixed(job.precision);
}

// Returns the HBM bytes per parameter that a step of Adam reads and writes.
double step_bytes(const Job& job) {
  if (updates_16_bit(job)) return 2 + 2 * 2 + moments(Optimizer::adam) * 2 * 2;
  return job.calibration.optimizer_bytes.value;
}

// An instruction takes the time of an fp32 multiply-add. A measured kernel's law includes it, and
// with 32-bit numbers memory is the limit.
double arithmetic_s(const Op& step, double parameters, const Job& job) {
  const double flops = job.cluster.node.gpu.fp32_flops.value;
  const bool adam = job.software.optimizer == Optimizer::adam;
  if (!adam || !updates_16_bit(job) || flops <= 0) return 0;
  if (find_law(job.calibration.kernel_laws, step.kernel) != nullptr) return 0;
  return parameters * job.calibration.adam_instructions.value * 2 / flops;
}

double moment_bytes(const Job& job) {
  return updates_16_bit(job) ? 2 * 2 : job.calibration.moment_bytes.value;
}

// Each pass over the weights draws the same random direction again: one way, the opposite way,
// back, and for the update. With replicas, one_byte_recipe() counts the last pass, because replicas
// exchange the update's scale before it.
std::vector<CostPart> perturbation_cost(double parameters, const Job& job) {
  const bool alone = job.layout.dp * job.layout.cp == 1;
  const double weight_bytes = is_mixed(job.precision) ? 2 : 4;
  const Op passes{.name = "perturb", .bytes = (alone ? 4 : 3) * 2 * weight_bytes * parameters};
  const OpCost cost = op_cost(passes, job.cluster.node.gpu, Precision::fp32, job.calibration);
  return {{Category::optimizer, cost.origin, cost.seconds}};
}

}  // namespace

std::vector<CostPart> update_cost(double parameters, const Job& job) {
  const Calibration& calibration = job.calibration;
  if (parameters <= 0) return {{Category::optimizer, calibration.optimizer_bytes.origin, 0}};
  if (is_zeroth_order(job.training.get())) return perturbation_cost(parameters, job);
  const bool muon = job.software.optimizer == Optimizer::muon;
  const double missing =
      muon ? muon_share(job.model) : moments(Optimizer::adam) - moments(job.software.optimizer);
  Op step;
  step.name = "optimizer";
  step.kind = OpKind::memory;
  step.bytes = parameters * std::max(0.0, step_bytes(job) - missing * moment_bytes(job));
  // Momentum has no measured kernel.
  if (job.software.optimizer == Optimizer::adam) step.kernel = "adam";
  if (job.software.optimizer == Optimizer::sgd) step.kernel = "sgd";
  // A memory-bound op does not depend on the precision.
  const OpCost cost = op_cost(step, job.cluster.node.gpu, Precision::fp32, calibration);
  Origin origin = cost.origin;
  if (!updates_16_bit(job)) {
    origin = weakest(origin, calibration.optimizer_bytes.origin);
    if (missing > 0) origin = weakest(origin, calibration.moment_bytes.origin);
  }
  const double computed_s = arithmetic_s(step, parameters, job);
  if (computed_s > 0) origin = weakest(origin, calibration.adam_instructions.origin);
  double seconds = cost.seconds + computed_s;
  if (muon) {
    const OrthogonalCost orthogonal = orthogonal_cost(parameters, job);
    seconds += orthogonal.seconds;
    origin = weakest(origin, orthogonal.origin);
  }
  return {{Category::optimizer, origin, seconds}};
}

std::vector<CostPart> optimizer_cost(double parameters, const Job& job) {
  std::vector<CostPart> parts = update_cost(parameters, job);
  add_cost(parts, Category::host, Origin::assumed, job.software.host_step_s);
  return parts;
}

}  // namespace windtunnel
