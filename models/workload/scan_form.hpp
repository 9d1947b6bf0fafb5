// Mixers that carry a state from token to token in the place of attention: their matrices, and the
// kernels of their training, a row of a table each (scan_form.cpp). All work on chunks of a
// sequence: of each head `width` numbers and a state of `state` for each of them, with keys and
// queries (B and C of Mamba) that the heads of a group share.
#pragma once

#include <span>
#include <string_view>

namespace windtunnel {

enum class ScanKind {
  mamba2,       // Dao and Gu 2024, arXiv 2405.21060
  gated_delta,  // Yang et al. 2024, arXiv 2412.06464: Qwen3-Next, Qwen3.5
  kimi_delta,   // with a decay for each number of a key: Kimi Linear, arXiv 2510.26692
  lightning,    // Qin et al. 2024, arXiv 2401.04658: MiniMax-01, arXiv 2501.08313
};

// What a side of a product within a chunk of Q tokens is.
enum class ScanSide {
  none,            // no product: the kernel is bound by memory
  chunk,           // Q
  half_chunk,      // half of the Q, which a causal mask leaves
  width,           // P, of a head
  state,           // N, of each of these
  state_and_half,  // N + Q / 2: what earlier chunks give to a token, and its own
};

// A kernel, or one of the products of a kernel: for each chunk and head (or group) `times` products
// of these sides. Its reads and writes of a sequence's tensors are counted in numbers of the
// precision or of fp32.
struct ScanKernel {
  std::string_view name;
  ScanSide m = ScanSide::none, n = ScanSide::none, k = ScanSide::none;
  bool of_groups = false;
  double times = 1;
  double rows = 0;       // heads x P of each token: input, output, gate
  double shared = 0;     // groups x N: keys, or queries
  double keys = 0;       // the same for every head: heads x N
  double convolved = 0;  // rows, keys and queries together
  double heads = 0;      // a number a head and token
  double states = 0;     // of every chunk: heads x P x N
  double triangles = 0;  // of every chunk and head: Q x Q
  double shared32 = 0;
  double keys32 = 0;
  double heads32 = 0;
  double states32 = 0;
  double triangles32 = 0;
  double scores32 = 0;  // of every chunk and group: Q x Q
};

struct ScanForm {
  ScanKind kind = ScanKind::mamba2;
  std::string_view title;
  // The first matrix has these columns beside those of input, keys and queries.
  bool gate = true;      // as many as the input's
  int head_columns = 0;  // a head: step sizes, decays, strengths of writing
  int low_rank = 0;      // outputs as wide as the input by two matrices, through a head's width
  bool convolution = true;
  bool convolution_bias = false;
  int head_vectors = 0;       // numbers a head
  bool row_vector = false;    // and one for each number of the input
  bool norm_by_head = false;  // the gated norm's weights are the same for all heads
  int chunk = 0;              // tokens, of these kernels; 0: MambaMixer::chunk
  // By the convention, forward operations of a token and head for each number of the state, and
  // for each pair of a token and one before it in the chunk those of their product and of its use.
  double counted = 0;
  bool counts_chunk = false;
  // Kept for the backward pass beside the first matrix's output, the mixer's and the norm's.
  double kept_convolved = 0;
  double kept_keys = 0;
  double kept_triangles = 0;
  std::span<const ScanKernel> forward;
  std::span<const ScanKernel> backward;
};

const ScanForm& scan_form(ScanKind kind);

// A mixer by its dimensions: of every token a matrix makes a gate, an input of `heads` x
// `head_width`, keys and queries of `groups` x `state` and what the form has a head; a convolution
// over the sequence, the scan in chunks, a gated norm, and a matrix back.
struct MambaMixer {
  ScanKind kind = ScanKind::mamba2;
  int state = 0;  // width of the state for each number of a head; 0: the model has no such layers
  int head_width = 0;  // of the input
  int groups = 0;      // of heads that share keys and queries
  int heads = 0;
  int chunk = 128;  // tokens; Megatron-LM's

  const ScanForm& form() const { return scan_form(kind); }
  int inner() const { return heads * head_width; }
  int shared() const { return groups * state; }  // width of the keys, and of the queries
  int convolved() const { return inner() + 2 * shared(); }
  int rank() const { return form().low_rank * head_width; }
  int projected() const {
    return (form().gate ? inner() : 0) + convolved() + form().head_columns * heads + rank();
  }
  int chunk_tokens() const { return form().chunk > 0 ? form().chunk : chunk; }
  // Counts the parameters of the matrices, with those of low rank.
  double matrices(int hidden) const;
  double head_parameters() const;  // vectors of heads, and the norm's
  double convolution_parameters() const;
  // Counts forward operations of a token by the convention, in chunks of such a sequence.
  double counted_flops(int sequence) const;
};
inline constexpr int kMambaConvolution = 4;  // tokens that it sees

}  // namespace windtunnel
