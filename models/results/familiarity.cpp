#include "models/results/familiarity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace windtunnel {
namespace {

// Fitted on the families of docs/how-far.md, each held against the others.
constexpr double kTraitDeviation = 0.1;
constexpr double kDoublingDeviation = 0.03;

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

// What a job has and none of the runs.
class Lacks {
 public:
  Lacks(const RunTraits& traits, std::vector<const MeasuredRuns*> runs, std::string where)
      : traits_(traits), runs_(std::move(runs)), where_(std::move(where)) {}

  template <class Trait>
  void trait(Trait RunTraits::*member, const std::string& what) {
    if (std::ranges::any_of(runs_, [&](const MeasuredRuns* run) {
          return run->traits.*member == traits_.*member;
        })) {
      return;
    }
    add(kTraitDeviation, fmt::format("{} were not measured{}", what, where_));
  }

  void size(int RunTraits::*member, const std::string& what) {
    int largest = 1;
    for (const MeasuredRuns* run : runs_) largest = std::max(largest, run->traits.*member);
    const double doublings = std::log2(static_cast<double>(traits_.*member) / largest);
    if (doublings <= 0) return;
    add(kDoublingDeviation * doublings,
        fmt::format("{} {} are {:.3g} times the most that were measured{}", traits_.*member, what,
                    std::exp2(doublings), where_));
  }

  void add(double deviation, std::string text) {
    found.deviation = std::hypot(found.deviation, deviation);
    found.unfamiliar.push_back(std::move(text));
  }

  Familiarity found;

 private:
  const RunTraits& traits_;
  std::vector<const MeasuredRuns*> runs_;
  std::string where_;
};

}  // namespace

bool is_like(const RunTraits& one, const RunTraits& other) {
  return one.bits == other.bits && one.experts == other.experts &&
         one.sharded_weights == other.sharded_weights && one.context == other.context;
}

RunTraits traits_of(const Job& job) {
  return {.gpu = job.cluster.node.gpu.name,
          .bits = product_bits(job.precision),
          .experts = job.model.moe_layers() > 0,
          .sharded_weights = job.layout.sharding == Sharding::zero3,
          .context = job.layout.cp > 1,
          .gpus = job.layout.ranks(),
          .sequence = job.batch.sequence};
}

Familiarity familiarity(const RunTraits& traits, std::span<const MeasuredRuns> measured,
                        const std::string& without) {
  std::vector<const MeasuredRuns*> all;
  std::vector<const MeasuredRuns*> same;
  for (const MeasuredRuns& run : measured) {
    if (run.family == without) continue;
    all.push_back(&run);
    if (run.traits.gpu == traits.gpu) same.push_back(&run);
  }
  const bool known = !same.empty();
  Lacks lacks(traits, known ? same : all, known ? " on " + traits.gpu : "");
  if (!known) lacks.add(kTraitDeviation, fmt::format("no runs on {} were measured", traits.gpu));
  lacks.trait(&RunTraits::bits, fmt::format("products of {} bits", traits.bits));
  lacks.trait(&RunTraits::experts, traits.experts ? "models with experts" : "dense models");
  lacks.trait(&RunTraits::sharded_weights,
              traits.sharded_weights ? "sharded weights" : "weights that are not sharded");
  lacks.trait(&RunTraits::context,
              traits.context ? "sequences cut by context parallelism" : "whole sequences");
  lacks.size(&RunTraits::gpus, "GPUs");
  lacks.size(&RunTraits::sequence, "tokens in a sequence");
  std::set<std::string> families;
  for (const MeasuredRuns* run : same) {
    if (!is_like(run->traits, traits) || run->traits.gpus < traits.gpus ||
        run->traits.sequence < traits.sequence) {
      continue;
    }
    lacks.found.rows += run->rows;
    families.insert(run->family);
  }
  lacks.found.families = static_cast<int>(families.size());
  return lacks.found;
}

}  // namespace windtunnel
