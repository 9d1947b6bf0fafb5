// How far a job lies from the training runs that predictions were held against, and how much less
// sure its own prediction is for that.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

// What of a run decides which other runs tell something of it.
struct RunTraits {
  std::string gpu;  // of the library
  int bits = 16;    // of what the matrix products read
  bool experts = false;
  bool sharded_weights = false;  // gathered layer by layer (ZeRO-3, FSDP)
  bool context = false;          // sequences are cut over context parallelism
  int gpus = 1;
  int sequence = 1;
};
RunTraits traits_of(const Job& job);
bool is_like(const RunTraits& one, const RunTraits& other);  // but for GPU and sizes

// Measured runs of one source that share their traits but for the sizes.
struct MeasuredRuns {
  std::string family;  // "BLOOM prequel (bigscience tr11) / A100-SXM4-80GB"
  RunTraits traits;    // gpus, sequence: the largest among them
  int rows = 0;
  double rms = 0;  // of log(predicted / measured) of a step's time, from specification
};

struct Familiarity {
  // Measured on the same GPU with all of its traits, at no smaller size.
  int rows = 0;
  int families = 0;
  std::vector<std::string> unfamiliar;  // "experts were not measured on h200"
  double deviation = 0;                 // log standard deviation that comes on top for that
};

// Against those of other families than `without`. What is not measured on its GPU counts as
// unfamiliar even where it was measured on another one; of a GPU without runs, the GPU does, and
// the rest is held against all runs. Each adds kTraitDeviation to the deviation, each doubling
// beyond the largest number of GPUs and the longest sequence kDoublingDeviation; as variances do.
Familiarity familiarity(const RunTraits& traits, std::span<const MeasuredRuns> measured,
                        const std::string& without = {});

}  // namespace windtunnel
