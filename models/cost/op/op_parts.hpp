// What the blocks of op.hpp are made of: one GPU's share of a micro-batch, and the kernels of a
// linear layer, of attention and of an MLP. For the op*.cpp files alone.
//
// What scaled precisions (fp8, mxfp8, nvfp4) quantise, when and in which kernel, as Transformer
// Engine does it: docs/physics/cost.md, "Scaled precisions".
#pragma once

#include <string_view>
#include <vector>

#include "models/cost/op/op.hpp"
#include "models/plan/job.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {

struct Shard {
  double e;            // bytes of an element
  double operand;      // bytes of an element that a linear layer's GEMM reads, scales included
  double quantise;     // HBM bytes per element to make it so; 0 without scaling
  double transpose;    // HBM bytes per weight that a backward pass transposes; 0: it is kept so
  bool casts_inside;   // norms and activations write quantised tensors themselves
  double steps_share;  // of what happens once per step: 1 / micro-batches, divided over slices
  double gradient;     // bytes of a weight gradient read and written (fp32 accumulation)
  double tokens;       // rows of the GEMMs: after cp, before sequence parallelism
  double norm_tokens;  // rows of norms and residuals: divided by tp under sequence parallelism
  double hidden;       // width between layers
  double q, k, v;      // widths on this GPU, divided by tp, of the tensors that attention reads
  double context;      // and of the one that it writes
  double gate;         // of what that is multiplied by; 0: by nothing
  double up, ffn;      // of the dense MLP, divided by tp
  double vocabulary;   // divided by tp
  double heads;        // batch x local heads, as attention has them (dsp: of a share of a sequence)
  double query_dim, value_dim;  // of one head; a key is as wide as a query
  double queries, keys;         // per sequence: those that attention sees here, and sees in all
  double attended;              // keys that a query sees under the causal mask, on average
  double reach;       // length by which a windowed kernel is as fast as a causal one; 0: no window
  double in_window;   // share of the keys in the computed tiles that the window shows
  double ring;        // steps of the ring: cp but for Ulysses, whose ranks divide the heads
  double ulysses;     // ranks that do
  double key_copies;  // of each key head, so that each of them has one
  // Experts: rows that this GPU sends (expert tensor parallelism 1: tp scatters the tokens), rows
  // that its experts get on the busiest rank, and how many experts lie here.
  double routed, expert_rows, local_experts;
  bool trains;             // gradients of its own weights are computed
  const Adapter* adapter;  // beside them; null: none
  bool fused_adapters;     // Software::fused_adapters
  double dequantise;       // HBM bytes per weight of a quantised base, read and written; 0: none
  bool gated;              // the up projection of an MLP is two matrices
  Fusion fusion;           // whose kernels run between products
  bool separate;           // products of one input are kernels of their own (plain PyTorch)
  bool sums_joined;        // what is summed runs into the kernel behind it: no collective between
  bool fused_norms;        // Software::fused_norms
  bool fp8_activation_inputs;  // Software::fp8_activation_inputs
  double rotary_bytes;  // HBM bytes of an element of queries and keys; 0: one kernel in place
};

// Whether products in fp8 with a scale for a whole tensor read either operand in rows or in
// columns, so that nothing is kept transposed: compute capability 10 (Transformer Engine,
// transformer_engine/pytorch/utils.py, is_non_tn_fp8_gemm_supported); before it rows alone.
bool fp8_in_any_layout(const GpuSpec& gpu);

Shard shard_of(const Job& job, const SequenceSlice& slice = {});
// The same of what a block works on (part_of()).
Shard shard_of(const Job& job, Block block, const SequenceSlice& slice);
// As attention's kernels see it. With frames a layer counts as half of one that attends within them
// and half of one that attends over them; with a window in parts of layers with and without one.
std::vector<Shard> attention_shards(const Job& job, const Shard& s);
// What attention to keys that an indexer chooses sees.
Shard chosen_shard(const Job& job, const Shard& s);
// What attention to projected keys sees (TransformerSpec::projected_keys).
Shard projected_shard(const Job& job, const Shard& s);
// `append` appends the kernels of one of these shards to `ops`; all of them count as one layer's.
template <class Append>
void append_by_shard(const Job& job, const Shard& s, std::vector<Op>& ops, const Append& append) {
  const std::vector<Shard> shards = attention_shards(job, s);
  const std::size_t first = ops.size();
  for (const Shard& shard : shards) append(shard);
  for (std::size_t i = first; i < ops.size(); ++i) {
    ops[i].launches /= static_cast<double>(shards.size());
    ops[i].starts /= static_cast<double>(shards.size());
  }
}

Op memory_op(std::string_view name, double bytes, OpRole role = OpRole::other);

// A linear layer of `in` inputs and `out` outputs over `rows` rows, or `batch` such layers, each
// with rows of its own, in one grouped GEMM.
struct Linear {
  std::string_view name;
  OpRole role = OpRole::other;
  double rows = 0, in = 0, out = 0;
  // Rows of the input and of the output's gradient on this GPU: they are quantised before tp
  // gathers them. 0: rows.
  double input_rows = 0, gradient_rows = 0;
  double batch = 1;
  // Written by a kernel that can quantise it on the way (Shard::casts_inside).
  bool input_cast = false, gradient_cast = false;
  LinearSite site = LinearSite::none;  // none: nothing is put beside it
  double products = 1;                 // that it is where Shard::separate
};
// Whose columns tp has divided, or its rows (`usual`), with its weights split as told instead.
Linear split_as(Linear linear, MatrixSplit usual, MatrixSplit split, double tp);
// The GEMM, what quantises or dequantises for it and its adapters, in the order in which they run.
void append_linear(const Linear& linear, Pass pass, const Shard& s, std::vector<Op>& ops);
// The same in 16 bit (or fp32) whatever the precision, its output of `output_bytes` per element.
Op plain_linear_op(const Linear& linear, Pass pass, double output_bytes, const Job& job,
                   const Shard& s);

// A contrastive loss in the place of the head's: the sequences' embeddings against those of all.
std::vector<Op> contrastive_ops(const Job& job, Pass pass, const Shard& s);

// From the first norm's output to the residual's input. Ops of the pass in its order.
void append_attention(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
// Its parts: products and rotation of queries, keys and values; what reads them; the last product.
void append_attention_inputs(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
void append_rotary(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
void append_attention_core(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
void append_projection(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
// Forward ops of unfused attention, the last of them the context product.
void append_unfused_forward(const TransformerSpec& model, const Shard& s, std::vector<Op>& ops);

// The same of a layer of Mamba.
void append_mamba(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
// How many times the operations of a scan's products layer_flops() counts for it: more than one
// where chunks are short against the state and so need fewer, else 1.
double scan_convention(const Job& job);

// The half of a decoder's layer that attends to the encoder's output, with its norm and its sum;
// and what attention's kernels see there.
void append_cross_half(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
Shard cross_shard(const Job& job, const Shard& s);

// From the second norm's output to the residual's input: a dense MLP, or router and experts.
void append_mlp(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
void append_experts(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
// Layers of diffusion transformers, whole, and what modulates any of them.
void append_two_streams(const Job& job, Block block, const Shard& s, Pass pass,
                        std::vector<Op>& ops);
void append_single_stream(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
void append_modulation(const Job& job, Block block, const Shard& s, Pass pass,
                       std::vector<Op>& ops);
// Of experts that every token visits; nothing where the model has none.
void append_shared(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
// The activation function between the matrices of a dense MLP (mlp_act), of experts (moe_act) or of
// shared ones (shared_experts).
void append_activation(const Job& job, RecomputeModule of, Pass pass, const Shard& s,
                       std::vector<Op>& ops);
// Forward products of latent attention from what is compressed.
void append_latent_up(const Job& job, const Shard& s, std::vector<Op>& ops);

}  // namespace windtunnel
