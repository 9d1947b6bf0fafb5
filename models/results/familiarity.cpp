#include "models/results/familiarity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numbers>
#include <utility>

#include "models/base/quantile.hpp"
#include "models/calibration/prediction_error.hpp"

namespace windtunnel {
namespace {

constexpr int kFewestFamilies = 3;
constexpr double kLowUse = 0.15;          // of the peak, with causal attention in half
constexpr double kOneDeviation = 0.6827;  // of a normal law's values
// With this part, 90 % intervals hold nine tenths of the runs on whose hosts much depends.
constexpr double kHostPart = 1. / 3;

int product_bits(Precision precision) {
  switch (precision) {
    case Precision::nvfp4:
      return 4;
    case Precision::fp8:
    case Precision::mxfp8:
      return 8;
    case Precision::fp32:
    case Precision::tf32:
      return 32;
    default:
      return 16;
  }
}

// Degrees of similarity, from the runs most like the job to all runs.
enum class Likeness { gpu, bits, experts, any };

bool is_alike(const RunTraits& one, const RunTraits& other, Likeness likeness) {
  switch (likeness) {
    case Likeness::gpu:
      return one.gpu == other.gpu && is_alike(one, other, Likeness::bits);
    case Likeness::bits:
      return one.bits == other.bits && is_alike(one, other, Likeness::experts);
    case Likeness::experts:
      return one.experts == other.experts;
    case Likeness::any:
      break;
  }
  return true;
}

std::string alike_text(const RunTraits& traits, Likeness likeness) {
  if (likeness == Likeness::any) return "all runs";
  std::string text = traits.experts ? "models with experts" : "dense models";
  if (likeness == Likeness::experts) return text;
  text += fmt::format(" in {} bits", traits.bits);
  return likeness == Likeness::bits ? text : text + " on " + traits.gpu;
}

// Traits of a job that no run on its GPU had.
std::vector<std::string> unfamiliar(const RunTraits& traits,
                                    const std::vector<const MeasuredRuns*>& all) {
  std::vector<const MeasuredRuns*> same;
  std::ranges::copy_if(all, std::back_inserter(same),
                       [&](const MeasuredRuns* run) { return run->traits.gpu == traits.gpu; });
  if (same.empty()) return {fmt::format("no run on {} was measured", traits.gpu)};
  std::vector<std::string> lacks;
  const auto look = [&](const std::string& what, const auto& has) {
    if (std::ranges::none_of(same, [&](const MeasuredRuns* run) { return has(run->traits); })) {
      lacks.push_back(fmt::format("no {} was measured on {}", what, traits.gpu));
    }
  };
  if (traits.software != "any") {
    look(fmt::format("run of {}", traits.software),
         [&](const RunTraits& other) { return other.software == traits.software; });
  }
  look(fmt::format("product of {} bits", traits.bits),
       [&](const RunTraits& other) { return other.bits == traits.bits; });
  look(traits.experts ? "model with experts" : "dense model",
       [&](const RunTraits& other) { return other.experts == traits.experts; });
  look(traits.sharded_weights ? "sharding of weights" : "run with unsharded weights",
       [&](const RunTraits& other) { return other.sharded_weights == traits.sharded_weights; });
  if (traits.context) {
    look("context parallelism", [](const RunTraits& other) { return other.context; });
  }
  look(fmt::format("run on {} GPUs or more", traits.gpus),
       [&](const RunTraits& other) { return other.gpus >= traits.gpus; });
  look(fmt::format("sequence of {} tokens or more", traits.sequence),
       [&](const RunTraits& other) { return other.sequence >= traits.sequence; });
  return lacks;
}

std::vector<std::string> unlike_layout(const RunTraits& traits, const LayoutReach& reach) {
  std::vector<std::string> lacks;
  const auto look = [&](int own, int most, std::string_view what, std::string_view where) {
    if (own <= most) return;
    lacks.push_back(
        fmt::format("no run with {} {}{} was measured; the most is {}", own, what, where, most));
  };
  look(traits.experts_a_rank, reach.experts_a_rank, "experts of a layer", " on a rank");
  look(traits.micro_tokens, reach.micro_tokens, "tokens in a micro-batch",
       traits.experts ? " of a model with experts" : "");
  return lacks;
}

// Collects errors with their weights; neither is negative.
class Errors {
 public:
  void add(const MeasuredRuns& run, double weight) {
    for (const double error : run.errors) {
      weights_.emplace_back(error, weight / static_cast<double>(run.errors.size()));
    }
  }

  // The quantile that holds this share of the weights.
  double quantile(double share) {
    std::ranges::sort(weights_);
    double all = 0;
    for (const auto& [error, weight] : weights_) all += weight;
    double held = 0;
    for (const auto& [error, weight] : weights_) {
      held += weight;
      if (held >= share * all) return error;
    }
    return weights_.back().first;
  }

 private:
  std::vector<std::pair<double, double>> weights_;  // error, weight
};

struct FamilyError {
  int rows = 0;
  Errors errors = {};
};
using FamilyErrors = std::map<std::string, FamilyError>;

FamilyErrors errors_of(const std::vector<const MeasuredRuns*>& all, const RunTraits& traits,
                       Likeness likeness) {
  FamilyErrors errors;
  for (const MeasuredRuns* run : all) {
    if (run->rows == 0 || !is_alike(run->traits, traits, likeness)) continue;
    FamilyError& error = errors[run->family];
    error.rows += run->rows;
    error.errors.add(*run, run->rows);
  }
  return errors;
}

int rows_of(const FamilyErrors& errors) {
  int rows = 0;
  for (const auto& [family, error] : errors) rows += error.rows;
  return rows;
}

std::vector<AlikeFamily> nearest_of(FamilyErrors& errors) {
  constexpr std::size_t kMost = 3;
  std::vector<AlikeFamily> nearest;
  for (auto& [family, error] : errors) {
    nearest.push_back({family, error.rows, error.errors.quantile(kOneDeviation)});
  }
  std::ranges::stable_sort(nearest, std::greater(), &AlikeFamily::rows);
  if (nearest.size() > kMost) nearest.resize(kMost);
  return nearest;
}

double likeness_of(const RunTraits& one, const RunTraits& other, double unlike_counts) {
  const int unlike =
      (one.software != other.software) + (one.gpu_bits != other.gpu_bits) +
      (one.bits != other.bits) + (one.experts != other.experts) + (one.adapters != other.adapters) +
      (one.sharded_weights != other.sharded_weights) + (one.low_use != other.low_use);
  return std::pow(unlike_counts, unlike);
}

// A mixture of normal laws of errors; each has its mean at 0.
class Mixture {
 public:
  void add(double weight, double deviation) { laws_.emplace_back(weight, deviation); }
  bool empty() const { return laws_.empty(); }

  // Half the width of the interval that holds a share `covered`.
  double half_width(double covered) const {
    double all = 0;
    double low = 0;
    double high = 0;
    for (const auto& [weight, deviation] : laws_) {
      all += weight;
      high = std::max(high, 5 * deviation);
    }
    for (int i = 0; i < 40; ++i) {
      const double middle = (low + high) / 2;
      (within(middle) < covered * all ? low : high) = middle;
    }
    return high;
  }

 private:
  double within(double width) const {
    double sum = 0;
    for (const auto& [weight, deviation] : laws_) {
      sum += weight * std::erf(width / (deviation * std::numbers::sqrt2));
    }
    return sum;
  }

  std::vector<std::pair<double, double>> laws_;  // weight, deviation
};

Mixture mixture_of(const RunTraits& traits, const std::vector<const MeasuredRuns*>& all,
                   const LikenessLaw& law) {
  std::map<std::string_view, int> rows;  // [publisher]
  for (const MeasuredRuns* run : all) rows[publisher_of(run->family)] += run->rows;
  Mixture mixture;
  for (const MeasuredRuns* run : all) {
    if (run->rows == 0) continue;
    const double of_all = likeness_of(traits, run->traits, law.unlike) * run->rows /
                          (rows[publisher_of(run->family)] + law.few_runs);
    for (const double error : run->errors) {
      mixture.add(of_all / static_cast<double>(run->errors.size()),
                  law.beyond * std::max(error, law.least));
    }
  }
  return mixture;
}

// Finds the Student's t whose 90 % and 95 % intervals are as wide as the mixture's.
void set_deviation(const Mixture& mixture, Familiarity& found) {
  if (mixture.empty()) return;
  constexpr int kMost = 100;  // nearly normal
  const auto width_of = [](int freedom, double covered) {
    return std::log(error_factor(error_told_by(1, freedom, ""), covered));
  };
  const double width = mixture.half_width(0.9);
  const double ratio = mixture.half_width(kReportedShare) / width;
  while (found.freedom < kMost &&
         width_of(found.freedom, kReportedShare) > ratio * width_of(found.freedom, 0.9)) {
    ++found.freedom;
  }
  found.deviation = width / width_of(found.freedom, 0.9);
}

}  // namespace

RunTraits traits_of(const Job& job, std::string_view software, double hfu_causal) {
  const GpuSpec& gpu = job.cluster.node.gpu;
  return {.gpu = gpu.name,
          .software = std::string(software),
          .gpu_bits = gpu.fp4_flops.value > 0   ? 4
                      : gpu.fp8_flops.value > 0 ? 8
                                                : 16,
          .bits = product_bits(job.precision),
          .experts = job.model.moe_layers() > 0,
          .adapters = job.training != nullptr,
          .low_use = hfu_causal > 0 &&
                     hfu_causal<kLowUse, .sharded_weights = job.layout.sharding == Sharding::zero3,
                                .context = job.layout.cp> 1,
          .gpus = job.layout.ranks(),
          .sequence = job.batch.sequence,
          .experts_a_rank =
              job.model.moe_layers() > 0 ? job.model.moe.experts / std::max(1, job.layout.ep) : 0,
          .micro_tokens = job.batch.micro * (job.batch.sequence / std::max(1, job.layout.cp))};
}

bool is_like(const RunTraits& one, const RunTraits& other) {
  return is_alike(one, other, Likeness::bits) && one.sharded_weights == other.sharded_weights &&
         one.context == other.context && one.adapters == other.adapters &&
         one.low_use == other.low_use && one.software == other.software;
}

std::string_view publisher_of(std::string_view family) {
  std::string_view source = family.substr(0, family.find(" / "));
  for (const std::string_view word : {" README", " CI"})
    source = source.substr(0, source.find(word));
  const std::size_t version = source.find_first_of("0123456789(");
  if (version == std::string_view::npos) return source;
  const std::size_t word = source.rfind(' ', version);
  return source.substr(0, word == std::string_view::npos ? version : word);
}

double deviation_of(const MeasuredRuns& runs) {
  return runs.errors.empty() ? 0 : quantile_of_sorted(runs.errors, kOneDeviation);
}

std::vector<double> kept_errors(std::vector<double> errors) {
  std::ranges::sort(errors);
  const std::size_t count = errors.size();
  if (count <= kMostErrors) return errors;
  std::vector<double> kept;
  for (int i = 0; i < kMostErrors; ++i) {
    kept.push_back(quantile_of_sorted(errors, (i + 0.5) / kMostErrors));
  }
  return kept;
}

LayoutReach layout_reach(std::span<const MeasuredRuns> measured, bool experts) {
  LayoutReach reach;
  for (const MeasuredRuns& run : measured) {
    if (run.traits.experts != experts) continue;
    reach.experts_a_rank = std::max(reach.experts_a_rank, run.traits.experts_a_rank);
    reach.micro_tokens = std::max(reach.micro_tokens, run.traits.micro_tokens);
  }
  return reach;
}

Parameter Familiarity::error() const {
  return error_told_by(
      deviation, freedom,
      fmt::format("all measured runs, weighted by how similar they are (most similar: {})", alike));
}

StepSpread Familiarity::not_contained(const StepSpread& host_spread) const {
  if (families == 0) return host_spread;
  return {host_spread.shorter * kHostPart, host_spread.longer * kHostPart};
}

Familiarity familiarity(const RunTraits& traits, std::span<const MeasuredRuns> measured,
                        std::string_view without, const LikenessLaw& law) {
  std::vector<const MeasuredRuns*> others;  // of other publishers
  for (const MeasuredRuns& run : measured) {
    const bool own = !without.empty() && publisher_of(run.family) == publisher_of(without);
    if (!own) others.push_back(&run);
  }
  Familiarity found;
  found.unfamiliar = unfamiliar(traits, others);
  found.unlike_layout = unlike_layout(traits, layout_reach(measured, traits.experts));
  std::ranges::copy(found.unlike_layout, std::back_inserter(found.unfamiliar));
  for (const Likeness likeness :
       {Likeness::gpu, Likeness::bits, Likeness::experts, Likeness::any}) {
    FamilyErrors errors = errors_of(others, traits, likeness);
    found.families = static_cast<int>(errors.size());
    if (found.families < kFewestFamilies && likeness != Likeness::any) continue;
    found.alike = alike_text(traits, likeness);
    found.rows = rows_of(errors);
    found.nearest = nearest_of(errors);
    break;
  }
  set_deviation(mixture_of(traits, others, law), found);
  return found;
}

}  // namespace windtunnel
