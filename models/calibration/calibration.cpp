#include "models/calibration/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/calibration/compression_kernels.hpp"

namespace windtunnel {

DEFINE_SPECIAL_MEMBERS(Calibration);

const std::vector<CalibrationField>& calibration_fields() {
  static const std::vector<CalibrationField> fields = {
      {"gemm.efficiency", &Calibration::gemm_efficiency, "",
       "share of peak FLOP/s that a very large, aligned GEMM reaches", FieldRange::share},
      {"gemm.scaled_efficiency", &Calibration::gemm_scaled_efficiency, "",
       "gemm.efficiency of scaled precisions (fp8, mxfp8, nvfp4); 0: as gemm.efficiency",
       FieldRange::added_share, false},
      {"gemm.fp4_efficiency", &Calibration::gemm_fp4_efficiency, "",
       "gemm.efficiency of nvfp4; 0: as gemm.scaled_efficiency", FieldRange::added_share, false},
      {"gemm.k_half", &Calibration::gemm_k_half, "",
       "inner dimension at which a tile reaches half of gemm.efficiency"},
      {"gemm.tile_m", &Calibration::gemm_tile_m, "", "rows of the largest output tile",
       FieldRange::positive},
      {"gemm.tile_n", &Calibration::gemm_tile_n, "", "columns of the largest output tile",
       FieldRange::positive},
      {"convolution.winograd", &Calibration::convolution_winograd, "",
       "factor by which Winograd's algorithm reduces the multiplications of 3 x 3 convolutions in "
       "fp32",
       FieldRange::at_least_one, false},
      {"attention.forward_efficiency", &Calibration::attention_forward_efficiency, "",
       "share of peak FLOP/s that fused attention reaches, forward; only the causal half counts",
       FieldRange::share},
      {"attention.backward_efficiency", &Calibration::attention_backward_efficiency, "",
       "share of peak FLOP/s that fused attention reaches, backward; only the causal half counts",
       FieldRange::share},
      {"attention.portable_forward_efficiency", &Calibration::portable_forward_efficiency, "",
       "attention.forward_efficiency of kernels written for an earlier GPU (FlashAttention-2)",
       FieldRange::share},
      {"attention.portable_backward_efficiency", &Calibration::portable_backward_efficiency, "",
       "attention.backward_efficiency of kernels written for an earlier GPU (FlashAttention-2)",
       FieldRange::share},
      {"attention.half_sequence", &Calibration::attention_half_sequence, "",
       "sequence at which fused attention reaches half of its efficiency"},
      {"attention.half_width", &Calibration::attention_half_width, "",
       "head width at which fused attention reaches half of its efficiency with very wide heads",
       FieldRange::not_negative, false},
      {"memory.efficiency", &Calibration::memory_efficiency, "",
       "share of peak HBM bandwidth that large memory-bound kernels reach", FieldRange::share},
      {"memory.half_bytes", &Calibration::memory_half_bytes, "B",
       "bytes at which a memory-bound kernel reaches half of memory.efficiency"},
      {"kernel.launch", &Calibration::kernel_launch_s, "s",
       "launch time that each kernel adds to its duration"},
      {"host.launch", &Calibration::host_launch_s, "s",
       "CPU time to launch an operation of the model, including its small kernels"},
      {"host.kernel", &Calibration::host_kernel_s, "s",
       "CPU time to launch each further kernel of an operation, such as one product per local "
       "expert",
       FieldRange::not_negative, false},
      {"scan.share", &Calibration::scan_share, "",
       "speed of the kernels of a Mamba-2 scan, relative to other products and passes",
       FieldRange::share, false},
      {"expert_cast.share", &Calibration::expert_cast_share, "",
       "speed of kernels that cast the inputs of experts one by one, relative to casting a whole "
       "tensor",
       FieldRange::share, false},
      {"host.run_ahead", &Calibration::host_run_ahead, "",
       "share of the waits for the host that is avoided by launching ahead during long kernels",
       FieldRange::share},
      {"host.contention", &Calibration::host_contention, "",
       "share by which launches slow down per tp rank while a pipeline crosses nodes"},
      {"kernel.sustained", &Calibration::kernel_sustained, "",
       "share of isolated compute-bound kernels' speed that a training step sustains",
       FieldRange::share},
      {"kernel.alone", &Calibration::kernel_alone, "",
       "kernel.sustained of a job on one GPU; 0: as kernel.sustained", FieldRange::added_share,
       false},
      {"attention.sustained", &Calibration::attention_sustained, "",
       "kernel.sustained of fused attention; 0: as kernel.sustained", FieldRange::added_share,
       false},
      {"overlap.slowdown", &Calibration::overlap_slowdown, "",
       "share by which kernels slow down while a collective runs on their GPU"},
      {"optimizer.bytes", &Calibration::optimizer_bytes, "B",
       "HBM bytes moved per parameter by a step of Adam"},
      {"optimizer.moment_bytes", &Calibration::moment_bytes, "B",
       "part of optimizer.bytes for each moment; Adam has two moments, momentum one, sgd none",
       FieldRange::not_negative, false},
      {"optimizer.instructions", &Calibration::adam_instructions, "",
       "instructions per parameter of a fused AdamW on 16-bit numbers that memory accesses do not "
       "hide",
       FieldRange::not_negative, false},
      {"rollout.update_factor", &Calibration::rollout_update, "",
       "time of an update with samples from engines, relative to pre-training with the same tokens",
       FieldRange::positive, false},
      {"rollout.tensor", &Calibration::gathered_tensor_s, "s",
       "time added per tensor that is gathered for engines, whatever its size",
       FieldRange::not_negative, false},
      {"nvlink.efficiency", &Calibration::nvlink_efficiency, "",
       "share of the NVLink port's bandwidth that is reached", FieldRange::share},
      {"nvlink.latency", &Calibration::nvlink_latency_s, "s",
       "latency per step of an algorithm inside a node"},
      {"nic.efficiency", &Calibration::nic_efficiency, "",
       "share of the NIC's bandwidth that is reached", FieldRange::share},
      {"nic.latency", &Calibration::nic_latency_s, "s",
       "latency per step of an algorithm across nodes, software included"},
      {"collective.launch", &Calibration::collective_launch_s, "s", "launch time per collective"},
      {"p2p.launch", &Calibration::p2p_launch_s, "s", "launch time per send"},
      {"partition.launch", &Calibration::partition_launch_s, "s",
       "launch time per partition of a gradient, with communication.overlap: priority",
       FieldRange::not_negative, false},
      {"pcie.efficiency", &Calibration::pcie_efficiency, "",
       "share of the PCIe bandwidth that is reached", FieldRange::share},
      {"host_memory.efficiency", &Calibration::host_memory_efficiency, "",
       "share of the host memory bandwidth that is reached", FieldRange::share},
      {"storage.efficiency", &Calibration::storage_efficiency, "",
       "share of the storage bandwidth that is reached", FieldRange::share},
      {"memory.framework_bytes", &Calibration::framework_bytes, "B",
       "context, NCCL buffers and workspaces per GPU"},
      {"memory.fragmentation", &Calibration::fragmentation, "",
       "share that is added to the counted bytes for fragmentation", FieldRange::added_share},
      {"error.step", &Calibration::step_error, "",
       "standard deviation of the logarithm of predicted / measured step time, on runs that were "
       "not used in the fit"},
      {"error.memory", &Calibration::memory_error, "",
       "standard deviation of the logarithm of predicted / measured peak memory, on runs that were "
       "not used in the fit"},
  };
  return fields;
}

bool is_of(const Calibration& calibration, std::string_view gpu) {
  const std::string names = " " + calibration.gpu + " ";
  return !gpu.empty() && names.find(fmt::format(" {} ", gpu)) != std::string::npos;
}

const Parameter& sustained_of(const Calibration& calibration, int gpus) {
  const bool alone = gpus == 1 && calibration.kernel_alone.value > 0;
  return alone ? calibration.kernel_alone : calibration.kernel_sustained;
}

const Parameter* kernel_share(const Calibration& calibration, std::string_view name) {
  for (const KernelShare& kernel : calibration.kernels) {
    if (kernel.name == name) return &kernel.share;
  }
  const CompressionKernel* usual = find_compression_kernel(name);
  return usual == nullptr ? nullptr : &usual->share;
}

const Parameter* kernel_starts(const Calibration& calibration, std::string_view name) {
  const auto found = std::ranges::find(calibration.kernel_starts, name, &KernelStarts::name);
  return found == calibration.kernel_starts.end() ? nullptr : &found->starts;
}

const InterconnectLaw& interconnect_law(const Calibration& calibration, int nodes) {
  const bool inside = nodes == 1 && calibration.node_network;
  return inside ? *calibration.node_network : calibration.network;
}

}  // namespace windtunnel
