// How similar a job is to the training runs that predictions were compared with, and how far off
// the predictions of the most similar runs were.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/prediction_error.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// The traits of a run that decide which measured runs count as similar.
struct RunTraits {
  std::string gpu;       // of the library
  std::string software;  // of the library: the entry that the run's software derives from
  int gpu_bits = 16;     // fewest bits that its matrix units support: tells generations apart
  int bits = 16;         // of what the matrix products read
  bool experts = false;
  bool adapters = false;         // only adapters or another part of the model are trained
  bool low_use = false;          // so little of the GPU's peak is used that waits decide
  bool sharded_weights = false;  // gathered layer by layer (ZeRO-3, FSDP)
  bool context = false;          // sequences are cut over context parallelism
  int gpus = 1;
  int sequence = 1;
  int experts_a_rank = 0;  // of a layer; 0: no experts
  int micro_tokens = 0;    // of a micro-batch, on one rank of context parallelism
};
// `hfu_causal`: of the predicted step, as in IterationReport; 0: not known.
RunTraits traits_of(const Job& job, std::string_view software, double hfu_causal);
bool is_like(const RunTraits& one, const RunTraits& other);  // ignores GPU and sizes

// Measured runs of one source that have the same traits apart from sizes.
struct MeasuredRuns {
  std::string family;  // "BLOOM prequel (bigscience tr11) / A100-SXM4-80GB"
  RunTraits traits;    // gpus and the members after it hold the largest value among the runs
  int rows = 0;        // that no fit used; 0: all were fitted on and only show what was measured
  // |log(predicted / measured)| of their step times, with peaks from specifications, ascending. At
  // most kMostErrors values; if there are more rows, each value stands for an equal part of them.
  std::vector<double> errors = {};
};
inline constexpr int kMostErrors = 20;
// The standard deviation that a normal law has if two thirds of its values are as near to 0 as two
// thirds of these errors. 0: there are none.
double deviation_of(const MeasuredRuns& runs);
// Returns at most kMostErrors quantiles that represent the errors.
std::vector<double> kept_errors(std::vector<double> errors);

struct AlikeFamily {
  std::string name;
  int rows = 0;
  // As deviation_of(), for its similar runs. A few runs on broken machines do not change it.
  double deviation = 0;
};

struct Familiarity {
  // The most similar measured runs, from at least three families: "models with experts in 8 bits on
  // h100".
  std::string alike;
  int rows = 0;
  int families = 0;
  // Standard deviation of log(predicted / measured), and degrees of freedom. Student's t with both
  // has the 90 % and 95 % intervals of the law below.
  double deviation = 0;
  int freedom = 1;
  std::vector<AlikeFamily> nearest = {};  // the three most similar families with the most runs
  std::vector<std::string> unfamiliar;    // "no sequence of 131072 tokens was measured on h200"
  // The entries of `unfamiliar` about the layout: no measured run on any GPU, with experts or
  // without as the job, reached as far. A search for the fastest layout is biased towards these,
  // because no measurement shows what the cost models omit there.
  std::vector<std::string> unlike_layout = {};

  Parameter error() const;
  // The part of the host's spread that this error does not contain: all of it if no measured runs
  // tell the error, and otherwise a third, because the hosts of these runs differed as well.
  StepSpread not_contained(const StepSpread& host_spread) const;
};

// The publisher in a family's name: "NVIDIA Megatron-Bridge" for all releases, tables and GPUs. It
// ends before the first word that contains a digit, begins with a bracket, or is README or CI.
std::string_view publisher_of(std::string_view family);

// The largest values among layouts of measured runs with experts, or without.
struct LayoutReach {
  int experts_a_rank = 0;
  int micro_tokens = 0;
};
LayoutReach layout_reach(std::span<const MeasuredRuns> measured, bool experts);

// How much a run counts for a job, and how much larger errors are for another publisher's runs. The
// constants are chosen by cross-validation over publishers, by the score of their 90 % intervals;
// with `beyond` these intervals hold at least 90 % of a left-out publisher's runs ("How sure" in
// docs/physics/cost.md).
struct LikenessLaw {
  double unlike = 0.1;   // for each trait that differs
  double few_runs = 20;  // the n runs of a publisher together count n / (n + few_runs)
  double beyond = 1.35;  // factor on the error of a run
  double least = 0.02;   // log; the same job measured at two sites differs by at least this
};

// The error of a job is assumed to be that of a run drawn from all measured ones, with more weight
// on similar runs: each of software, GPU generation, product bits, experts, adapters, sharding of
// weights and low use that differs multiplies the weight by LikenessLaw::unlike. Large data sets do
// not dominate. A run's error is the deviation of a normal law around 0, and intervals are those of
// the mixture: narrow where similar runs were predicted well, wide where they were not or where few
// runs are similar. A few runs that were off by a factor of ten on broken machines widen the tails,
// not the middle.
//
// `without`: leaves out the publisher of this family with all its releases, tables and GPUs.
// Intervals are judged in this way, since a user's job belongs to no publisher.
//
// `alike`, `rows`, `families` and `nearest` describe runs on the same GPU with the same product
// bits, with experts only if the job has them. If fewer than three families qualify, runs on any
// GPU count; then runs with any bits; then all runs. A size or trait that was not measured on this
// GPU is reported, but does not widen the interval.
Familiarity familiarity(const RunTraits& traits, std::span<const MeasuredRuns> measured,
                        std::string_view without = {}, const LikenessLaw& law = {});

}  // namespace windtunnel
