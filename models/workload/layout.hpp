// How model and batch are divided among ranks, and the coordinates of each rank. The rank order is
// Megatron-LM's default: tp fastest, then cp, dp, pp. Rank r runs on GPU r unless Layout::order
// says otherwise.
#pragma once

#include <algorithm>
#include <vector>

#include "models/base/choice.hpp"
#include "models/machine/rank_map.hpp"

namespace windtunnel {

struct TransformerSpec;

// What is sharded over the dp (x cp) group (Rajbhandari et al. 2020, arXiv 1910.02054): zero1 the
// optimizer state, zero2 also the gradients, zero3 (FSDP's FULL_SHARD) also the weights, which are
// gathered layer by layer before use.
enum class Sharding { none, zero1, zero2, zero3 };
template <>
inline constexpr Choice<Sharding> kChoices<Sharding>[] = {{"none", Sharding::none},
                                                          {"zero1", Sharding::zero1},
                                                          {"zero2", Sharding::zero2},
                                                          {"zero3", Sharding::zero3}};
// How layers are divided among stages.
enum class StageBalance {
  stated,     // evenly, apart from what Layout specifies
  automatic,  // so that all pipeline ranks take equally long, as far as whole layers allow
};
template <>
inline constexpr Choice<StageBalance> kChoices<StageBalance>[] = {
    {"even", StageBalance::stated}, {"auto", StageBalance::automatic}};

// How sharded training state is divided among ranks on nodes of different kinds.
enum class StateShares {
  even,
  automatic,  // shares that make the job fit in memory; the result is Layout::state_of_pool
  stated,     // Layout::state_of_pool
};
template <>
inline constexpr Choice<StateShares> kChoices<StateShares>[] = {{"even", StateShares::even},
                                                                {"auto", StateShares::automatic}};

// When ranks that hold the same shard of different copies (HYBRID_SHARD) sum their gradients.
enum class CopiesSummed {
  step,         // once, after the last micro-batch: the gradients accumulated in each copy's shards
  micro_batch,  // in every micro-batch whose gradients are reduced
};
template <>
inline constexpr Choice<CopiesSummed> kChoices<CopiesSummed>[] = {
    {"step", CopiesSummed::step}, {"micro-batch", CopiesSummed::micro_batch}};

// Megatron-LM's division by columns and rows, or blocks on a square mesh of ranks:
// models/cost/parallel/tensor_mesh.hpp.
enum class TensorForm { one_d, two_d };

// How a matrix is divided among tp ranks, in OneFlow's terms: by rows or by columns.
enum class MatrixSplit { rows, columns };
template <>
inline constexpr Choice<MatrixSplit> kChoices<MatrixSplit>[] = {{"S(0)", MatrixSplit::rows},
                                                                {"S(1)", MatrixSplit::columns}};

// Splits of a layer's weight matrices (input x output) and of the embedding (vocabulary x width).
// The communication between them follows: models/cost/parallel/tensor_parallel.hpp. The defaults
// are Megatron-LM's.
struct ProductSignatures {
  MatrixSplit embedding = MatrixSplit::rows;
  MatrixSplit qkv = MatrixSplit::columns;
  MatrixSplit projection = MatrixSplit::rows;
  MatrixSplit up = MatrixSplit::columns;
  MatrixSplit down = MatrixSplit::rows;
  bool operator==(const ProductSignatures&) const = default;
};

// How cp ranks divide the attention over a sequence: models/workload/context_traffic.hpp.
enum class ContextForm { ring, ulysses, usp, burst, token_ring, rsa, lasp, dsp };
template <>
inline constexpr Choice<ContextForm> kChoices<ContextForm>[] = {
    {"ring", ContextForm::ring},
    {"ulysses", ContextForm::ulysses},
    {"usp", ContextForm::usp},
    {"burst", ContextForm::burst},
    {"token-ring", ContextForm::token_ring},
    {"rsa", ContextForm::rsa},
    {"lasp", ContextForm::lasp},
    {"dsp", ContextForm::dsp}};

// Which tokens each rank of a tp group sends to experts.
enum class ExpertTokens {
  divided,  // its part of the sequence: needs sequence parallelism
  all,      // all of them, so that each token arrives tp times
  // its part; tp gathers what arrives: DeepSpeed-TED drops duplicates (Singh et al. 2023, arXiv
  // 2303.06318).
  dropped,
  // its part of the sequence; tp, which also slices each expert, gathers what arrives and scatters
  // the sums (Megatron-Core to 0.9, whose expert groups lie tp x cp ranks apart:
  // megatron/core/parallel_state.py, token_dispatcher.py)
  gathered,
};

// Axes in Layout::order. pp_pairs: the pairs of pipeline ranks d and pp - 1 - d, which hold the
// same stages in schedules with two directions, placed next to each other as in BitPipe's process
// groups (github.com/wuhouming/BitPipe, megatron/core/parallel_state.py).
enum class RankAxis { tp, cp, dp, pp, pp_pairs };
template <>
inline constexpr Choice<RankAxis> kChoices<RankAxis>[] = {{"tp", RankAxis::tp},
                                                          {"cp", RankAxis::cp},
                                                          {"dp", RankAxis::dp},
                                                          {"pp", RankAxis::pp},
                                                          {"pp-pairs", RankAxis::pp_pairs}};

struct Layout {
  int tp = 1;
  int cp = 1;
  int pp = 1;
  int vpp = 1;  // model chunks per pipeline rank
  int dp = 1;
  // Expert parallelism: number of ranks that divide a layer's experts, each expert whole on its
  // rank (expert tensor parallelism 1). They are expert_stride() apart among a stage's tp x cp x dp
  // ranks.
  int ep = 1;
  Sharding sharding = Sharding::none;
  // Ranks that share one sharded copy (FSDP's HYBRID_SHARD); 0: all dp x cp.
  int shard_ranks = 0;
  // Ranks with the same experts that share one sharded copy of them; 0: all those among the ranks
  // of one copy of the dense parameters.
  int expert_shard_ranks = 0;
  CopiesSummed copies_summed = CopiesSummed::step;
  StateShares state = StateShares::even;
  // [pool] training state of a rank there, relative to other pools; empty: even
  std::vector<double> state_of_pool = {};
  // [pipeline rank] state of a rank over the mean, in a job as the nodes of one pool see it
  // (job_of_kind); empty: the job is seen as a whole.
  std::vector<double> state_factors = {};
  // ZeRO-3, dense parameters only. weight_ranks share one copy of the weights, gradient_ranks one
  // of the gradients until the last micro-batch, both fewer than shard_ranks; 0: as shard_ranks
  // (three levels: Xu et al. 2025, arXiv 2501.04266). secondary_ranks share a second copy of the
  // weights, from which backward gathers; 0: none (ZeRO++'s hpZ: Wang et al. 2023, arXiv
  // 2306.10209).
  int weight_ranks = 0;
  int gradient_ranks = 0;
  int secondary_ranks = 0;
  // Bits per weight on the network; 0: as stored. See policies/exchange/shard_transfers.hpp.
  int weight_bits = 0;
  int gradient_bits = 0;
  bool sequence_parallel = false;
  // Layers of each chunk by stage (chunk c of rank r is stage c * pp + r). Empty: the layers that
  // remain without first_stage_layers and last_stage_layers are split evenly, and then the first
  // and last stage get these in addition.
  std::vector<int> stage_layers = {};
  int first_stage_layers = 0;  // more than the others; Llama 3 has -1, one fewer
  int last_stage_layers = 0;
  StageBalance balance = StageBalance::stated;  // automatic: the result is stage_layers
  TensorForm tensor = TensorForm::one_d;
  ProductSignatures signatures = {};  // for TensorForm::one_d
  // Consecutive ranks fill squares of this side on the mesh, row by row of squares (Optimus'
  // rank_rearrange: 2, four GPUs of a node); 1: they fill rows of the mesh.
  int mesh_block = 1;
  ContextForm context = ContextForm::ring;
  // usp: number of neighbouring cp ranks that divide heads; rings connect ranks with the same heads
  int ulysses = 0;
  ExpertTokens ep_tokens = ExpertTokens::divided;
  // Consecutive replicas form islands, whose members synchronise in every step. The first number is
  // how many islands exchange at the first level of Job::sync, the next how many of these groups
  // exchange at the next level. Empty: all replicas are one island.
  std::vector<int> sync_groups = {};
  // Number of modules of each block of layers. An island trains one module of each block, and
  // islands with the same module exchange it (DiPaCo: Douillard et al. 2024, arXiv 2403.10616).
  // There are two blocks, and the product of their numbers is the number of islands. Empty: all
  // islands have the same parameters.
  std::vector<int> path_modules = {};
  // Axes in which ranks fill nodes, fastest first; omitted axes come last. Empty: tp, cp, dp, pp.
  std::vector<RankAxis> order = {};

  int islands() const;
  // Ranks that share a stage's state within an island: its dp x cp.
  int island_replicas() const { return dp * cp / islands(); }
  int island_dp() const { return dp / islands(); }  // replicas per island
  int ranks() const { return tp * cp * pp * dp; }
  int stages() const { return pp * vpp; }
  int ulysses_ranks() const {
    return context == ContextForm::ulysses ? cp
           : context == ContextForm::usp   ? std::max(1, ulysses)
                                           : 1;
  }
  // Ranks of cp that exchange by all-to-all: heads for tokens, or a whole dimension (dsp).
  int exchange_ranks() const { return context == ContextForm::dsp ? cp : ulysses_ranks(); }
  int ring_ranks() const { return cp / exchange_ranks(); }
  // The ranks of an expert-parallel group are this far apart.
  int expert_stride() const { return ep_tokens == ExpertTokens::gathered ? tp * cp : 1; }
  int mesh_side() const;  // q of the q x q = tp mesh; 1: no mesh
  bool operator==(const Layout&) const = default;
};

// Number of ranks with the same tp coordinate that share one copy of dense parameters' state; 1:
// each has its own copy.
struct ShardRanks {
  int weights = 1;
  int gradients = 1;  // until the last micro-batch; afterwards as the optimizer state
  int optimizer = 1;
};
ShardRanks shard_ranks(const Layout& layout);
// Whether any member from weight_ranks to gradient_bits is set; these need ZeRO-3.
bool has_shard_keys(const Layout& layout);

struct RankCoordinates {
  int tp = 0;
  int cp = 0;
  int dp = 0;
  int pp = 0;
};

RankCoordinates coordinates_of(const Layout& layout, int rank);
int rank_of(const Layout& layout, const RankCoordinates& at);
int ranks_along(const Layout& layout, RankAxis axis);
// Layout::order, completed by the axes that it omits.
std::vector<RankAxis> all_axes(const Layout& layout);
// The GPU of each rank, by Layout::order. An odd number of pipeline ranks has no pairs.
RankMap rank_map(const Layout& layout);
// Number of neighbouring ranks that synchronise in every layer through tp, cp and experts. In a
// layout that check_layout() accepts they are on one pipeline rank.
int ranks_in_step(const Layout& layout);

// How many sequences the replicas on each pool of different nodes get.
enum class BatchShares {
  even,
  automatic,  // so that all finish together, as far as whole sequences allow
  stated,     // Batch::share_of_pool
};
template <>
inline constexpr Choice<BatchShares> kChoices<BatchShares>[] = {{"even", BatchShares::even},
                                                                {"auto", BatchShares::automatic}};

struct Batch {
  int global = 1;    // sequences per iteration
  int micro = 1;     // sequences per micro-batch; the mean if pools differ in it
  int sequence = 0;  // tokens
  BatchShares shares = BatchShares::even;
  // [pool] share of a replica there, relative to others; a pipeline over several gets the smallest
  std::vector<double> share_of_pool = {};
};

// Layers of every stage, size layout.stages(). Throws Error with the numbers if layers do not
// divide evenly, a stage would be negative, or a list has the wrong length or sum.
std::vector<int> layers_per_stage(const TransformerSpec& model, const Layout& layout);

// Micro-batches per pipeline and iteration; for uneven shares the rounded mean. Throws Error if
// global is not divisible by micro * dp, or uneven shares by micro.
int microbatches(const Layout& layout, const Batch& batch);
// One micro-batch as a share of a replica's step, averaged over replicas with uneven shares of the
// batch; at most 1.
double microbatch_share(const Layout& layout, const Batch& batch);

// Throws Error unless all of these hold. The form of cp suits the model (check_context). tp divides
// heads, kv_heads, ffn and vocabulary (padded to a multiple of 128 * tp as in Megatron, so it
// always fits). 2 cp (with sequence parallelism also tp * cp) divides the sequence. tp divides a
// node's GPUs or is a multiple. ep divides the tp * cp * dp ranks of a stage, and the experts.
// shard_ranks divides dp * cp, and expert_shard_ranks the ranks with the same experts. The ZeRO-3
// options are consistent (check_shards). A mesh is square, with a side that divides heads, widths
// and micro-batch (check_mesh). ep > 1 with tp > 1 has sequence parallelism (Megatron-LM requires
// it) or says what happens to tokens that several ranks hold. The number of ranks is `gpus`.
void check_layout(const TransformerSpec& model, const Layout& layout, const Batch& batch, int gpus,
                  int gpus_per_node);

int padded_vocabulary(int vocabulary, int tp);  // to a multiple of 128 * tp, as Megatron does

}  // namespace windtunnel
