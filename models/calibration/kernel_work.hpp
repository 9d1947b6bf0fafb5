// What a measured kernel, copy or collective does, in the terms that the harness, the fit and
// predictions share. In text, consecutive steps are joined by `>` and concurrent works by `&`:
//   gemm type=fp32 m=512 n=512 k=256 > quantise-int8 elements=1048576 & copy bytes=67108864
//
// For a collective, `bytes` is the full buffer, as column `size` of nccl-tests. `send` is a message
// from each rank to the next in a ring, using both directions of every link. More:
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

// steps in order; works of a step run concurrently
using KernelSteps = std::vector<std::vector<KernelWork>>;

// Where a work's data are when it begins.
enum class CacheState {
  warm,  // in the caches as far as they fit: the work has just run on them
  cold,  // in memory: as much other data was used since as in a training step
};

enum class KernelFamily { matrix, memory, copy, code, compression, collective };

struct KernelKind {
  std::string_view name;
  std::string_view help;
  KernelFamily family;
  // The sizes that describe it: a subset of "type", "m", "n", "k", "elements", "bytes" and "ranks".
  std::vector<std::string_view> sizes;
  double (*bytes)(const KernelWork& work);  // read and written; collective: the full buffer
  double (*flops)(const KernelWork& work);
  // The compressor kernel (models/calibration/compression_kernels.hpp) whose share this measures;
  // empty: none.
  std::string_view share = {};
};

std::span<const KernelKind> kernel_kinds();
// Throws Error with the nearest known kind.
const KernelKind& kernel_kind(std::string_view name);

std::string to_text(const KernelSteps& steps);
// Throws Error that quotes the wrong word.
KernelSteps parse_kernel_steps(std::string_view text);

}  // namespace windtunnel
