// Names of GPUs in measured rows, and the machine of the library for each:
// scenarios/library/gpu_names.yaml, which says how a text is matched.
#pragma once

#include <string>

namespace windtunnel {

struct GpuName {
  std::string name;          // "a10040"
  std::string kind;          // "a100": the prefix of its kind's names in the library
  std::string node;          // of the library
  std::string calibration;   // of the library
  double nvlink_Bps = 0;     // 0: the node's
  std::string instead = {};  // what stands in for a GPU that the library lacks; empty: it has the
                             // GPU
};

// Throws Error if the text names no GPU; without `stand_ins` also if the library lacks the GPU.
const GpuName& gpu_named(const std::string& text, bool stand_ins);

// Whether the library uses this calibration by default for some kind of GPU; false for special
// fits.
bool stands_for_a_gpu(const std::string& calibration);

}  // namespace windtunnel
