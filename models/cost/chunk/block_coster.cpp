#include "models/cost/chunk/block_coster.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "models/cost/chunk/activations.hpp"
#include "models/cost/chunk/contrastive_exchange.hpp"
#include "models/cost/op/op.hpp"
#include "models/cost/op/op_parts.hpp"
#include "models/cost/op/op_tower.hpp"
#include "models/cost/parallel/expert_parallel.hpp"
#include "models/cost/parallel/tensor_mesh.hpp"
#include "models/cost/parallel/tensor_ops.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {
namespace {

bool is_fused_attention(const Op& op) {
  return op.kind == OpKind::attention_forward || op.kind == OpKind::attention_backward;
}

// FLOPs in the convention of model_flops(): the whole square of queries and keys, although fused
// attention computes only the half that a causal mask leaves; for a slice, the products up to its
// end.
double convention_flops(const Op& op, const Job& job, Block block, const SequenceSlice& slice) {
  const TransformerSpec& model = job.model;
  if (has_mamba(block) && op.kind == OpKind::attention_gemm) {
    return op.flops * scan_convention(job);
  }
  if (!model.masked()) return op.flops;
  if (is_of_two_stacks(block)) return op.causal ? 2 * op.flops : op.flops;
  if (is_fused_attention(op) || op.causal) return 2 * op.flops;
  const bool product =
      op.kind == OpKind::attention_gemm && model.attention == AttentionKernel::unfused;
  return product ? op.flops / slice.end : op.flops;
}

// Number of collectives in a layer and direction, to count the host's launches.
constexpr int kCollectives = 2;

double exposed_s(const std::vector<CostPart>& parts) {
  double seconds = 0;
  for (const CostPart& part : parts) {
    const bool compute = part.category == Category::forward || part.category == Category::backward;
    seconds += compute ? 0 : part.seconds;
  }
  return seconds;
}

// The share of a layer's forward communication that recomputation repeats.
double repeated_share(const Recompute& again, Block block, Category category) {
  using enum RecomputeModule;
  if (category == Category::forward) return 0;
  if (again.has(layer)) return 1;
  const bool experts = has_experts(block) && again.has(moe);
  if (category == Category::ep) return experts ? 1 : 0;
  if (category == Category::cp) return has_attention(block) && again.has(core_attn) ? 1 : 0;
  const bool half = experts || (has_mlp(block) && again.has(mlp));
  return category == Category::tp && half ? 1.0 / halves(block) : 0;
}

// Number of sums over tp after attention's output projections that recomputation repeats because a
// norm of the same layer reads them. The inputs of queries, keys and values, which are kept, are
// not gathered again.
int repeated_sums(const Recompute& again, Block block) {
  using enum RecomputeModule;
  const bool read = has_attention(block) && halves(block) > 1;
  if (!read || !again.has(attention) || again.has(layer)) return 0;
  return reads_source(block) ? 2 : 1;
}

void forget_backward(BlockCost& cost) {
  for (std::vector<CostPart>* parts :
       {&cost.backward_input, &cost.backward_weight, &cost.backward_end}) {
    parts->clear();
  }
  cost.rounds.backward_input.clear();
  cost.rounds.backward_weight.clear();
}

}  // namespace

BlockCoster::BlockCoster(const Job& job, const ChunkUnit& unit)
    : job_(job), setting_(job, unit.slice, unit.fused) {
  if (job.layout.mesh_side() > 1) {
    mesh_shapes_ = tensor_mesh_shapes(job.layout, job.cluster);
  } else {
    tp_shape_ = tensor_group_shape(job.layout, job.cluster);
  }
  cp_shapes_ = {context_ring_shape(job.layout, job.cluster),
                context_exchange_shape(job.layout, job.cluster)};
  if (job.model.moe_layers() > 0) ep_shape_ = expert_group_shape(job.layout, job.cluster);
  if (job.software.shared_cores && job.layout.tp > 1 && job.layout.pp > 1 &&
      job.cluster.nodes > 1) {
    contention_ += job.calibration.host_contention.value * job.layout.tp;
  }
}

BlockCost BlockCoster::layer(Block block) const {
  const PassOps ops = pass_ops(block);
  BlockCost cost = compute(block, ops);
  add_tensor(block, ops, cost);
  add_context_parallel(setting_, cp_shapes_, block, ops, cost);
  if (has_experts(block)) add_expert_parallel(setting_, ep_shape_, tp_shape_, ops, cost);
  std::vector<Op> recomputed;
  if (goes_back()) {
    recomputed = tensor_parallel_recomputed(job_, block, setting_.slice);
    add_recomputed(block, recomputed, cost);
  } else {
    forget_backward(cost);
  }
  add_shard_copies(layer_parameters_per_gpu(job_.model, job_.layout, block), true, cost);
  const bool sharded = job_.layout.sharding == Sharding::zero3;
  add_host(ops, recomputed, sharded ? contention_ * job_.software.host_shard_s : 0, cost);
  return cost;
}

BlockCost BlockCoster::end(Block block) const {
  const PassOps ops = pass_ops(block);
  BlockCost cost = compute(block, ops);
  add_tensor(block, ops, cost);
  if (block == Block::head && is_contrastive(job_.training.get())) {
    add_contrastive_exchange(setting_, cost);
  }
  if (!goes_back()) forget_backward(cost);
  // The vocabulary is in FSDP's root unit, which stays gathered until the backward pass.
  const bool tied = block == Block::head && job_.model.tied_embeddings && job_.layout.pp == 1;
  const double vocabulary = vocabulary_parameters(job_.model, job_.layout.tp);
  add_shard_copies({tied ? 0 : vocabulary, 0}, false, cost);
  add_host(ops, {}, 0, cost);
  return cost;
}

BlockCost BlockCoster::joining() const {
  const auto of = [&](Pass pass) { return joining_ops(job_, pass, setting_.slice); };
  const PassOps ops{of(Pass::forward), of(Pass::backward_input), of(Pass::backward_weight)};
  BlockCost cost = compute(Block::head, ops);
  if (job_.layout.tp > 1) {
    const double bytes = setting_.activation_bytes(job_.model.hidden);
    const auto round = [&](CollectiveKind kind) {
      const InnerCollective sent = setting_.collective(InnerGroup::tensor, kind, tp_shape_, bytes);
      return InnerRound{.category = Category::tp, .origin = sent.origin, .collectives = {sent}};
    };
    cost.of_forward().add(round(CollectiveKind::all_gather));
    cost.of_backward_input().add(round(CollectiveKind::reduce_scatter));
  }
  add_host(ops, {}, 0, cost);
  return cost;
}

BlockCost BlockCoster::tower_end(int part) const {
  const auto of = [&](Pass pass) { return tower_end_ops(job_, part, pass); };
  const PassOps ops{of(Pass::forward), of(Pass::backward_input), of(Pass::backward_weight)};
  BlockCost cost = compute(Block::head, ops);
  if (!part_training(job_.training.get(), part, job_.model.layers).backward) forget_backward(cost);
  add_host(ops, {}, 0, cost);
  return cost;
}

BlockCost BlockCoster::gathered(const BoundaryRecipe& cut, bool input, bool gradient) const {
  BlockCost cost;
  if (boundary_parts(job_) == 1) return cost;
  const InnerCollective gather =
      setting_.collective(InnerGroup::tensor, CollectiveKind::all_gather, tp_shape_, cut.bytes);
  const InnerRound round = {
      .category = Category::tp, .origin = gather.origin, .collectives = {gather}};
  if (input) cost.of_forward().add(round);
  if (gradient) cost.of_backward_input().add(round);
  return cost;
}

bool BlockCoster::goes_back() const {
  return part_training(job_.training.get()).backward;
}

PassOps BlockCoster::pass_ops(Block block) const {
  PassOps ops = tensor_parallel_ops(job_, block, setting_.slice);
  if (goes_back()) return ops;
  for (std::vector<Op>* pass : {&ops.backward_input, &ops.backward_weight}) {
    for (Op& op : *pass) op = not_run(op);
  }
  return ops;
}

void BlockCoster::add_tensor(Block block, const PassOps& ops, BlockCost& cost) const {
  if (job_.layout.mesh_side() > 1) return add_tensor_mesh(setting_, mesh_shapes_, block, ops, cost);
  BlockSetting own = setting_;
  own.rows *= job_.model.rows_share(block, job_.batch.sequence);
  add_tensor_parallel(own, tp_shape_, block, ops, cost);
}

void BlockCoster::add_recomputed(Block block, const std::vector<Op>& recomputed,
                                 BlockCost& cost) const {
  for (const Op& op : recomputed) {
    add_op(op, Category::recompute, cost.recompute);
    count_flops(block, op, cost);
  }
  const int sums = repeated_sums(job_.recompute, block);
  const double sums_share = sums * (job_.layout.sequence_parallel ? 0.5 : 1) / halves(block);
  for (const CostPart& part : cost.forward) {  // the collectives run again too
    const double share = repeated_share(job_.recompute, block, part.category) +
                         (part.category == Category::tp ? sums_share : 0);
    if (share > 0) add_cost(cost.recompute, part.category, part.origin, share * part.seconds);
  }
  if (job_.recompute.has(RecomputeModule::layer)) {  // followed by its own backward, not by a layer
    add_costs(cost.recompute, cost.forward_end, 1);
  }
  std::map<Category, int> count;
  for (const InnerRound& round : cost.rounds.forward) ++count[round.category];
  std::map<Category, int> met;
  for (InnerRound round : cost.rounds.forward) {
    // The halves with attention come first, and the first exchange of each is its sum; the later
    // exchanges belong to the half with the MLP.
    const int at = met[round.category]++;
    const int all = count[round.category];
    const int of_half = std::max(1, all / halves(block));
    const bool sum = round.category == Category::tp && at % of_half == 0 && at / of_half < sums;
    const double share = repeated_share(job_.recompute, block, round.category);
    if (!sum && all - at > share * all) continue;
    if (round.into_next_layer) round.beside_s = 0;
    cost.rounds.recompute.push_back(std::move(round));
  }
}

void BlockCoster::add_shard_copies(const LayerParameters& parameters, bool gathered_back,
                                   BlockCost& cost) const {
  const Layout& layout = job_.layout;
  const double count = parameters.dense + parameters.experts;
  if (layout.sharding != Sharding::zero3 || !job_.software.shard_copies || count <= 0) return;
  const double weight = is_mixed(job_.precision) ? 2 : 4;
  const double reduced = is_mixed(job_.precision) ? job_.software.reduce_bytes : 4;
  constexpr double kShard = 4;  // fp32
  const auto own = [&](int ranks) {
    return parameters.dense / ranks +
           parameters.experts / expert_shards(layout, ranks, Sharding::zero3);
  };
  const ShardRanks ranks = shard_ranks(layout);
  // The own shard is cast and placed by the collective; all shards are copied out.
  const Op gather{
      .name = "gather copies",
      .bytes = own(ranks.weights) * (kShard + weight + 2 * weight) + count * 2 * weight};
  add_op(gather, Category::forward, cost.forward);
  if (!goes_back()) return;
  if (gathered_back) add_op(gather, Category::backward, cost.backward_input);
  if (job_.training) return;  // few of its parameters are trained
  const Op reduction{.name = "reduction copies",
                     .bytes = count * (weight + reduced) + own(ranks.gradients) * 2 * reduced};
  add_op(reduction, Category::backward, cost.backward_weight);
}

void BlockCoster::add_host(const PassOps& ops, const std::vector<Op>& recomputed, double shard_s,
                           BlockCost& cost) const {
  if (job_.software.cuda_graphs) return;
  std::vector<Launched> forward = launched({&ops.forward});
  std::vector<Launched> input = launched({&recomputed, &ops.backward_input});
  std::vector<Launched> weight = launched({&ops.backward_weight});
  const double backward_spare_s = host_spare_s(input) + host_spare_s(weight);
  add_launched(cost.forward, cost.rounds.forward, host_spare_s(forward), forward);
  add_launched(cost.backward_input, cost.rounds.backward_input, backward_spare_s, input);
  for (std::vector<Launched>* pass : {&forward, &input, &weight}) pass->push_back({shard_s, 0});
  const double input_s = wait_s(input);
  const double weight_s = wait_s(weight);
  input.insert(input.end(), weight.begin(), weight.end());
  // The host runs ahead from one half of the backward pass into the other, so both together wait
  // less than each would separately; if a schedule separates them, each keeps its share.
  const double kept = input_s + weight_s > 0 ? wait_s(input) / (input_s + weight_s) : 0;
  const Origin origin = job_.calibration.host_launch_s.origin;
  add_cost(cost.forward, Category::host, origin, wait_s(forward));
  add_cost(cost.backward_input, Category::host, origin, kept * input_s);
  add_cost(cost.backward_weight, Category::host, origin, kept * weight_s);
}

double BlockCoster::wait_s(const std::vector<Launched>& launched) const {
  return host_wait_s(launched, job_.calibration.host_run_ahead.value);
}

double BlockCoster::host_s(double launches) const {
  return contention_ * host_launch_s(job_.calibration, job_.software, launches);
}

double BlockCoster::host_s(const Op& op) const {
  if (!op.further) return host_s(op.launches);
  return contention_ * further_launch_s(job_.calibration, job_.software, op.launches);
}

std::vector<Launched> BlockCoster::launched(
    std::initializer_list<const std::vector<Op>*> passes) const {
  std::vector<Launched> all;
  for (const std::vector<Op>* pass : passes) {
    for (const Op& op : *pass) {
      if (op.starts == 0) continue;  // not_run()
      const bool graphed = job_.software.dense_graphs && !op.routed;
      all.push_back({graphed ? 0 : host_s(op), setting_.cost(op).seconds});
    }
  }
  return all;
}

// Counts all collectives, because the host also launches those that kernels cover. Otherwise a
// faster GPU, which covers less, would add launches.
void BlockCoster::add_launched(const std::vector<CostPart>& parts,
                               const std::vector<InnerRound>& rounds, double spare_s,
                               std::vector<Launched>& launched) const {
  const double exposed = exposed_s(parts);
  if (exposed <= 0 && rounds.empty()) return;
  double beside_s = 0;
  for (const InnerRound& round : rounds) beside_s += round.beside_s;
  const Launched one{host_s(1), exposed / kCollectives, std::min(spare_s, beside_s) / kCollectives};
  launched.insert(launched.end(), kCollectives, one);
}

void BlockCoster::add_op(const Op& op, Category category, std::vector<CostPart>& parts) const {
  const OpCost cost = setting_.cost(op);
  add_cost(parts, category, cost.origin, cost.seconds);
}

void BlockCoster::count_flops(Block block, const Op& op, BlockCost& cost) const {
  const double flops = convention_flops(op, job_, block, setting_.slice);
  cost.hardware_flops += flops;
  if (is_fused_attention(op)) cost.masked_flops += flops - op.flops;
}

BlockCost BlockCoster::compute(Block block, const PassOps& ops) const {
  BlockCost cost;
  const auto add_pass = [&](const std::vector<Op>& pass, Category category,
                            std::vector<CostPart>& parts) {
    for (const Op& op : pass) {
      add_op(op, category, parts);
      count_flops(block, op, cost);
    }
  };
  add_pass(ops.forward, Category::forward, cost.forward);
  cost.forward_flops = cost.hardware_flops;
  cost.forward_masked_flops = cost.masked_flops;
  add_pass(ops.backward_input, Category::backward, cost.backward_input);
  add_pass(ops.backward_weight, Category::backward, cost.backward_weight);
  return cost;
}

}  // namespace windtunnel
