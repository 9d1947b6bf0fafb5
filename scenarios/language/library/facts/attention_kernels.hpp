// The fused attention kernels that a scenario can name (scenarios/library/attention.yaml), and how
// fast each is on the GPUs that have it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/attention_speeds.hpp"

namespace windtunnel {

struct AttentionKernelEntry {
  std::string name;
  std::string help;
};
const std::vector<AttentionKernelEntry>& attention_kernels();

// Null if GPUs of this kind do not have the kernel.
std::shared_ptr<const AttentionSpeeds> attention_speeds(std::string_view kernel,
                                                        std::string_view gpu);
// Names of the kernels that the GPU has.
std::vector<std::string> attention_kernels_on(std::string_view gpu);

}  // namespace windtunnel
