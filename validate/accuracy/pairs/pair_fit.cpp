#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "validate/accuracy/pairs/pair_variation.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {
namespace {

// A pair met contention if it takes longer than fast pairs by more than this share. Distance alone
// causes up to a tenth.
constexpr double kContended = 0.15;
constexpr int kMostUplinks = 16;
constexpr int kFitDraws = 1000;

struct JobKey {
  CollectiveKind kind;
  int gpus_per_node;
  auto operator<=>(const JobKey&) const = default;
};

// Stores a pair's bus bandwidths by message size in bytes, for one kind of job.
struct PairCurve {
  PairPoint pair;
  std::map<double, double> busbw_Bps;
  double flat_Bps = 0;  // geometric mean over flat sizes, or over all sizes if there are none
};

using Curves = std::map<JobKey, std::vector<PairCurve>>;

void set_flat(PairCurve& curve) {
  double sum = 0;
  int count = 0;
  const double smallest = curve.busbw_Bps.begin()->first;
  for (const auto& [bytes, busbw_Bps] : curve.busbw_Bps) {
    if (late_bytes(bytes) > 0 && bytes > smallest) continue;
    sum += std::log(busbw_Bps);
    ++count;
  }
  curve.flat_Bps = std::exp(sum / count);
}

Curves fitted_curves(const PairMachine& machine) {
  std::map<JobKey, std::map<std::pair<int, int>, PairCurve>> gathered;
  for (const PairSeries& series : machine.series) {
    if (!fitted_size(series.bytes)) continue;
    for (const PairPoint& point : series.points) {
      PairCurve& curve = gathered[{series.kind, series.gpus_per_node}][{point.a, point.b}];
      curve.pair = point;
      curve.busbw_Bps[series.bytes] = point.busbw_Bps;
    }
  }
  Curves curves;
  for (auto& [key, pairs] : gathered) {
    for (auto& [nodes, curve] : pairs) {
      set_flat(curve);
      curves[key].push_back(curve);
    }
  }
  return curves;
}

// Takes the median of the faster half of the pairs, which are assumed free of contention.
double fastest(const std::vector<PairCurve>& curves) {
  std::vector<double> values;
  values.reserve(curves.size());
  for (const PairCurve& curve : curves) values.push_back(curve.flat_Bps);
  return quantile(values, 0.75);
}

bool contended(const PairCurve& curve, double fast_Bps) {
  return fast_Bps / curve.flat_Bps - 1 > kContended;
}

// Counts the pairs between two groups of nodes, and how many of them met no contention.
struct Between {
  int pairs = 0;
  int clear = 0;
  double share() const { return pairs == 0 ? 0 : static_cast<double>(clear) / pairs; }
};

// Finds leaves from jobs of whole nodes: joins groups, the closest first, as long as most pairs
// between them met no contention. (Pairs across leaves may avoid contention by chance.)
std::vector<int> find_leaves(const PairMachine& machine, const std::vector<PairCurve>& curves) {
  const auto nodes = static_cast<int>(machine.nodes.size());
  std::vector<int> leaf(nodes);
  std::iota(leaf.begin(), leaf.end(), 0);
  const double fast = fastest(curves);
  while (true) {
    std::map<std::pair<int, int>, Between> groups;
    for (const PairCurve& curve : curves) {
      const auto key = std::minmax(leaf[curve.pair.a], leaf[curve.pair.b]);
      if (key.first == key.second) continue;
      Between& between = groups[key];
      ++between.pairs;
      between.clear += contended(curve, fast) ? 0 : 1;
    }
    const auto closest = std::ranges::max_element(
        groups, {}, [](const auto& group) { return group.second.share(); });
    if (closest == groups.end() || closest->second.share() <= 0.5) break;
    std::ranges::replace(leaf, closest->first.second, closest->first.first);
  }
  std::map<int, int> number;
  for (int& one : leaf) one = number.emplace(one, static_cast<int>(number.size())).first->second;
  return leaf;
}

// Returns the medians of pairs without contention, within leaves and across. If most pairs of one
// kind met contention, the others of that kind are not representative, and the other kind's median
// is used.
ClearLevel clear_level(const PairVariation& variation, JobKey key,
                       const std::vector<PairCurve>& curves) {
  const double fast = fastest(curves);
  std::array<std::vector<double>, 2> clear;
  std::array<size_t, 2> all{};
  for (const PairCurve& curve : curves) {
    const bool across = variation.across(curve.pair);
    ++all[across];
    if (!contended(curve, fast)) clear[across].push_back(curve.flat_Bps);
  }
  const auto share = [&](int across) {
    return all[across] == 0
               ? 0
               : static_cast<double>(clear[across].size()) / static_cast<double>(all[across]);
  };
  const int clearer = share(1) > share(0) ? 1 : 0;
  const auto level = [&](int across) {
    return quantile(clear[share(across) >= 0.5 ? across : clearer], 0.5);
  };
  return {key.kind, key.gpus_per_node, level(0), level(1)};
}

double rate_at(const PairVariation& variation, const ClearLevel& level, const PairPoint& pair) {
  return variation.across(pair) ? level.across_Bps : level.same_leaf_Bps;
}

// The evidence of all-to-alls across leaves about the uplinks.
struct UplinkEvidence {
  std::vector<double> excess;  // of jobs of whole nodes
  std::vector<double> growth;
  int part_gpus = 0;  // the next smaller number of GPUs per node; 0: no such jobs
  // How much larger the share of these jobs with contention is than within a leaf.
  double part_share = 0;
};

double share_above(const std::vector<double>& values, double bound) {
  const auto above = std::ranges::count_if(values, [&](double value) { return value > bound; });
  return static_cast<double>(above) / static_cast<double>(values.size());
}

// Returns for each draw the load of the busiest uplink in an all-to-all, relative to a NIC's
// capacity.
std::vector<double> busiest_uplinks(int node_gpus, int gpus_per_node, int uplinks) {
  PairVariation narrow;
  narrow.node_gpus = node_gpus;
  narrow.uplinks = uplinks;
  narrow.uplink_nics = 0.01;  // always the bottleneck
  std::vector<double> loads =
      uplink_excess(narrow, CollectiveKind::all_to_all, gpus_per_node, kFitDraws);
  for (double& load : loads) load = (1 + load) * narrow.uplink_nics;
  return loads;
}

// For each number of uplinks, their width follows from the median excess. The number follows from
// the other quantiles and from the share of smaller jobs that collide.
void fit_uplinks(const UplinkEvidence& evidence, PairVariation& variation) {
  const double median = 1 + quantile(evidence.excess, 0.5);
  double least = std::numeric_limits<double>::infinity();
  for (int uplinks = 1; uplinks <= kMostUplinks; ++uplinks) {
    const std::vector<double> loads =
        busiest_uplinks(variation.node_gpus, variation.node_gpus, uplinks);
    const double nics = quantile(loads, 0.5) / median;
    double misfit = 0;
    for (const double at : {0.1, 0.25, 0.75, 0.9}) {
      const double excess = std::max(1.0, quantile(loads, at) / nics) - 1;
      misfit += std::pow(excess - quantile(evidence.excess, at), 2);
    }
    if (evidence.part_gpus > 0) {
      const double share =
          share_above(busiest_uplinks(variation.node_gpus, evidence.part_gpus, uplinks),
                      (1 + kContended) * nics);
      misfit += std::pow(share - evidence.part_share, 2);
    }
    if (misfit >= least) continue;
    least = misfit;
    variation.uplinks = uplinks;
    variation.uplink_nics = nics;
  }
}

// Jobs that leave GPUs to others: how many of each size met contention, and the excess. Index 1 is
// for jobs that load several NICs at once.
struct SharedJobs {
  std::map<int, std::array<int, 2>> contended_of;  // [GPUs per node] {with contention, all}
  std::array<std::vector<double>, 2> excess;
  std::array<std::vector<double>, 2> growth;
};

ContentionGrowth fit_growth(const std::vector<double>& growths) {
  std::vector<double> logs;
  for (const double growth : growths) {
    if (growth > 0) logs.push_back(std::log(growth));
  }
  if (logs.empty()) return {};
  // Half of a normal distribution lies within 1.349 standard deviations.
  return {std::exp(quantile(logs, 0.5)), (quantile(logs, 0.75) - quantile(logs, 0.25)) / 1.349};
}

// Maximum likelihood: a job with g GPUs per node uses 2 g NICs, and none of these is shared with
// probability (1 - share)^(2 g).
double shared_nic_share(const SharedJobs& jobs) {
  double best = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (double share = 1e-4; share < 0.5; share *= 1.01) {
    double likelihood = 0;
    for (const auto& [gpus, counts] : jobs.contended_of) {
      const double none = 2 * gpus * std::log1p(-share);
      likelihood += counts[0] * std::log(-std::expm1(none)) + (counts[1] - counts[0]) * none;
    }
    if (likelihood <= most) continue;
    most = likelihood;
    best = share;
  }
  return best;
}

void fit_shared_nics(const SharedJobs& jobs, PairVariation& variation) {
  const auto& [single, several] = jobs.excess;
  if (single.empty() && several.empty()) return;
  if (!single.empty() && !several.empty()) {
    variation.felt_excess[1] = std::min(1.0, quantile(several, 0.5) / quantile(single, 0.5));
  }
  NicVariation& nics = variation.shared_nics;
  nics.slow_share = shared_nic_share(jobs);
  const auto count = static_cast<double>(single.size() + several.size());
  double mean = 0;
  double square = 0;
  for (const int loaded : {0, 1}) {
    for (const double excess : jobs.excess[loaded]) {
      const double slowdown = std::log1p(excess / variation.felt_excess[loaded]);
      mean -= slowdown / count;
      square += slowdown * slowdown / count;
    }
    variation.nic_growth[loaded] = fit_growth(jobs.growth[loaded]);
  }
  nics.slow_factor = std::exp(mean);
  nics.slow_sigma = std::sqrt(std::max(0.0, square - mean * mean));
}

// Appends the growth per late byte, by least squares relative to the flat sizes. Appends nothing if
// all sizes are flat.
void append_growth(const PairCurve& curve, double clear_Bps, std::vector<double>& growths) {
  double product = 0;
  double square = 0;
  for (const auto& [bytes, busbw_Bps] : curve.busbw_Bps) {
    const double late = late_bytes(bytes);
    product += late * (clear_Bps / busbw_Bps - clear_Bps / curve.flat_Bps);
    square += late * late;
  }
  if (square > 0) growths.push_back(product / square);
}

void add_shared_jobs(const PairVariation& variation, const ClearLevel& level,
                     const std::vector<PairCurve>& pairs, SharedJobs& jobs) {
  const double fast = fastest(pairs);
  const bool several = loads_several_nics(level.kind, level.gpus_per_node);
  auto& [slow, all] = jobs.contended_of[level.gpus_per_node];
  for (const PairCurve& curve : pairs) {
    ++all;
    if (!contended(curve, fast)) continue;
    ++slow;
    const double clear_Bps = rate_at(variation, level, curve.pair);
    jobs.excess[several].push_back(clear_Bps / curve.flat_Bps - 1);
    append_growth(curve, clear_Bps, jobs.growth[several]);
  }
}

void add_whole_jobs(const PairVariation& variation, const ClearLevel& level,
                    const std::vector<PairCurve>& pairs, UplinkEvidence& uplinks) {
  for (const PairCurve& curve : pairs) {
    if (!variation.across(curve.pair)) continue;
    const double clear_Bps = rate_at(variation, level, curve.pair);
    uplinks.excess.push_back(std::max(0.0, clear_Bps / curve.flat_Bps - 1));
    append_growth(curve, clear_Bps, uplinks.growth);
  }
}

void add_part_jobs(const PairVariation& variation, JobKey key, const std::vector<PairCurve>& pairs,
                   UplinkEvidence& uplinks) {
  const double fast = fastest(pairs);
  std::array<double, 2> slow{};
  std::array<double, 2> all{};
  for (const PairCurve& curve : pairs) {
    const bool across = variation.across(curve.pair);
    ++all[across];
    if (contended(curve, fast)) ++slow[across];
  }
  if (all[0] == 0 || all[1] == 0 || key.gpus_per_node < uplinks.part_gpus) return;
  uplinks.part_gpus = key.gpus_per_node;
  uplinks.part_share = std::max(0.0, slow[1] / all[1] - slow[0] / all[0]);
}

}  // namespace

bool fitted_size(double bytes) {
  return static_cast<int>(std::lround(std::log2(bytes))) % 2 != 0;
}

PairVariation fit_pair_variation(const PairMachine& machine) {
  const Curves curves = fitted_curves(machine);
  PairVariation variation;
  variation.node_gpus = machine.node_gpus();
  const auto whole = curves.find({CollectiveKind::all_to_all, variation.node_gpus});
  if (whole == curves.end()) {
    throw Error(
        fmt::format("{}: there is no all-to-all of {} GPUs per node at 2^k bytes with odd k, from "
                    "which leaves are found",
                    machine.name, variation.node_gpus));
  }
  variation.leaf = find_leaves(machine, whole->second);
  variation.leaves = *std::ranges::max_element(variation.leaf) + 1;
  UplinkEvidence uplinks;
  SharedJobs shared;
  for (const auto& [key, pairs] : curves) {
    const ClearLevel level = clear_level(variation, key, pairs);
    variation.levels.push_back(level);
    if (key.gpus_per_node < variation.node_gpus) {
      add_shared_jobs(variation, level, pairs, shared);
      if (key.kind == CollectiveKind::all_to_all) add_part_jobs(variation, key, pairs, uplinks);
    } else if (key == whole->first) {
      add_whole_jobs(variation, level, pairs, uplinks);
    }
  }
  fit_shared_nics(shared, variation);
  if (!uplinks.excess.empty()) {
    fit_uplinks(uplinks, variation);
    variation.uplink_growth = fit_growth(uplinks.growth);
  }
  return variation;
}

}  // namespace windtunnel
