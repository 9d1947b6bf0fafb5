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
  RunTraits traits;    // gpus and what stands behind it: the largest among them
  int rows = 0;  // blind ones: 0 where all were fitted on, which tells what was measured alone
  // |log(predicted / measured)| of their steps' times, from specification, ascending: kMostErrors
  // of them at most, which then stand for equal parts of the rows.
  std::vector<double> errors = {};
};
inline constexpr int kMostErrors = 20;
// Two thirds were predicted this near: one standard deviation of a normal law. 0: there are none.
double deviation_of(const MeasuredRuns& runs);
// Keeps as many of any number of errors.
std::vector<double> kept_errors(std::vector<double> errors);

struct AlikeFamily {
  std::string name;
  int rows = 0;
  // Two thirds of its runs that are alike were predicted this near, as one standard deviation of a
  // normal law says: the few that were measured on broken machines do not show in it.
  double deviation = 0;
};

struct Familiarity {
  // The measured runs that are most alike, of three families at least: "models with experts in 8
  // bits on h100".
  std::string alike;
  int rows = 0;
  int families = 0;
  // The standard deviation of log(predicted / measured), and how many errors would tell it as well:
  // Student's t with both has the 90 % and 95 % intervals of the law below.
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
// before the first that has a figure, begins with a bracket, or is README or CI.
std::string_view publisher_of(std::string_view family);

// What layouts of measured runs with experts, or without, reached.
struct LayoutReach {
  int experts_a_rank = 0;
  int micro_tokens = 0;
};
LayoutReach layout_reach(std::span<const MeasuredRuns> measured, bool experts);

// How much a run counts for a job, and how much further the runs of another publisher are off.
// Chosen by cross-validation over publishers, by the score of their 90 % intervals, and `beyond` so
// that these hold that share of the runs of a publisher that is left out ("How sure" of
// docs/physics/cost.md).
struct LikenessLaw {
  double unlike = 0.1;   // for each trait that differs
  double few_runs = 20;  // a publisher's n runs count n / (n + few_runs) together
  double beyond = 1.55;  // times the error of a run
  double least = 0.02;   // log: two sites measure the same job no nearer
};

// The error of a job is taken to be that of a run drawn from all measured ones, the more alike the
// likelier: for each of GPU generation, product bits, experts, adapters, sharding of weights and
// size that differs a run counts LikenessLaw::unlike. Large sets do not decide alone. A run's own
// error is the deviation of a normal law around 0, and intervals are those of the mixture: narrow
// where what is alike was predicted well by all, wide where it was not or little is alike. A few
// runs that were off by a factor of ten on broken machines widen the tails and not the middle.
//
// `without`: a family whose publisher's runs are left out, in all releases and tables and on all
// GPUs. A user's job is of no publisher, so that this is how intervals are judged.
//
// `alike`, `rows`, `families` and `nearest` name runs of the same GPU, product bits, and with or
// without experts; where fewer than three families are so, of any GPU, then of any bits, then all.
// That a size or a trait was not measured on this GPU is told, and widens nothing.
Familiarity familiarity(const RunTraits& traits, std::span<const MeasuredRuns> measured,
                        std::string_view without = {}, const LikenessLaw& law = {});

}  // namespace windtunnel
