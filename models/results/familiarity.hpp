// How far a job lies from the training runs that predictions were held against, and how far off
// those that are most alike were.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

// The traits of a run that decide which measured runs count as similar.
struct RunTraits {
  std::string gpu;    // of the library
  int gpu_bits = 16;  // the fewest that its matrix units read: tells generations apart
  int bits = 16;      // of what the matrix products read
  bool experts = false;
  bool adapters = false;         // or another part of the model alone is trained
  bool small = false;            // so few parameters that the host and latencies decide
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
  std::string model;   // "8192x80": width and layers
  RunTraits traits;    // gpus and what stands behind it: the largest among them
  int rows = 0;  // blind ones: 0 where all were fitted on, which tells what was measured alone
  // Root mean square of log(predicted / measured) of their step times, predicted from
  // specification.
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
  // Standard deviation of log(predicted / measured), and the degrees of freedom with which
  // Student's t has the 90 % and 95 % intervals of the mixture below.
  double deviation = 0;
  int freedom = 1;
  std::vector<AlikeFamily> nearest = {};  // the three of them with the most runs
  std::vector<std::string> unfamiliar;    // "no sequence of 131072 tokens was measured on h200"
  // Those among `unfamiliar` that a layout chooses and that no run of its kind had on any GPU. A
  // search for the fastest layout favours them, because nothing measured shows what the cost models
  // leave out.
  std::vector<std::string> unlike_layout = {};

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

// What a width is judged without: the runs of this model that the family's publisher made, in any
// of its releases and tables; all that it made where `model` is empty. Empty: nothing.
struct RunsLeftOut {
  std::string family;
  std::string model;
};
std::string model_key(const TransformerSpec& model);  // MeasuredRuns::model

// The error of a job is taken to be that of a run drawn from all measured ones, the more alike the
// likelier: for each of GPU generation, product bits, experts, adapters, sharding of weights and
// size that differs a run counts a fifth, and five times where its publisher is that of `without`,
// whose software and machines the job shares. A publisher's n runs count n / (n + 5) together, so
// that large sets do not decide alone. Intervals are those of this mixture of normal laws: narrow
// where what is alike was predicted well by all, wide where it was not or little is alike.
//
// `alike`, `rows`, `families` and `nearest` name runs of the same GPU, product bits, and with or
// without experts; where fewer than three families are so, of any GPU, then of any bits, then all.
// That a size or a trait was not measured on this GPU is told, and widens nothing.
Familiarity familiarity(const RunTraits& traits, std::span<const MeasuredRuns> measured,
                        const RunsLeftOut& without = {});

}  // namespace windtunnel
