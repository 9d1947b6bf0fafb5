// Writes traces in the form of PyTorch's profiler, for tests, the example and the benchmark: steps
// of a transformer with tensor, data and pipeline parallelism. No number is measured: kernels take
// the time of a plain roofline, with jitter. The form is real: keys, categories, kernel names,
// NCCL's arguments, the clock, the order of the events, and the entries around them.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

namespace windtunnel {

struct MadeTrace {
  int rank = 0;
  int tp = 1;  // ranks 0 to tp - 1 are a group
  int dp = 1;  // ranks whose distance is tp form a group
  int pp = 1;  // 1 or 2 stages, the outermost axis, in 1F1B
  int steps = 3;
  int layers = 4;  // of all stages
  int hidden = 1024;
  int ffn = 4096;
  int vocabulary = 32000;
  int tokens = 4096;
  int microbatches = 1;
  // Adds the host's events that a profiler records besides kernels and launches: operations, arrows
  // from launches to kernels, function calls. Most of a real file consists of these.
  bool with_host = true;
  // These flags choose how steps and passes are marked and launched.
  bool with_steps = true;    // ProfilerStep#
  bool with_passes = false;  // "PP:0F1" as in torch.distributed.pipelining
  bool with_threads = true;  // autograd's own thread launches backward passes
  std::uint64_t seed = 1;
};

// Returns the number of bytes written.
std::uint64_t write_made_kineto(const MadeTrace& made, std::ostream& out);
std::string made_kineto(const MadeTrace& made);

}  // namespace windtunnel
