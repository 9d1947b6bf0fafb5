// How the model and the batch are spread over ranks, and which rank has which coordinates.
// Rank order is Megatron-LM's default: tp fastest, then cp, dp, pp. Rank r runs on GPU r.
#pragma once

#include <vector>

namespace windtunnel {

struct TransformerSpec;

enum class Sharding { none, zero1 };  // of the optimizer state over the dp (x cp) group
enum class Precision { fp32, tf32, fp16, bf16, fp8 };
enum class Recompute { none, selective, full };

struct Layout {
  int tp = 1;
  int cp = 1;
  int pp = 1;
  int vpp = 1;  // model chunks per pipeline rank
  int dp = 1;
  Sharding sharding = Sharding::none;
  bool sequence_parallel = false;
  // Layers of each chunk, stage order (chunk c of rank r is stage c * pp + r). Empty: even split
  // after first_stage_layers/last_stage_layers are added.
  std::vector<int> stage_layers = {};
  int first_stage_layers = 0;  // -1 takes a layer off the first stage, as Llama 3 does
  int last_stage_layers = 0;

  int ranks() const { return tp * cp * pp * dp; }
  int stages() const { return pp * vpp; }
};

struct RankCoordinates {
  int tp = 0;
  int cp = 0;
  int dp = 0;
  int pp = 0;
};

RankCoordinates coordinates_of(const Layout& layout, int rank);
int rank_of(const Layout& layout, const RankCoordinates& at);

struct Batch {
  int global = 1;    // sequences per iteration
  int micro = 1;     // sequences per micro-batch
  int sequence = 0;  // tokens
};

// Layers of every stage, size layout.stages(). Throws Error that names the numbers if the layers do
// not divide, a stage would be negative, or a list has the wrong length or sum.
std::vector<int> layers_per_stage(const TransformerSpec& model, const Layout& layout);

// Micro-batches per pipeline and iteration. Throws Error if global does not divide by micro * dp.
int microbatches(const Layout& layout, const Batch& batch);

// Throws Error unless tp divides heads, kv_heads, ffn and vocabulary (padded to a multiple of
// 128 * tp as Megatron does, so the vocabulary always fits), 2 cp (and with sequence parallelism
// tp * cp) the sequence, tp the GPUs of a node (no tp group straddles nodes), and the ranks equal
// the GPUs given.
void check_layout(const TransformerSpec& model, const Layout& layout, const Batch& batch, int gpus,
                  int gpus_per_node);

// Of one element of a weight or activation. fp8 is a precision of the GEMMs: tensors stay in bf16
// (Transformer Engine's default).
double bytes_of(Precision precision);

int padded_vocabulary(int vocabulary, int tp);  // to a multiple of 128 * tp, as Megatron does

}  // namespace windtunnel
