// The fitted constants of the cost models, each with interval and origin; one file per kind of
// machine in scenarios/library/calibrations. The reader, the printer and the documentation all use
// the list of calibration_fields().
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

// The bandwidth share of a compressor's kernel (models/calibration/compression_kernels.hpp), if it
// differs from the default.
struct KernelShare {
  std::string name;
  Parameter share;
};

// Additional kernels that a software runs for each tensor, beyond a compressor's recipe: copies,
// the fixed part of a library call.
struct KernelStarts {
  std::string name;
  Parameter starts;
};

struct Calibration {
  DECLARE_SPECIAL_MEMBERS(Calibration);
  std::string name;  // "h100-published"
  std::string gpu;   // kinds of GPUs, separated by blanks; empty: any

  // Matrix multiplication: see docs/physics/cost.md for the law.
  Parameter gemm_efficiency;  // share of peak FLOP/s reached by a large, aligned GEMM
  // Replaces gemm_efficiency in fp8, mxfp8 and nvfp4, whose tensor cores reach the power limit
  // earlier; 0: as gemm_efficiency.
  Parameter gemm_scaled_efficiency = {0, 0, 0, Origin::assumed, "as gemm.efficiency"};
  // Replaces gemm_scaled_efficiency in nvfp4, whose tensor cores are two or three times as fast as
  // fp8 with the same shared memory; 0: as gemm_scaled_efficiency.
  Parameter gemm_fp4_efficiency = {0, 0, 0, Origin::assumed, "as gemm.scaled_efficiency"};
  Parameter gemm_k_half;  // inner dimension at which a tile reaches half of that efficiency
  Parameter gemm_tile_m;  // output tile of one thread block
  Parameter gemm_tile_n;
  // For 3 x 3 convolutions with stride 1 in fp32: the factor by which Winograd's algorithm reduces
  // their multiplications, net of its transforms. Tiles of 2 x 2 outputs give at most 2.25, tiles
  // of 4 x 4 outputs 4 (Lavin and Gray 2015, arXiv 1509.09308).
  Parameter convolution_winograd = {1, 1, 1, Origin::assumed, "direct products"};
  // Fused (flash) attention over a very long sequence: share of peak FLOP/s (causal half counted).
  Parameter attention_forward_efficiency;
  Parameter attention_backward_efficiency;
  // The same efficiencies for kernels written for an earlier GPU: see Software::portable_attention.
  Parameter portable_forward_efficiency;
  Parameter portable_backward_efficiency;
  // sequence length at which attention reaches half of its efficiency
  Parameter attention_half_sequence;
  // Head width at which attention reaches half the speed of very wide heads. An SM computes 16
  // exponentials per clock, one per score, while its matrix units make 2 x width products per
  // score; narrow heads therefore wait for the exponentials. The efficiencies above are for heads
  // of 128.
  Parameter attention_half_width = {
      25, 0, 60, Origin::assumed,
      "half of the value measured on an H200: per clock, its SMs do twice the multiplications of "
      "an A100's, but only as many exponentials"};
  Parameter memory_efficiency;  // share of peak HBM bandwidth, large memory-bound kernels
  Parameter memory_half_bytes;  // size at which a memory-bound kernel reaches half of that share
  Parameter kernel_launch_s;    // per kernel, not hidden
  // CPU time per operation of the model, including its small kernels, in modules of Transformer
  // Engine: see Software::host_share.
  Parameter host_launch_s;
  // Each additional kernel that an operation's module launches in a loop, such as a local expert's
  // product with its casts, takes this CPU time.
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
  // Speed of the kernels of a Mamba-2 scan, as a share of the speed of ordinary products and
  // passes.
  Parameter scan_share = {
      1, 0.1, 1, Origin::assumed,
      "assumed to be as fast as other products and passes: not measured on this kind of GPU"};
  // Speed of the kernels that cast the inputs of grouped products to a scaled format expert by
  // expert, as a share of their speed on a whole tensor.
  Parameter expert_cast_share = {
      1, 0.1, 1, Origin::assumed,
      "assumed to be as fast as for whole tensors: not measured on this kind of GPU"};
  // Share of the wait for short kernels that the host avoids by launching ahead during long ones.
  Parameter host_run_ahead;
  // Share by which a launch takes longer, per tp rank, since each layer waits for the slowest host.
  // Applies if Software::shared_cores is set and a pipeline with tensor parallelism crosses nodes.
  Parameter host_contention;
  // Speed of compute-bound kernels in a training step, as a share of their speed in isolation:
  // clocks under the power limit, and variation between GPUs.
  Parameter kernel_sustained;
  // Replaces kernel_sustained for a GPU that works alone: no slower GPU sets its pace, and no
  // network kernel takes SMs from it. 0: as kernel_sustained. See sustained_of().
  Parameter kernel_alone = {0, 0, 0, Origin::assumed, "as kernel.sustained"};
  // Replaces kernel_sustained for fused attention whose efficiencies were benchmarked on the kernel
  // alone. Its matrix units wait for exponentials, so it draws less power than products and the
  // benchmark already ran at the sustainable clock; in a step only variation between GPUs slows it.
  // 0: as kernel.sustained.
  Parameter attention_sustained = {0, 0, 0, Origin::assumed, "as kernel.sustained"};
  // Share by which kernels take longer while a collective on their GPU takes SMs, memory bandwidth
  // and power from them.
  Parameter overlap_slowdown;
  Parameter optimizer_bytes;  // HBM bytes moved per parameter by a step of Adam
  // The part of optimizer_bytes for each of Adam's two moments; other optimizers lack one or both.
  Parameter moment_bytes = {8, 8, 8, Origin::spec, "read and written once in fp32"};

  // Instructions per parameter of a fused AdamW on 16-bit numbers, beyond those hidden by memory
  // time: conversions to and from fp32, a root, divisions.
  Parameter adam_instructions = {
      64,
      61,
      80,
      Origin::measured,
      "median of 12 optimizer steps of six models under PyTorch on an H200, which reach 2.4 to 2.7 "
      "of the 4.8 TB/s; it predicts 2.0 TB/s for an H100, where 2.2 were measured",
      {{"pytorch_kernels_h200.csv", ""}}};

  // Reinforcement learning: time of updates and passes divided by that of pre-training with the
  // same tokens. Extra costs are heads that give log-probabilities, many small updates, and samples
  // distributed by the driver.
  Parameter rollout_update = {
      1.18,
      1,
      1.4,
      Origin::published,
      "fitted on two published results of NeMo RL v0.5 for dense models in bf16, one step off "
      "policy, which wait for updates and transfer weights over both hops "
      "(github.com/NVIDIA-NeMo/RL 9dbd9adc, docs/about/performance-summary.md): both within 1 %; "
      "the range covers three of the four other results one step off policy, with experts or in "
      "fp8, which were not used in the fit",
      {{"rl_steps_2026.csv",
        "source~'NeMo RL v0.5' && policy~'Off' && precision=='bf16' && "
        "(model=='LLAMA3.1_8B' || model=='Qwen3-32B')"}}};
  // Time of a collective and Python code for each tensor that is gathered for the engines,
  // regardless of its size.
  Parameter gathered_tensor_s = {
      0.58e-3,
      0.3e-3,
      1e-3,
      Origin::published,
      "solved, together with a bandwidth of 12.6 GB/s over both hops, from the transfer times of "
      "Qwen3-30B-A3B and Qwen3-235B-A22B, 15.76 and 58.57 s, on a network that is not stated "
      "(github.com/volcengine/verl b178a3cd, docs/advance/fully_async.md): two numbers from two "
      "rows; low end: a 7B model inside a node took 0.12 s for its 339 tensors there",
      {{"rl_steps_2026.csv", "source~'verl weight' && policy=='default' && model~'Qwen3'"}}};

  // Network and host.
  Parameter nvlink_efficiency;  // share of the port's bandwidth
  Parameter nvlink_latency_s;   // per step of an algorithm inside a node
  Parameter nic_efficiency;
  Parameter nic_latency_s;        // per step of an algorithm across nodes, software included
  Parameter collective_launch_s;  // per collective
  Parameter p2p_launch_s;         // per send
  // Per partition, for software that cuts gradients into ordered partitions (theta of
  // ByteScheduler: Peng et al. 2019, doi 10.1145/3341301.3359642).
  Parameter partition_launch_s = {0, 0, 0, Origin::assumed, "no such software"};
  Parameter pcie_efficiency;
  Parameter host_memory_efficiency;
  Parameter storage_efficiency;

  // Memory that is not counted from first principles.
  Parameter framework_bytes;  // CUDA context, NCCL buffers, workspaces per GPU
  Parameter fragmentation;    // share added to the counted bytes

  // NCCL by algorithm and protocol, if it was fitted or is requested; otherwise the constants above
  // describe all collectives.
  InterconnectLaw network;
  // Law of collectives inside a node, if it differs from `network`: it is set when a fit's rows
  // tell nothing about one of the two laws, which then stays unchanged.
  std::optional<InterconnectLaw> node_network = {};

  // Standard deviation of log(predicted / measured) on runs outside the fit.
  Parameter step_error;
  Parameter memory_error;

  std::vector<KernelShare> kernels = {};
  std::vector<KernelStarts> kernel_starts = {};

  // Laws of individually measured kernels and collectives. Where there is one, it replaces the
  // constants above (models/cost/op/op_cost.hpp, collective_law.hpp).
  KernelLaws kernel_laws = {};

  // The attention kernel named by the job, on this kind of GPU; null: the efficiencies above.
  std::shared_ptr<const AttentionSpeeds> attention = nullptr;
};

// The sustained share of kernel speed in the steps of a job on `gpus` GPUs.
const Parameter& sustained_of(const Calibration& calibration, int gpus);
// Whether the calibration names this kind of GPU.
bool is_of(const Calibration& calibration, std::string_view gpu);
// Share of memory_efficiency that the named kernel reaches; nullptr: no share of its own.
const Parameter* kernel_share(const Calibration& calibration, std::string_view name);
// A group inside one node has node_network's law if the calibration includes it.
const InterconnectLaw& interconnect_law(const Calibration& calibration, int nodes);
// Returns how many kernels per tensor the software starts beyond the recipe's; nullptr: none.
const Parameter* kernel_starts(const Calibration& calibration, std::string_view name);

// The allowed range of a fitted constant.
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
  bool required = true;  // must be in the file
};

const std::vector<CalibrationField>& calibration_fields();

}  // namespace windtunnel
