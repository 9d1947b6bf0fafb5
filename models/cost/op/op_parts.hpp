// Building blocks of op.hpp: one GPU's share of a micro-batch, and the kernels of a linear layer,
// of attention and of an MLP. Internal to the op*.cpp files.
//
// What scaled precisions (fp8, mxfp8, nvfp4) quantise, when and in which kernel, as in Transformer
// Engine: docs/physics/cost.md, "Scaled precisions".
#pragma once

#include <string_view>
#include <vector>

#include "models/cost/op/op.hpp"
#include "models/plan/job.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {

struct Shard {
  double e;            // bytes of an element
  double operand;      // bytes per element that a linear layer's GEMM reads, including scales
  double quantise;     // HBM bytes per element to quantise it; 0 without scaling
  double transpose;    // HBM bytes per weight that a backward pass transposes; 0: kept transposed
  bool casts_inside;   // norms and activations write quantised tensors directly
  double steps_share;  // weight of once-per-step work: 1 / micro-batches, divided over slices
  double gradient;     // bytes of a weight gradient read and written (fp32 accumulation)
  double tokens;       // rows of the GEMMs: after cp, before sequence parallelism
  double norm_tokens;  // rows of norms and residuals: divided by tp under sequence parallelism
  double hidden;       // width between layers
  double q, k, v;      // widths on this GPU (divided by tp) of attention's inputs
  double context;      // width of attention's output
  double gate;         // width of its gate; 0: none
  double up, ffn;      // of the dense MLP, divided by tp
  double vocabulary;   // divided by tp
  double heads;        // batch x local heads, as in attention (dsp: for a share of a sequence)
  double query_dim, value_dim;  // per head; keys are as wide as queries
  double queries, keys;         // per sequence: queries on this GPU, and keys that they attend to
  double attended;              // mean number of keys that a query sees under the causal mask
  // sequence length at which a causal kernel is as fast as this windowed one; 0: no window
  double reach;
  double in_window;   // share of the keys in computed tiles that are inside the window
  double ring;        // steps of the ring: cp divided by Ulysses ranks, which divide the heads
  double ulysses;     // number of Ulysses ranks
  double key_copies;  // copies of each key head, so that each Ulysses rank has one
  // Experts: rows that this GPU sends (expert tensor parallelism 1: tp scatters the tokens), rows
  // that the experts of the busiest rank receive, and number of experts on this GPU.
  double routed, expert_rows, local_experts;
  bool trains;             // its own weights have gradients
  const Adapter* adapter;  // null: none
  bool fused_adapters;     // Software::fused_adapters
  // HBM bytes per weight of a quantised base, read and written; 0: not quantised
  double dequantise;
  bool gated;        // the up projection of an MLP is two matrices
  Fusion fusion;     // which kernels run between products
  bool separate;     // products with the same input are separate kernels (plain PyTorch)
  bool sums_joined;  // sums are fused into the next kernel, since no collective is between
  bool fused_norms;  // Software::fused_norms
  bool fp8_activation_inputs;  // Software::fp8_activation_inputs
  double rotary_bytes;         // HBM bytes per element of queries and keys; 0: one kernel in place
};

// Whether fp8 products with one scale per tensor can read either operand by rows or by columns, so
// that no transposed copy is needed: compute capability 10 (Transformer Engine,
// transformer_engine/pytorch/utils.py, is_non_tn_fp8_gemm_supported); earlier GPUs only by rows.
bool fp8_in_any_layout(const GpuSpec& gpu);

Shard shard_of(const Job& job, const SequenceSlice& slice = {});
// The shard for the rows that a block works on (part_of()).
Shard shard_of(const Job& job, Block block, const SequenceSlice& slice);
// Shards for attention's kernels. With frames, half a layer attends within frames and half across
// them; with a window, a fraction of a layer has it and the rest has none.
std::vector<Shard> attention_shards(const Job& job, const Shard& s);
// The shard for attention to keys that an indexer chooses.
Shard chosen_shard(const Job& job, const Shard& s);
// Returns the shard for attention to projected keys (TransformerSpec::projected_keys).
Shard projected_shard(const Job& job, const Shard& s);
// `append` appends the kernels of one of these shards to `ops`; together they count as one layer.
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

// A linear layer with `in` inputs and `out` outputs over `rows` rows, or `batch` such layers with
// separate rows in one grouped GEMM.
struct Linear {
  std::string_view name;
  OpRole role = OpRole::other;
  double rows = 0, in = 0, out = 0;
  // Rows of the input and of the output gradient on this GPU, where they are quantised before tp
  // gathers them. 0: `rows`.
  double input_rows = 0, gradient_rows = 0;
  double batch = 1;
  // The tensor is written by a kernel that can also quantise it (Shard::casts_inside).
  bool input_cast = false, gradient_cast = false;
  LinearSite site = LinearSite::none;  // none: it has no adapters
  double products = 1;                 // number of separate products with Shard::separate
};
// Changes the split of a layer's weights among tp ranks from the default `usual` to `split`.
Linear split_as(Linear linear, MatrixSplit usual, MatrixSplit split, double tp);
// Appends the GEMM, its quantisation or dequantisation, and its adapters, in order.
void append_linear(const Linear& linear, Pass pass, const Shard& s, std::vector<Op>& ops);
// The product runs in 16 bit (or fp32) whatever the job's precision, and writes `output_bytes` per
// output element.
Op plain_linear_op(const Linear& linear, Pass pass, double output_bytes, const Job& job,
                   const Shard& s);

// A contrastive loss replaces the head's loss and compares each sequence's embedding with all
// others.
std::vector<Op> contrastive_ops(const Job& job, Pass pass, const Shard& s);

// Adds what runs between the first norm's output and the residual's input, in the order of the
// pass.
void append_attention(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
// These add parts of attention: products and rotation of queries, keys and values; the attention
// kernels; the output projection.
void append_attention_inputs(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
void append_rotary(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
void append_attention_core(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
void append_projection(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
// Forward ops of unfused attention, the last of them the context product.
void append_unfused_forward(const TransformerSpec& model, const Shard& s, std::vector<Op>& ops);

// Adds what a Mamba layer runs instead of attention.
void append_mamba(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
// Factor from the operations of a scan's products to those that layer_flops() counts: above 1 if
// chunks are short compared with the state and need fewer operations, otherwise 1.
double scan_convention(const Job& job);

// The half of a decoder's layer that attends to the encoder's output, with its norm and its sum;
// and the shard that the attention kernels of this half work on.
void append_cross_half(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
Shard cross_shard(const Job& job, const Shard& s);

// These add what runs between the second norm's output and the residual's input: a dense MLP, or
// router and experts.
void append_mlp(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
void append_experts(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
// Complete layers of diffusion transformers, and modulation for any layer.
void append_two_streams(const Job& job, Block block, const Shard& s, Pass pass,
                        std::vector<Op>& ops);
void append_single_stream(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
void append_modulation(const Job& job, Block block, const Shard& s, Pass pass,
                       std::vector<Op>& ops);
// Experts that every token uses; nothing if the model has none.
void append_shared(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops);
// The activation function between the matrices of a dense MLP (mlp_act), of experts (moe_act) or of
// shared experts (shared_experts).
void append_activation(const Job& job, RecomputeModule of, Pass pass, const Shard& s,
                       std::vector<Op>& ops);
// Adds the forward products of latent attention that decompress queries, keys and values.
void append_latent_up(const Job& job, const Shard& s, std::vector<Op>& ops);

}  // namespace windtunnel
