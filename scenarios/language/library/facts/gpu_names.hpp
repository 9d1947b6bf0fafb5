// What measured rows call GPUs, and the machine of the library that stands for each:
// scenarios/library/gpu_names.yaml, which says how a text is read.
#pragma once

#include <string>

namespace windtunnel {

struct GpuName {
  std::string name;          // "a10040"
  std::string kind;          // "a100", with which the names of its kind in the library begin
  std::string node;          // of the library
  std::string calibration;   // the same
  double nvlink_Bps = 0;     // 0: the node's
  std::string instead = {};  // what is assumed where the library lacks the GPU; empty: it has it
};

// Throws Error where the text names none; without `stand_ins` also where the library lacks it.
const GpuName& gpu_named(const std::string& text, bool stand_ins);

// Whether it is what the library takes for some kind of GPU, and not what was fitted elsewhere.
bool stands_for_a_gpu(const std::string& calibration);

}  // namespace windtunnel
