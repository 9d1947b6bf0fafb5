#include "models/results/familiarity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "models/base/quantile.hpp"

namespace windtunnel {
namespace {

constexpr int kFewestFamilies = 3;
// Three of four families were predicted as well or better. The mean square would be that of the one
// whose tiny models on hundreds of GPUs wait for all but the GPUs.
constexpr double kQuartile = 0.75;

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

// From most alike to all.
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

// What a job has and none of the runs on its GPU.
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
  look(fmt::format("product of {} bits", traits.bits),
       [&](const RunTraits& other) { return other.bits == traits.bits; });
  look(traits.experts ? "model with experts" : "dense model",
       [&](const RunTraits& other) { return other.experts == traits.experts; });
  look(traits.sharded_weights ? "sharding of weights" : "run with whole weights",
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
        fmt::format("no run with {} {}{} was measured, {} at most", own, what, where, most));
  };
  look(traits.experts_a_rank, reach.experts_a_rank, "experts of a layer", " on a rank");
  look(traits.micro_tokens, reach.micro_tokens, "tokens in a micro-batch",
       traits.experts ? " of a model with experts" : "");
  return lacks;
}

// Of runs of one or more kinds.
struct FamilyError {
  int rows = 0;
  double squares = 0;  // their sum

  double deviation() const { return std::sqrt(squares / rows); }
};
using FamilyErrors = std::map<std::string, FamilyError>;

FamilyErrors errors_of(const std::vector<const MeasuredRuns*>& all, const RunTraits& traits,
                       Likeness likeness) {
  FamilyErrors errors;
  for (const MeasuredRuns* run : all) {
    if (run->rows == 0 || !is_alike(run->traits, traits, likeness)) continue;
    FamilyError& error = errors[run->family];
    error.rows += run->rows;
    error.squares += run->rows * run->deviation * run->deviation;
  }
  return errors;
}

int rows_of(const FamilyErrors& errors) {
  int rows = 0;
  for (const auto& [family, error] : errors) rows += error.rows;
  return rows;
}

double quartile_of(const FamilyErrors& errors) {
  std::vector<double> deviations;
  for (const auto& [family, error] : errors) deviations.push_back(error.deviation());
  return deviations.empty() ? 0 : quantile(std::move(deviations), kQuartile);
}

std::vector<AlikeFamily> nearest_of(const FamilyErrors& errors) {
  constexpr std::size_t kMost = 3;
  std::vector<AlikeFamily> nearest;
  for (const auto& [family, error] : errors) {
    nearest.push_back({family, error.rows, error.deviation()});
  }
  std::ranges::stable_sort(nearest, std::greater(), &AlikeFamily::rows);
  if (nearest.size() > kMost) nearest.resize(kMost);
  return nearest;
}

// Runs of the wider kind that count beside those that are most alike.
constexpr double kWiderRuns = 30;

}  // namespace

RunTraits traits_of(const Job& job) {
  return {.gpu = job.cluster.node.gpu.name,
          .bits = product_bits(job.precision),
          .experts = job.model.moe_layers() > 0,
          .sharded_weights = job.layout.sharding == Sharding::zero3,
          .context = job.layout.cp > 1,
          .gpus = job.layout.ranks(),
          .sequence = job.batch.sequence,
          .experts_a_rank =
              job.model.moe_layers() > 0 ? job.model.moe.experts / std::max(1, job.layout.ep) : 0,
          .micro_tokens = job.batch.micro * (job.batch.sequence / std::max(1, job.layout.cp))};
}

bool is_like(const RunTraits& one, const RunTraits& other) {
  return is_alike(one, other, Likeness::bits) && one.sharded_weights == other.sharded_weights &&
         one.context == other.context;
}

std::string_view publisher_of(std::string_view family) {
  const std::string_view source = family.substr(0, family.find(" / "));
  const std::size_t version = source.find_first_of("0123456789(");
  if (version == std::string_view::npos) return source;
  const std::size_t word = source.rfind(' ', version);
  return source.substr(0, word == std::string_view::npos ? version : word);
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
  return error_told_by(deviation, std::max(families, 1), alike);
}

Familiarity familiarity(const RunTraits& traits, std::span<const MeasuredRuns> measured,
                        const std::string& without) {
  std::vector<const MeasuredRuns*> all;
  for (const MeasuredRuns& run : measured) {
    if (without.empty() || publisher_of(run.family) != publisher_of(without)) all.push_back(&run);
  }
  Familiarity found;
  found.unfamiliar = unfamiliar(traits, all);
  found.unlike_layout = unlike_layout(traits, layout_reach(measured, traits.experts));
  std::ranges::copy(found.unlike_layout, std::back_inserter(found.unfamiliar));
  for (const Likeness likeness :
       {Likeness::gpu, Likeness::bits, Likeness::experts, Likeness::any}) {
    const FamilyErrors errors = errors_of(all, traits, likeness);
    found.families = static_cast<int>(errors.size());
    if (found.families < kFewestFamilies && likeness != Likeness::any) continue;
    found.alike = alike_text(traits, likeness);
    found.rows = rows_of(errors);
    found.nearest = nearest_of(errors);
    const double own = quartile_of(errors);
    const double wider = quartile_of(errors_of(all, traits, std::max(likeness, Likeness::experts)));
    found.deviation = std::sqrt((found.rows * own * own + kWiderRuns * wider * wider) /
                                (found.rows + kWiderRuns));
    break;
  }
  return found;
}

}  // namespace windtunnel
