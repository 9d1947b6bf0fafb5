// Robust aggregation: faulty replicas cannot spoil the gradient. Instead of a sum, each rank
// receives all replicas' gradients (or its part of all of them), decides which to trust, and
// combines these. It is a recipe like a compressor's (models/compression/recipe.hpp): kernels,
// collectives, state. Formulas: docs/physics/communication.md#robust-aggregation.
#pragma once

#include <string>

#include "models/base/choice.hpp"
#include "models/compression/recipe.hpp"

namespace windtunnel {

enum class RobustRule {
  none,          // the plain sum
  median,        // median of each coordinate (Yin et al. 2018, arXiv 1803.01498)
  trimmed_mean,  // mean without the f largest and smallest (the same paper)
  krum,          // the gradient nearest to its neighbours (Blanchard et al. 2017, arXiv 1703.02757)
  multi_krum,    // the mean of the n - f nearest
  // Iteratively reweighted least squares in the subspace that fits the gradients: Flag Aggregator
  // (Almansoori et al. 2023, arXiv 2302.05865).
  flag,
  // Momentum at each replica, and the mean of the n - f models nearest to its own (Farhadkhani et
  // al. 2022, arXiv 2210.17174).
  monna,
};
template <>
inline constexpr Choice<RobustRule> kChoices<RobustRule>[] = {
    {"none", RobustRule::none},
    {"median", RobustRule::median},
    {"trimmed-mean", RobustRule::trimmed_mean},
    {"krum", RobustRule::krum},
    {"multi-krum", RobustRule::multi_krum},
    {"flag", RobustRule::flag},
    {"monna", RobustRule::monna}};

// gathered: all gradients on all ranks, where the authors collect them at one server. sliced: each
// rank has its part of all gradients, and then gathers the result, as in an all-reduce.
enum class RobustForm { gathered, sliced };
template <>
inline constexpr Choice<RobustForm> kChoices<RobustForm>[] = {{"gathered", RobustForm::gathered},
                                                              {"sliced", RobustForm::sliced}};

struct RobustAggregation {
  RobustRule rule = RobustRule::median;
  int faulty = 1;  // f, the number of faulty replicas
  RobustForm form = RobustForm::gathered;
  int iterations = 5;  // of RobustRule::flag
};

// Why the rule cannot run on n replicas; empty: it can.
std::string why_not(const RobustAggregation& robust, int ranks);

Recipe robust_recipe(const RobustAggregation& robust, double elements, const ReducingGroup& group,
                     double element_bytes);

}  // namespace windtunnel
