// Mixers that carry a state from token to token instead of attention: their matrices and training
// kernels, a table row each (scan_form.cpp). All process a sequence in chunks. Each head has
// `width` numbers with a state of size `state` each; heads of a group share keys and queries (B and
// C of Mamba).
#pragma once

#include <span>
#include <string_view>

namespace windtunnel {

enum class ScanKind {
  mamba2,       // Dao and Gu 2024, arXiv 2405.21060
  gated_delta,  // Yang et al. 2024, arXiv 2412.06464: Qwen3-Next, Qwen3.5
  kimi_delta,   // with a decay per key element: Kimi Linear, arXiv 2510.26692
  lightning,    // Qin et al. 2024, arXiv 2401.04658: MiniMax-01, arXiv 2501.08313
};

// A side of a product within a chunk of Q tokens has one of these lengths.
enum class ScanSide {
  none,            // no product: the kernel is memory-bound
  chunk,           // Q
  half_chunk,      // Q / 2: what a causal mask leaves
  width,           // P: width of a head
  state,           // N: state per element of a head
  state_and_half,  // N + Q / 2: a token's contributions from earlier chunks and from its own
};

// A kernel, or one of several products of a kernel: per chunk and head (or group), `times` products
// with these sides. Reads and writes count elements of the job's precision, or fp32 if so named.
struct ScanKernel {
  std::string_view name;
  ScanSide m = ScanSide::none, n = ScanSide::none, k = ScanSide::none;
  bool of_groups = false;
  double times = 1;
  double rows = 0;       // heads x P per token: input, output, gate
  double shared = 0;     // groups x N: keys, or queries
  double keys = 0;       // keys or queries repeated for every head: heads x N
  double convolved = 0;  // rows, keys and queries together
  double heads = 0;      // one number per head and token
  double states = 0;     // per chunk: heads x P x N
  double triangles = 0;  // per chunk and head: Q x Q
  double shared32 = 0;
  double keys32 = 0;
  double heads32 = 0;
  double states32 = 0;
  double triangles32 = 0;
  double scores32 = 0;  // per chunk and group: Q x Q
};

struct ScanForm {
  ScanKind kind = ScanKind::mamba2;
  std::string_view title;
  // The first matrix has columns for input, keys and queries, and these additional ones.
  bool gate = true;      // columns for a gate as wide as the input
  int head_columns = 0;  // per head: step sizes, decays, write strengths
  // outputs as wide as the input, made by two matrices through the width of a head
  int low_rank = 0;
  bool convolution = true;
  bool convolution_bias = false;
  int head_vectors = 0;       // vector elements per head
  bool row_vector = false;    // one more vector, as wide as the input
  bool norm_by_head = false;  // the gated norm's weights are shared by all heads
  int chunk = 0;              // tokens per chunk of these kernels; 0: MambaMixer::chunk
  // Forward operations by convention: `counted` per token, head and element of the state; and, if
  // counts_chunk, the product of each pair of a token and an earlier one in the chunk, and its use.
  double counted = 0;
  bool counts_chunk = false;
  // Kept for the backward pass in addition to the outputs of the first matrix, the mixer and the
  // norm.
  double kept_convolved = 0;
  double kept_keys = 0;
  double kept_triangles = 0;
  std::span<const ScanKernel> forward;
  std::span<const ScanKernel> backward;
};

const ScanForm& scan_form(ScanKind kind);

// A mixer by its dimensions. A matrix computes from every token a gate, an input of `heads` x
// `head_width`, keys and queries of `groups` x `state`, and the form's numbers per head. Then
// follow a convolution over the sequence, the scan in chunks, a gated norm, and an output matrix.
struct MambaMixer {
  ScanKind kind = ScanKind::mamba2;
  int state = 0;       // size of the state per element of a head; 0: the model has no such layers
  int head_width = 0;  // of the input
  int groups = 0;      // number of groups of heads that share keys and queries
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
  // Counts the parameters of the matrices, including low-rank ones.
  double matrices(int hidden) const;
  double head_parameters() const;  // vectors per head, and the norm's
  double convolution_parameters() const;
  // Counts forward operations per token by convention, for chunks of a sequence this long.
  double counted_flops(int sequence) const;
};
inline constexpr int kMambaConvolution = 4;  // length of the convolution in tokens

}  // namespace windtunnel
