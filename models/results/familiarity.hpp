// How far a job lies from the training runs that predictions were held against, and how far off
// those that are most alike were.
#pragma once

#include <span>
#include <string>
#include <string_view>
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
  int experts_a_rank = 0;  // of a layer; 0: no experts
  int micro_tokens = 0;    // of a micro-batch, on one rank of context parallelism
};
RunTraits traits_of(const Job& job);
bool is_like(const RunTraits& one, const RunTraits& other);  // but for GPU and sizes

// Measured runs of one source that share their traits but for the sizes.
struct MeasuredRuns {
  std::string family;  // "BLOOM prequel (bigscience tr11) / A100-SXM4-80GB"
  RunTraits traits;    // gpus and what stands behind it: the largest among them
  int rows = 0;  // blind ones: 0 where all were fitted on, which tells what was measured alone
  // Of log(predicted / measured) of their steps' times, from specification: what a normal one would
  // have of which nine tenths are as small as these.
  double deviation = 0;
};

struct AlikeFamily {
  std::string name;
  int rows = 0;
  double deviation = 0;  // as MeasuredRuns::deviation, over those of its runs that are alike
};

struct Familiarity {
  // The measured runs that are most alike, of three families at least: "models with experts in 8
  // bits on h100".
  std::string alike;
  int rows = 0;
  int families = 0;
  double deviation = 0;  // of log(predicted / measured): the upper quartile over the families
  std::vector<AlikeFamily> nearest = {};  // the three of them with the most runs
  std::vector<std::string> unfamiliar;    // "no sequence of 131072 tokens was measured on h200"
  // Of these, what a layout chooses and no run of its kind had on any GPU: whoever looks for the
  // fastest layout goes where nobody has seen what the cost models leave out.
  std::vector<std::string> unlike_layout = {};

  // So many families tell it.
  Parameter error() const;
};

// "NVIDIA Megatron-Bridge", all its releases and tables on all GPUs: of a family's source the words
// before the first that has a figure or begins with a bracket.
std::string_view publisher_of(std::string_view family);

// What layouts of measured runs with experts, or without, reached.
struct LayoutReach {
  int experts_a_rank = 0;
  int micro_tokens = 0;
};
LayoutReach layout_reach(std::span<const MeasuredRuns> measured, bool experts);

// Those of the same GPU, product bits, and with or without experts; where fewer than three families
// are so, of any GPU, then of any bits, then all. Few runs tell little: their mean square is taken
// together with that of 30 runs of all models with, or without, experts. Not those of the publisher
// of the family `without`, whose other releases and tables repeat its runs. That a size or a trait
// was not measured was found to say nothing of how far a prediction is off (docs/cost.md): it is
// told, and widens nothing.
Familiarity familiarity(const RunTraits& traits, std::span<const MeasuredRuns> measured,
                        const std::string& without = {});

}  // namespace windtunnel
