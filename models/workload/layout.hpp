// How the model and the batch are spread over ranks, and which rank has which coordinates.
// Rank order is Megatron-LM's default: tp fastest, then cp, dp, pp. Rank r runs on GPU r unless the
// layout says in which order its axes fill the nodes.
#pragma once

#include <algorithm>
#include <vector>

#include "models/base/choice.hpp"
#include "models/machine/rank_map.hpp"

namespace windtunnel {

struct TransformerSpec;

// What is spread over the dp (x cp) group (Rajbhandari et al. 2020, arXiv 1910.02054): zero1 the
// optimizer state, zero2 the gradients too, zero3 (FSDP's FULL_SHARD) also the weights, which are
// gathered layer by layer before use.
enum class Sharding { none, zero1, zero2, zero3 };
template <>
inline constexpr Choice<Sharding> kChoices<Sharding>[] = {{"none", Sharding::none},
                                                          {"zero1", Sharding::zero1},
                                                          {"zero2", Sharding::zero2},
                                                          {"zero3", Sharding::zero3}};
// How layers divide among the stages.
enum class StageBalance {
  stated,     // evenly, but for what Layout says
  automatic,  // so that all pipeline ranks take as long, as nearly as layers divide
};
template <>
inline constexpr Choice<StageBalance> kChoices<StageBalance>[] = {
    {"even", StageBalance::stated}, {"auto", StageBalance::automatic}};

// How the training state that Layout::sharding divides is shared out among ranks on unlike nodes.
enum class StateShares {
  even,
  automatic,  // shares that make the job fit; Layout::state_of_pool holds the result
  stated,     // Layout::state_of_pool
};
template <>
inline constexpr Choice<StateShares> kChoices<StateShares>[] = {{"even", StateShares::even},
                                                                {"auto", StateShares::automatic}};

// When ranks with equal shards, each of another copy of the parameters (HYBRID_SHARD), sum their
// gradients.
enum class CopiesSummed {
  step,         // once, behind the last micro-batch, what each copy has accumulated in its shards
  micro_batch,  // in every micro-batch that reduces gradients
};
template <>
inline constexpr Choice<CopiesSummed> kChoices<CopiesSummed>[] = {
    {"step", CopiesSummed::step}, {"micro-batch", CopiesSummed::micro_batch}};

// Megatron-LM's columns and rows, or blocks on a square mesh of ranks:
// models/cost/parallel/tensor_mesh.hpp.
enum class TensorForm { one_d, two_d };

// How a matrix is split over the tp ranks, in OneFlow's words: along its rows, or its columns.
enum class MatrixSplit { rows, columns };
template <>
inline constexpr Choice<MatrixSplit> kChoices<MatrixSplit>[] = {{"S(0)", MatrixSplit::rows},
                                                                {"S(1)", MatrixSplit::columns}};

// The weights of a layer's products, input x output, and the embedding, vocabulary x width. What
// lies between them follows: models/cost/parallel/tensor_parallel.hpp. Megatron-LM's are the
// default.
struct ProductSignatures {
  MatrixSplit embedding = MatrixSplit::rows;
  MatrixSplit qkv = MatrixSplit::columns;
  MatrixSplit projection = MatrixSplit::rows;
  MatrixSplit up = MatrixSplit::columns;
  MatrixSplit down = MatrixSplit::rows;
  bool operator==(const ProductSignatures&) const = default;
};

// How cp ranks share the attention over a sequence: models/workload/context_traffic.hpp.
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

// Which tokens the ranks of a tp group send to their experts.
enum class ExpertTokens {
  divided,  // each its part of the sequence: needs sequence parallelism
  all,      // all of them, so that each arrives tp times
  // Each a part, and tp gathers what arrives: DeepSpeed-TED's dropped duplicates (Singh et al.
  // 2023, arXiv 2303.06318).
  dropped,
};

// In layout.order. pp_pairs: the pipeline ranks that hold the same stages in schedules of two
// directions, d and pp - 1 - d, side by side, as BitPipe's process groups have them
// (github.com/wuhouming/BitPipe, megatron/core/parallel_state.py).
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
  // Expert parallelism: ranks among which the experts of a layer are divided, whole experts each
  // (expert tensor parallelism 1). Consecutive ranks of the tp x cp x dp ranks of a stage.
  int ep = 1;
  Sharding sharding = Sharding::none;
  // Ranks that share one copy under `sharding` (FSDP's HYBRID_SHARD); 0: all dp x cp.
  int shard_ranks = 0;
  // Ranks with the same experts that share one copy of them under `sharding`; 0: those that lie
  // among the ranks of a copy of the dense parameters.
  int expert_shard_ranks = 0;
  CopiesSummed copies_summed = CopiesSummed::step;
  StateShares state = StateShares::even;
  // training state of a rank by pool, in proportion; empty: even
  std::vector<double> state_of_pool = {};
  // [pipeline rank] what a rank holds of the state over the mean, of a job as the nodes of one pool
  // see it (job_of_kind); empty: it is seen by all.
  std::vector<double> state_factors = {};
  // ZeRO-3 only, of dense parameters. Fewer of these that share one copy of the weights, and of the
  // gradients until the last micro-batch, 0: as many (three levels: Xu et al. 2025, arXiv
  // 2501.04266); ranks that share a second copy of the weights, from which backward gathers, 0:
  // none (ZeRO++'s hpZ: Wang et al. 2023, arXiv 2306.10209).
  int weight_ranks = 0;
  int gradient_ranks = 0;
  int secondary_ranks = 0;
  // Bits of a weight on the network; 0: as it is kept. See policies/exchange/shard_transfers.hpp.
  int weight_bits = 0;
  int gradient_bits = 0;
  bool sequence_parallel = false;
  // Layers of each chunk, stage order (chunk c of rank r is stage c * pp + r). Empty: even split
  // after first_stage_layers/last_stage_layers are added.
  std::vector<int> stage_layers = {};
  int first_stage_layers = 0;  // -1 takes a layer off the first stage, as Llama 3 does
  int last_stage_layers = 0;
  StageBalance balance = StageBalance::stated;  // automatic: stage_layers has what was found
  TensorForm tensor = TensorForm::one_d;
  ProductSignatures signatures = {};  // of one_d
  // Side of the squares of the mesh that consecutive ranks fill, row by row of squares (Optimus'
  // rank_rearrange: 2, four GPUs of a node); 1: they fill rows of the mesh.
  int mesh_block = 1;
  ContextForm context = ContextForm::ring;
  int ulysses = 0;  // usp: neighbours of cp that divide the heads; rings join their equals
  ExpertTokens ep_tokens = ExpertTokens::divided;
  // Consecutive replicas form islands, which synchronise inside in every step. The first number is
  // how many islands exchange at the first level of Job::sync, the next how many of those groups at
  // the next level. Empty: all replicas are one island.
  std::vector<int> sync_groups = {};
  // The number of modules that each block of layers has. An island trains one module of each block,
  // and islands with the same module exchange it (DiPaCo: Douillard et al. 2024, arXiv 2403.10616).
  // There are two blocks, and the product of their modules is the number of islands. Empty: all
  // islands have the same parameters.
  std::vector<int> path_modules = {};
  // Axes from the fastest to the slowest, in which ranks fill the nodes; those left out come last.
  // Empty: tp, cp, dp, pp.
  std::vector<RankAxis> order = {};

  int islands() const;
  // Ranks of an island that share the state of a stage: dp x cp of one island.
  int island_replicas() const { return dp * cp / islands(); }
  int island_dp() const { return dp / islands(); }  // replicas of an island
  int ranks() const { return tp * cp * pp * dp; }
  int stages() const { return pp * vpp; }
  int ulysses_ranks() const {
    return context == ContextForm::ulysses ? cp
           : context == ContextForm::usp   ? std::max(1, ulysses)
                                           : 1;
  }
  // The ranks of cp that exchange by all-to-alls: heads for tokens, or a whole dimension (dsp).
  int exchange_ranks() const { return context == ContextForm::dsp ? cp : ulysses_ranks(); }
  int ring_ranks() const { return cp / exchange_ranks(); }
  int mesh_side() const;  // q of the q x q = tp ranks of a mesh; 1: there is none
  bool operator==(const Layout&) const = default;
};

// How many ranks of equal tp share one copy of the state of dense parameters; 1 where each has its
// own.
struct ShardRanks {
  int weights = 1;
  int gradients = 1;  // behind the last micro-batch they are spread as the optimizer state
  int optimizer = 1;
};
ShardRanks shard_ranks(const Layout& layout);
// Any of weight_ranks to gradient_bits is said, which only ZeRO-3 takes.
bool has_shard_keys(const Layout& layout);

struct RankCoordinates {
  int tp = 0;
  int cp = 0;
  int dp = 0;
  int pp = 0;
};

RankCoordinates coordinates_of(const Layout& layout, int rank);
int rank_of(const Layout& layout, const RankCoordinates& at);
// How many ranks the layout has along an axis.
int ranks_along(const Layout& layout, RankAxis axis);
// Layout::order with those axes behind that it leaves out.
std::vector<RankAxis> all_axes(const Layout& layout);
// Which GPUs the ranks run on, by Layout::order. An odd number of pipeline ranks has no pairs.
RankMap rank_map(const Layout& layout);
// The number of neighbours that wait for each other in every layer, because tp, cp and experts join
// them. In a layout that check_layout() accepts they belong to one pipeline rank.
int ranks_in_step(const Layout& layout);

// How many sequences the replicas on each pool of unlike nodes take.
enum class BatchShares {
  even,
  automatic,  // so that all end together, as nearly as sequences divide
  stated,     // Batch::share_of_pool
};
template <>
inline constexpr Choice<BatchShares> kChoices<BatchShares>[] = {{"even", BatchShares::even},
                                                                {"auto", BatchShares::automatic}};

struct Batch {
  int global = 1;    // sequences per iteration
  int micro = 1;     // sequences per micro-batch; where shares differ in them, their mean
  int sequence = 0;  // tokens
  BatchShares shares = BatchShares::even;
  std::vector<double> share_of_pool = {};  // of a replica, in proportion; those that a pipeline
                                           // crosses: the least of them
};

// Layers of every stage, size layout.stages(). Throws Error that names the numbers if the layers do
// not divide, a stage would be negative, or a list has the wrong length or sum.
std::vector<int> layers_per_stage(const TransformerSpec& model, const Layout& layout);

// Micro-batches per pipeline and iteration; of uneven shares their mean, rounded. Throws Error if
// global does not divide by micro * dp, or uneven shares by micro.
int microbatches(const Layout& layout, const Batch& batch);
// Share of a replica's step that one micro-batch is, on average over replicas that get unequal
// shares of the batch; at most 1.
double microbatch_share(const Layout& layout, const Batch& batch);

// Throws Error unless the form of cp goes with the model (check_context), tp divides heads,
// kv_heads, ffn and vocabulary (padded to a multiple of 128 * tp as Megatron does, so the
// vocabulary always fits), 2 cp (and with sequence parallelism tp * cp) the sequence, tp the GPUs
// of a node or these tp, ep the tp * cp * dp ranks of a stage and the experts, shard_ranks dp * cp,
// expert_shard_ranks the ranks with the same experts,
// what ZeRO-3 adds goes with it (check_shards), tp is the square of a mesh whose side divides
// heads, widths and micro-batch (check_mesh), ep > 1 beside tp > 1 comes with sequence parallelism
// (Megatron-LM refuses it otherwise) or says what becomes of tokens that several ranks hold, and
// the ranks equal the GPUs given.
void check_layout(const TransformerSpec& model, const Layout& layout, const Batch& batch, int gpus,
                  int gpus_per_node);

int padded_vocabulary(int vocabulary, int tp);  // to a multiple of 128 * tp, as Megatron does

}  // namespace windtunnel
