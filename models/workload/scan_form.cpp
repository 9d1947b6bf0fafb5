#include "models/workload/scan_form.hpp"

#include <algorithm>
#include <array>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr auto kQ = ScanSide::chunk;
constexpr auto kHalf = ScanSide::half_chunk;
constexpr auto kP = ScanSide::width;
constexpr auto kN = ScanSide::state;
constexpr auto kStateAndHalf = ScanSide::state_and_half;

// Mamba-2 as trained by Megatron-LM with the Triton kernels of mamba_ssm (arXiv 2405.21060, section
// 6). Chunks pass on a state in fp32; within a chunk C B^T replaces attention's scores. Only the
// projection's output is kept for the backward pass, which recomputes convolution, states and C
// B^T. Kernels read data shared by the heads of a group once, through the L2 cache.
constexpr std::array kMambaForward = {
    ScanKernel{.name = "convolution", .convolved = 2},
    ScanKernel{.name = "step sizes", .heads = 1, .heads32 = 2},
    ScanKernel{
        .name = "chunk states", .m = kP, .n = kN, .k = kQ, .rows = 1, .shared = 1, .states32 = 1},
    ScanKernel{.name = "state passing", .states = 1, .states32 = 1},
    ScanKernel{.name = "chunk products",
               .m = kQ,
               .n = kQ,
               .k = kN,
               .of_groups = true,
               .shared = 2,
               .scores32 = 1},
    ScanKernel{.name = "chunk scan",
               .m = kQ,
               .n = kP,
               .k = kStateAndHalf,
               .rows = 2,
               .shared = 1,
               .states = 1,
               .scores32 = 1},
    ScanKernel{.name = "gated norm", .rows = 3},
};
constexpr ScanKernel kRowGradient = {
    .name = {}, .m = kQ, .n = kN, .k = kP, .rows = 1, .shared = 1, .states = 1, .shared32 = 1};
constexpr ScanKernel kScoreGradient = {
    .name = {}, .m = kQ, .n = kHalf, .k = kP, .rows = 2, .scores32 = 1};
constexpr ScanKernel kGroupGradient = {.name = {},
                                       .m = kQ,
                                       .n = kN,
                                       .k = kQ,
                                       .of_groups = true,
                                       .shared = 2,
                                       .shared32 = 1,
                                       .scores32 = 1};
constexpr ScanKernel named(std::string_view name, ScanKernel kernel) {
  kernel.name = name;
  return kernel;
}
// The backward pass computes the gradients of gate and scan output; of the states, back through the
// chunks; of the input (with that of the step sizes); of B and C by the states and by C B^T; of the
// decays; of the convolution.
constexpr std::array kMambaBackward = {
    ScanKernel{.name = "gated norm", .rows = 5},
    kMambaForward[0],
    kMambaForward[1],
    kMambaForward[2],
    kMambaForward[3],
    kMambaForward[4],
    named("state gradients", kMambaForward[2]),
    ScanKernel{.name = "state passing", .states32 = 3},
    ScanKernel{.name = "input gradients",
               .m = kQ,
               .n = kP,
               .k = kStateAndHalf,
               .rows = 3,
               .shared = 1,
               .states = 1,
               .scores32 = 1},
    named("B gradients", kRowGradient),
    named("C gradients", kRowGradient),
    named("product gradients", kScoreGradient),
    named("decay gradients", kScoreGradient),
    named("B gradients", kGroupGradient),
    named("C gradients", kGroupGradient),
    ScanKernel{.name = "convolution", .convolved = 3},
};

// The gated delta rule in chunks of 64 tokens (arXiv 2412.06464, section 3.3; products as in
// github.com/fla-org/flash-linear-attention, fla/ops/gated_delta_rule/chunk.py): within a chunk the
// inverse of a triangle of K K^T maps keys and values to W and U; the difference between U and the
// state's prediction is written to the state. Queries and keys are normalised and repeated for the
// heads of a group. Kept are normalised queries and keys, the convolution's output, and the
// inverses; W, U and the states are recomputed.
constexpr ScanKernel kKeyProducts = {
    .name = "key products", .m = kQ, .n = kQ, .k = kN, .keys = 1, .triangles32 = 1};
constexpr ScanKernel kInverse = {
    .name = "triangle inverse", .m = kQ, .n = kQ, .k = kHalf, .triangles = 1, .triangles32 = 1};
constexpr ScanKernel kWrittenKeys = {
    .name = "W", .m = kQ, .n = kN, .k = kQ, .keys = 2, .triangles = 1};
constexpr ScanKernel kWrittenValues = {.name = "U", .m = kQ, .n = kP, .k = kQ, .rows = 2};
constexpr ScanKernel kDeltaStates = {.name = "chunk states",
                                     .m = kQ,
                                     .n = kP,
                                     .k = kN,
                                     .times = 2,
                                     .rows = 2,
                                     .keys = 2,
                                     .states = 1};
constexpr ScanKernel kDeltaScores = {.name = "chunk scores", .m = kQ, .n = kQ, .k = kN, .keys = 2};
constexpr ScanKernel kDeltaOutputs = {
    .name = "chunk outputs", .m = kQ, .n = kP, .k = kStateAndHalf, .rows = 2, .states = 1};
constexpr std::array kGatedDeltaForward = {
    ScanKernel{.name = "convolution", .convolved = 2},
    ScanKernel{.name = "decays", .heads = 2, .heads32 = 4},
    ScanKernel{.name = "key norms", .shared = 2, .keys = 2},
    kKeyProducts,
    kInverse,
    kWrittenKeys,
    kWrittenValues,
    kDeltaStates,
    kDeltaScores,
    kDeltaOutputs,
    ScanKernel{.name = "gated norm", .rows = 3},
};
// The backward pass computes W, U and the states as in the forward pass; then the gradients of what
// was written, of the states back through the chunks, of queries, keys and W by the states and by
// the scores, and of keys and values through the inverse.
constexpr std::array<ScanKernel, 18> delta_backward(ScanKernel written_keys, ScanKernel scores,
                                                    ScanKernel key_norms, ScanKernel decays) {
  return {{
      {.name = "gated norm", .rows = 5},
      written_keys,
      kWrittenValues,
      kDeltaStates,
      scores,
      {.name = "value gradients", .m = kQ, .n = kP, .k = kHalf, .rows = 2},
      {.name = "state gradients",
       .m = kQ,
       .n = kP,
       .k = kN,
       .times = 3,
       .rows = 3,
       .keys = 3,
       .states = 1},
      {.name = "key gradients",
       .m = kQ,
       .n = kN,
       .k = kP,
       .times = 3,
       .rows = 3,
       .keys = 6,
       .states = 2},
      {.name = "score gradients", .m = kQ, .n = kQ, .k = kP, .rows = 2},
      {.name = "key gradients of scores", .m = kQ, .n = kN, .k = kQ, .times = 2, .keys = 4},
      {.name = "inverse gradients", .m = kQ, .n = kQ, .k = kN, .keys = 2, .triangles = 2},
      {.name = "inverse gradients of values", .m = kQ, .n = kQ, .k = kP, .rows = 2},
      {.name = "triangle gradients", .m = kQ, .n = kQ, .k = kQ, .times = 2, .triangles = 2},
      {.name = "written key gradients", .m = kQ, .n = kN, .k = kQ, .times = 3, .keys = 3},
      {.name = "written value gradients", .m = kQ, .n = kP, .k = kQ, .rows = 1},
      key_norms,
      decays,
      {.name = "convolution", .convolved = 3},
  }};
}
constexpr std::array kGatedDeltaBackward =
    delta_backward(kWrittenKeys, kDeltaScores, {.name = "key norms", .shared = 2, .keys = 4},
                   {.name = "decays", .heads = 4, .heads32 = 4});

// Kimi Delta Attention: the same products with an fp32 decay for each key element (arXiv
// 2510.26692, section 3; fla/ops/kda/chunk.py), which the kernels within a chunk read together with
// the keys.
constexpr std::array kKimiDeltaForward = {
    ScanKernel{.name = "convolution", .convolved = 2},
    ScanKernel{.name = "decays", .keys = 1, .heads = 2, .keys32 = 2, .heads32 = 2},
    ScanKernel{.name = "key norms", .shared = 4},
    ScanKernel{.name = "key products",
               .m = kQ,
               .n = kQ,
               .k = kN,
               .keys = 1,
               .keys32 = 1,
               .triangles32 = 1},
    kInverse,
    ScanKernel{.name = "W", .m = kQ, .n = kN, .k = kQ, .keys = 4, .triangles = 1, .keys32 = 1},
    kWrittenValues,
    kDeltaStates,
    ScanKernel{.name = "chunk scores", .m = kQ, .n = kQ, .k = kN, .keys = 2, .keys32 = 1},
    kDeltaOutputs,
    ScanKernel{.name = "gated norm", .rows = 3},
};
constexpr std::array kKimiDeltaBackward =
    delta_backward(kKimiDeltaForward[5], kKimiDeltaForward[8], {.name = "key norms", .shared = 6},
                   {.name = "decays", .keys = 1, .heads = 4, .keys32 = 4, .heads32 = 2});

// Lightning Attention in blocks of 256 tokens (arXiv 2401.04658, algorithms 1 and 2): scores and
// context of a block, what the state of earlier blocks adds to its rows, and its own part of the
// state. The backward pass has two products for each of these, and computes the scores again.
constexpr std::array kLightningForward = {
    ScanKernel{.name = "block scores", .m = kQ, .n = kQ, .k = kN, .keys = 2},
    ScanKernel{.name = "block context", .m = kQ, .n = kP, .k = kQ, .rows = 2},
    ScanKernel{.name = "state context", .m = kQ, .n = kP, .k = kN},
    ScanKernel{.name = "state", .m = kN, .n = kP, .k = kQ, .states = 1},
    ScanKernel{.name = "gated norm", .rows = 3},
};
constexpr std::array kLightningBackward = {
    ScanKernel{.name = "gated norm", .rows = 5},
    ScanKernel{.name = "block scores", .m = kQ, .n = kQ, .k = kN, .keys = 2},
    ScanKernel{.name = "score gradients", .m = kQ, .n = kQ, .k = kP, .rows = 2},
    ScanKernel{.name = "query and key gradients", .m = kQ, .n = kN, .k = kQ, .times = 2, .keys = 2},
    ScanKernel{.name = "value gradients", .m = kQ, .n = kP, .k = kQ, .rows = 1},
    ScanKernel{.name = "state gradients", .m = kN, .n = kP, .k = kQ, .times = 2, .states = 2},
    ScanKernel{
        .name = "gradients by the state", .m = kQ, .n = kP, .k = kN, .times = 3, .states = 2},
};

// Counted operations follow Megatron-LM's convention (megatron/training/training.py,
// num_floating_point_operations()): 7 for each element of Mamba's state and each token, and 4
// products of a head's width by its state for the gated delta rule.
constexpr std::array kForms = {
    ScanForm{.kind = ScanKind::mamba2,
             .title = "Mamba",
             .head_columns = 1,
             .convolution_bias = true,
             .head_vectors = 3,  // decay, skip, step size
             .counted = 7,
             .forward = kMambaForward,
             .backward = kMambaBackward},
    ScanForm{.kind = ScanKind::gated_delta,
             .title = "gated DeltaNet",
             .head_columns = 2,  // decay, strength of writing
             .head_vectors = 2,  // decay, step size
             .norm_by_head = true,
             .chunk = 64,
             .counted = 8,
             .kept_convolved = 1,
             .kept_keys = 2,
             .kept_triangles = 1,
             .forward = kGatedDeltaForward,
             .backward = kGatedDeltaBackward},
    ScanForm{.kind = ScanKind::kimi_delta,
             .title = "Kimi Delta Attention",
             .gate = false,
             .head_columns = 1,   // strength of writing
             .low_rank = 2,       // decay, gate
             .head_vectors = 1,   // decay
             .row_vector = true,  // step size
             .norm_by_head = true,
             .chunk = 64,
             .counted = 8,
             .kept_convolved = 1,
             .kept_keys = 5,  // queries, keys; decays in fp32, and their gate's input
             .kept_triangles = 1,
             .forward = kKimiDeltaForward,
             .backward = kKimiDeltaBackward},
    ScanForm{.kind = ScanKind::lightning,
             .title = "Lightning Attention",
             .convolution = false,
             .chunk = 256,
             .counted = 4,
             .counts_chunk = true,
             .forward = kLightningForward,
             .backward = kLightningBackward},
};

}  // namespace

const ScanForm& scan_form(ScanKind kind) {
  const auto* found = std::ranges::find(kForms, kind, &ScanForm::kind);
  CHECK(found != kForms.end(), "no form of scan {}", static_cast<int>(kind));
  return *found;
}

double MambaMixer::matrices(int hidden) const {
  return double(hidden) * (projected() + inner()) + double(rank()) * inner();
}

double MambaMixer::head_parameters() const {
  const ScanForm& of = form();
  return double(of.head_vectors) * heads + (of.row_vector ? inner() : 0) +
         (of.norm_by_head ? head_width : inner());
}

double MambaMixer::convolution_parameters() const {
  if (!form().convolution) return 0;
  return double(convolved()) * (kMambaConvolution + (form().convolution_bias ? 1 : 0));
}

double MambaMixer::counted_flops(int sequence) const {
  const double chunk = std::min(chunk_tokens(), sequence);
  const double within = form().counts_chunk ? 2.0 * chunk * (inner() + double(heads) * state) : 0;
  return form().counted * inner() * state + within;
}

}  // namespace windtunnel
