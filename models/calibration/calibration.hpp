// The fitted constants of the cost models, each with interval and origin; one file per machine kind
// in scenarios/library/calibrations. calibration_fields() is the one list that the reader, the
// printer and the documentation use.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/origin.hpp"
#include "models/base/special_members.hpp"
#include "models/calibration/attention_speeds.hpp"
#include "models/calibration/interconnect_law.hpp"
#include "models/calibration/kernel_law.hpp"

namespace windtunnel {

// The share of a compressor's kernel (models/calibration/compression_kernels.hpp), where it is not
// the usual one.
struct KernelShare {
  std::string name;
  Parameter share;
};

// Kernels of the same compressor that a software runs for each tensor in addition to the recipe's:
// copies, the fixed part of a library's call.
struct KernelStarts {
  std::string name;
  Parameter starts;
};

struct Calibration {
  DECLARE_SPECIAL_MEMBERS(Calibration);
  std::string name;  // "h100-published"
  std::string gpu;   // kinds of GPUs that it is of, between blanks; empty: any

  // Matrix multiplication: see docs/physics/cost.md for the law.
  Parameter gemm_efficiency;  // share of peak FLOP/s reached by an endless, aligned GEMM
  // The same of products in fp8, mxfp8 and nvfp4, whose tensor cores hit the power limit earlier;
  // 0: as the others.
  Parameter gemm_scaled_efficiency = {0, 0, 0, Origin::assumed, "as gemm.efficiency"};
  // The same of nvfp4, whose tensor cores are two or three times as fast as in fp8 behind the same
  // shared memory; 0: as the other scaled formats.
  Parameter gemm_fp4_efficiency = {0, 0, 0, Origin::assumed, "as gemm.scaled_efficiency"};
  Parameter gemm_k_half;  // inner dimension at which a tile reaches half of that
  Parameter gemm_tile_m;  // output tile of one thread block
  Parameter gemm_tile_n;
  // Convolutions of 3 x 3 with stride 1 in fp32: times by which Winograd's algorithm divides their
  // multiplications, its transforms counted against it. Tiles of 2 x 2 outputs give 2.25 at most,
  // of 4 x 4 outputs 4 (Lavin and Gray 2015, arXiv 1509.09308).
  Parameter convolution_winograd = {1, 1, 1, Origin::assumed, "direct products"};
  // Fused (flash) attention over an endless sequence, share of peak FLOP/s (causal half counted).
  Parameter attention_forward_efficiency;
  Parameter attention_backward_efficiency;
  // The same by kernels written for an earlier GPU: see Software::portable_attention.
  Parameter portable_forward_efficiency;
  Parameter portable_backward_efficiency;
  Parameter attention_half_sequence;  // sequence at which it reaches half of that
  // Width of a head at which it reaches half of what endless heads would: scores go through the
  // SM's 16 exponentials per clock while its matrix units make 2 x width products of each, so that
  // narrow heads wait for the exponentials. The efficiencies above are of heads of 128.
  Parameter attention_half_width = {
      25, 0, 60, Origin::assumed,
      "half of what was measured on an H200, whose SMs multiply twice as much per clock as an "
      "A100's beside as many exponentials"};
  Parameter memory_efficiency;  // share of peak HBM bandwidth, large memory-bound kernels
  Parameter memory_half_bytes;  // size at which a memory-bound kernel reaches half of that
  Parameter kernel_launch_s;    // per kernel, not hidden
  // CPU time per operation of the model, small kernels included, in modules of Transformer Engine:
  // see Software::host_share.
  Parameter host_launch_s;
  // CPU time per further kernel of an operation that its module launches in one loop: a product for
  // each local expert, with its casts.
  Parameter host_kernel_s = {45e-6,
                             20e-6,
                             80e-6,
                             Origin::published,
                             "fitted on the models with experts of NVIDIA's Megatron-Bridge "
                             "summaries, containers 25.09 to 26.08, on H100 and B200 "
                             "(github.com/NVIDIA-NeMo/Megatron-Bridge 067f987d): least error "
                             "between 40 and 50 us",
                             {{"",
                               "source~\"Megatron-Bridge\" && ep>1 && "
                               "(gpu_type==\"H100\" || gpu_type==\"B200\")"}}};
  // The kernels of a Mamba-2 scan reach this share of the speed that products and passes have by
  // the numbers above.
  Parameter scan_share = {1, 0.1, 1, Origin::assumed,
                          "as other products and passes: not measured on this kind of GPU"};
  // The kernels that bring what grouped products read into a scaled format, one expert after the
  // other, reach this share of the speed that they have with a whole tensor.
  Parameter expert_cast_share = {1, 0.1, 1, Origin::assumed,
                                 "as of whole tensors: not measured on this kind of GPU"};
  // Share of the waiting for short kernels that the host saves by launching ahead during long ones.
  Parameter host_run_ahead;
  // Where Software::shared_cores holds and a pipeline with tensor parallelism crosses nodes: share
  // by which a launch takes longer, per tp rank, since each layer waits for the slowest host.
  Parameter host_contention;
  // Share of isolated compute-bound kernels' speed that a training step sustains: clocks under the
  // power limit, variation between GPUs.
  Parameter kernel_sustained;
  // The same of a GPU that works alone: no slower one sets its pace, and no network kernel takes
  // its SMs. 0: as the others. See sustained_of().
  Parameter kernel_alone = {0, 0, 0, Origin::assumed, "as kernel.sustained"};
  // The same of fused attention where its efficiencies were measured of the kernel by itself. Its
  // matrix units wait for exponentials, so that it draws less than products do and already runs at
  // the clock that its power allows: a step takes nothing more from it but the differences between
  // GPUs. 0: as kernel.sustained.
  Parameter attention_sustained = {0, 0, 0, Origin::assumed, "as kernel.sustained"};
  // Share by which kernels take longer while a collective runs on their GPU: it takes SMs, memory
  // bandwidth and power from them.
  Parameter overlap_slowdown;
  Parameter optimizer_bytes;  // HBM bytes moved per parameter by a step of Adam
  // Of those for each of its two moments, which other optimizers have not.
  Parameter moment_bytes = {8, 8, 8, Origin::spec, "read and written once in fp32"};

  // Instructions of a parameter in a fused AdamW of numbers of 16 bit, beyond those that the
  // memory's time hides: conversions to fp32 and back, a root, divisions.
  Parameter adam_instructions = {64,
                                 61,
                                 80,
                                 Origin::measured,
                                 "median of 12 steps of six models under PyTorch on an H200, which "
                                 "reach 2.4 to 2.7 of the 4.8 TB/s; with it an H100 should reach "
                                 "2.0 TB/s, and reaches 2.2",
                                 {{"pytorch_kernels_h200.csv", ""}}};

  // Reinforcement learning. What updates and passes take over those of pre-training with the same
  // tokens: heads that give log-probabilities, many small updates, samples that the driver hands
  // out.
  Parameter rollout_update = {
      1.18,
      1,
      1.4,
      Origin::published,
      "fitted on the two steps one step off policy of dense models in bf16 by NeMo RL v0.5, which "
      "wait for updates, with transfers over both hops (github.com/NVIDIA-NeMo/RL 9dbd9adc, "
      "docs/about/performance-summary.md): both within 1 %; the range is that of three of the "
      "four others one step off policy, with experts or in fp8, which were not fitted on",
      {{"rl_steps_2026.csv",
        "source~'NeMo RL v0.5' && policy~'Off' && precision=='bf16' && "
        "(model=='LLAMA3.1_8B' || model=='Qwen3-32B')"}}};
  // Per tensor that is gathered for engines, however small it is: a collective and some Python of
  // its own.
  Parameter gathered_tensor_s = {
      0.58e-3,
      0.3e-3,
      1e-3,
      Origin::published,
      "with a bandwidth of 12.6 GB/s of both hops together, on a network that is not stated, what "
      "the transfers of Qwen3-30B-A3B and Qwen3-235B-A22B take, 15.76 and 58.57 s "
      "(github.com/volcengine/verl b178a3cd, docs/advance/fully_async.md): two numbers on two "
      "rows; low: a model of 7B inside a node took 0.12 s for its 339 tensors there",
      {{"rl_steps_2026.csv", "source~'verl weight' && policy=='default' && model~'Qwen3'"}}};

  // Network and host.
  Parameter nvlink_efficiency;  // share of the port's bandwidth
  Parameter nvlink_latency_s;   // per step of an algorithm inside a node
  Parameter nic_efficiency;
  Parameter nic_latency_s;        // per step of an algorithm across nodes, software included
  Parameter collective_launch_s;  // per collective
  Parameter p2p_launch_s;         // per send
  // Of software that cuts gradients into partitions and orders them, per partition (theta of
  // ByteScheduler: Peng et al. 2019, doi 10.1145/3341301.3359642).
  Parameter partition_launch_s = {0, 0, 0, Origin::assumed, "no such software"};
  Parameter pcie_efficiency;
  Parameter host_memory_efficiency;
  Parameter storage_efficiency;

  // Memory beside what is counted from first principles.
  Parameter framework_bytes;  // CUDA context, NCCL buffers, workspaces per GPU
  Parameter fragmentation;    // share added to the counted bytes

  // NCCL by algorithm and protocol, where it was fitted or asked for; else the constants above are
  // the law of all collectives.
  InterconnectLaw network;
  // The same inside a node, where it is not `network`: one of the two was fitted on rows that tell
  // nothing of the other, which stays what it was before.
  std::optional<InterconnectLaw> node_network = {};

  // Log standard deviation of predicted / measured on runs that were not fitted on.
  Parameter step_error;
  Parameter memory_error;

  std::vector<KernelShare> kernels = {};
  std::vector<KernelStarts> kernel_starts = {};

  // What was measured of kernels and collectives one by one: their times, where there is a law,
  // in place of what the constants above say (models/cost/op/op_cost.hpp, collective_law.hpp).
  KernelLaws kernel_laws = {};

  // The attention kernel that the job names, on this kind of GPU; null: the efficiencies above.
  std::shared_ptr<const AttentionSpeeds> attention = nullptr;
};

// What kernels sustain in the steps of a job on `gpus` GPUs.
const Parameter& sustained_of(const Calibration& calibration, int gpus);
// Whether it names this kind of GPU.
bool is_of(const Calibration& calibration, std::string_view gpu);
// Share of memory_efficiency that the kernel of this name reaches; nullptr: it has none of its own.
const Parameter* kernel_share(const Calibration& calibration, std::string_view name);
// The law of a group on `nodes` nodes.
const InterconnectLaw& interconnect_law(const Calibration& calibration, int nodes);
// Kernels that run for each tensor in addition to the recipe's; nullptr: none.
const Parameter* kernel_starts(const Calibration& calibration, std::string_view name);

// What a fitted constant may be.
enum class FieldRange {
  not_negative,  // times and sizes that are added
  positive,
  share,        // above 0 and at most 1: efficiencies, which divide
  added_share,  // 0 to 1
  at_least_one,
};

struct CalibrationField {
  std::string_view name;  // key in the file, "gemm.efficiency"
  Parameter Calibration::*member;
  std::string_view unit;  // "" for a plain number
  std::string_view help;
  FieldRange range = FieldRange::not_negative;
  bool required = true;  // in a file
};

const std::vector<CalibrationField>& calibration_fields();

}  // namespace windtunnel
