// What a measured kernel, copy or collective is and does: the terms in which the harness names what
// it timed, fits what it read, and a prediction what it predicts. In text steps that follow each
// other are joined by `>`, works that run beside each other by `&`:
//   gemm type=fp32 m=512 n=512 k=256 > quantise-int8 elements=1048576 & copy bytes=67108864
//
// Of a collective, `bytes` is the full buffer, as nccl-tests' column `size` has it. `send` is a
// message from each rank to the next of a ring, both directions of every link at once. More:
// docs/reference/harness.md, "How a work is written".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/precision.hpp"

namespace windtunnel {

struct KernelWork {
  std::string kernel;  // a name of kernel_kinds()
  Precision precision = Precision::fp32;
  double m = 0, n = 0, k = 0;  // matrix products; erasure codes: k blocks of data, m of parity
  double elements = 0;         // of a buffer
  double bytes = 0;            // of a copy, a message, a block of a code
  int ranks = 1;               // of a collective
};

using KernelSteps = std::vector<std::vector<KernelWork>>;  // in turn; works of a step side by side

// Where the data of a work are when it begins.
enum class CacheState {
  warm,  // in the caches, as far as they fit: it has just run on the same
  cold,  // in memory: others were used since, as many as a training step uses
};

enum class KernelFamily { matrix, memory, copy, code, compression, collective };

struct KernelKind {
  std::string_view name;
  std::string_view help;
  KernelFamily family;
  // Which of "type", "m", "n", "k", "elements", "bytes" and "ranks" describe it.
  std::vector<std::string_view> sizes;
  double (*bytes)(const KernelWork& work);  // read and written; of a collective: the full buffer
  double (*flops)(const KernelWork& work);
  // The kernel of compressors (models/calibration/compression_kernels.hpp) whose share it measures;
  // empty: none.
  std::string_view share = {};
};

std::span<const KernelKind> kernel_kinds();
// Throws Error that names the nearest kind.
const KernelKind& kernel_kind(std::string_view name);

std::string to_text(const KernelSteps& steps);
// Throws Error that says which word of the text is at fault.
KernelSteps parse_kernel_steps(std::string_view text);

}  // namespace windtunnel
