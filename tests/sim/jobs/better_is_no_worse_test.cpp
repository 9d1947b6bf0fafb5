// In jobs composed of any keys, an improvement of one quantity makes no figure worse. A table of
// relations is tested on 500 jobs; if one may break, its row says why, and allowance() by how much.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/cost/memory/gradient_buffers.hpp"
#include "models/cost/memory/memory.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/simulate.hpp"
#include "tests/sim/jobs/random_job.hpp"

namespace windtunnel {
namespace {

constexpr int kRelationJobs = 500;
constexpr int kRelationBlocks = 25;  // blocks run in parallel
constexpr double kEqual = 1e-9;      // rounding of a sum
// Bounds the rounding of the ratio of two sums of positive terms that were rounded at most 32 times
// each.
constexpr double kSummed = 2 * 32 * (std::numeric_limits<double>::epsilon() / 2);
constexpr double kMoved = 0.03;  // largest share by which the reasons below made a step longer

constexpr double kMovedByLinks = 1e-4;  // the same for links, which change no kernel

enum class Figure {
  step,     // seconds: smaller is better
  goodput,  // larger is better
  memory,   // bytes of the fullest GPU: smaller is better
  fits      // a job that fits must go on fitting
};

// Reasons why a relation may break; allowed_breaks_test.cpp shows each in one small job.
enum class Breaks {
  never,
  // The GPU's wait for its host is counted for a pass and spread over its parts
  // (docs/physics/cost.md).
  by_host,
  // The tuner picks each collective's algorithm as if it were alone, so others may get a smaller
  // share.
  by_share,
  // NCCL's tuner picks algorithm and wire format by its model of the links, not by the time that
  // they take, so the test fixes them for all sizes. MG-WFBP and ASC merge buckets by the law of a
  // dense reduction, so the test turns merging off.
  by_tuner,
  // Changed times move the snapshots and failures of a trial, which makes it another sample.
  by_chance,
  // Whole gradients that wait to be scattered use memory in addition to the rank's shard
  // (docs/physics/gradients.md).
  by_shard
};

struct BetterRow {
  const char* name;
  Figure figure;
  Breaks breaks;
  std::function<bool(Job&)> change;  // false: not applicable to the job
  const char* key = nullptr;  // the row applies only if the reader accepts this key and value
  const char* value = nullptr;
};

void each_node(Job& job, const std::function<void(NodeSpec&)>& change) {
  change(job.cluster.node);
  change(job.cluster.shared);
  for (Pool& pool : job.cluster.pools) change(pool.node);
}

BetterRow of_node(const char* name, Parameter NodeSpec::*of) {
  return {name, Figure::step, Breaks::by_tuner, [of](Job& job) {
            each_node(job, [of](NodeSpec& node) { (node.*of).value *= 2; });
            return true;
          }};
}

BetterRow of_gpu(const char* name, std::vector<Parameter GpuSpec::*> all, Figure figure,
                 Breaks breaks) {
  return {name, figure, breaks, [all = std::move(all)](Job& job) {
            each_node(job, [&](NodeSpec& node) {
              for (Parameter GpuSpec::*of : all) (node.gpu.*of).value *= 2;
            });
            return true;
          }};
}

BetterRow calibrated(const char* name, Breaks breaks, std::vector<Parameter Calibration::*> all) {
  return {name, Figure::step, breaks, [all = std::move(all)](Job& job) {
            for (Parameter Calibration::*of : all) {
              (job.calibration.*of).value = 0;
              for (Calibration& pool : job.pool_calibrations) (pool.*of).value = 0;
            }
            return true;
          }};
}

BetterRow of_fabric(const char* name, std::function<bool(Cluster&)> change) {
  return {name, Figure::step, Breaks::never,
          [change = std::move(change)](Job& job) { return change(job.cluster); }};
}

BetterRow campaign(const char* name, std::function<bool(Job&)> change,
                   Breaks breaks = Breaks::never) {
  return {name, Figure::goodput, breaks, std::move(change)};
}

// Shards one level more. The rest of the job stays; defaults of its software change with the level.
BetterRow sharded(const char* name, Sharding from, Sharding to, const char* value) {
  return {name,
          Figure::memory,
          to == Sharding::zero2 ? Breaks::by_shard : Breaks::never,
          [=](Job& job) {
            if (job.layout.sharding != from) return false;
            job.layout.sharding = to;
            return true;
          },
          "layout.sharding",
          value};
}

const std::vector<BetterRow>& better_rows() {
  static const std::vector<BetterRow> all = {
      of_node("NICs of twice the bandwidth", &NodeSpec::nic_Bps),
      of_node("NVLink of twice the bandwidth", &NodeSpec::nvlink_Bps),
      of_node("PCIe of twice the bandwidth", &NodeSpec::pcie_Bps),
      of_node("host memory of twice the bandwidth", &NodeSpec::host_memory_Bps),
      of_gpu("GPU memory of twice the bandwidth", {&GpuSpec::memory_Bps}, Figure::step,
             Breaks::by_host),
      of_gpu("GPUs of twice the peak",
             {&GpuSpec::fp32_flops, &GpuSpec::tf32_flops, &GpuSpec::fp16_flops,
              &GpuSpec::bf16_flops, &GpuSpec::fp8_flops, &GpuSpec::fp4_flops},
             Figure::step, Breaks::by_host),
      of_gpu("twice the GPU memory, of the step", {&GpuSpec::memory_bytes}, Figure::step,
             Breaks::never),
      of_gpu("twice the GPU memory, of what fits", {&GpuSpec::memory_bytes}, Figure::fits,
             Breaks::never),
      calibrated("collectives and messages launched in no time", Breaks::never,
                 {&Calibration::collective_launch_s, &Calibration::p2p_launch_s}),
      calibrated("steps of collectives without latency", Breaks::by_share,
                 {&Calibration::nic_latency_s, &Calibration::nvlink_latency_s}),
      of_fabric("switches and sites without latency",
                [](Cluster& cluster) {
                  cluster.fabric.hop_latency_s.value = 0;
                  cluster.fabric.wan_latency_s.value = 0;
                  return true;
                }),
      of_fabric("sites joined by twice the bandwidth",
                [](Cluster& cluster) {
                  cluster.fabric.wan_Bps.value *= 2;
                  return cluster.fabric.wan_Bps.value > 0;
                }),
      of_fabric("uplinks that are not oversubscribed",
                [](Cluster& cluster) {
                  double& pod = cluster.fabric.pod_oversubscription;
                  double& leaf = cluster.fabric.leaf_oversubscription;
                  const bool any = pod != 1 || leaf != 1;
                  pod = leaf = 1;
                  return any;
                }),
      of_fabric(
          "nobody else on the network",
          [](Cluster& cluster) { return !std::exchange(cluster.fabric.background, {}).empty(); }),
      of_fabric("no faults of links",
                [](Cluster& cluster) {
                  const bool links = !std::exchange(cluster.fabric.faults, {}).empty();
                  return !std::exchange(cluster.degraded_nics, {}).empty() || links;
                }),
      of_fabric("no slow nodes",
                [](Cluster& cluster) { return !std::exchange(cluster.slow_nodes, {}).empty(); }),
      {"a host that takes half as long for an operation", Figure::step, Breaks::never,
       [](Job& job) {
         job.software.host_share /= 2;
         return true;
       }},
      sharded("the optimizer divided", Sharding::none, Sharding::zero1, "zero1"),
      sharded("gradients divided, too", Sharding::zero1, Sharding::zero2, "zero2"),
      sharded("weights divided, too", Sharding::zero2, Sharding::zero3, "zero3"),
      campaign("an older copy kept, too",
               [](Job& job) {
                 for (SnapshotTier& tier : job.snapshots) ++tier.kept;
                 return !job.snapshots.empty();
               }),
      campaign("failures half as often",
               [](Job& job) {
                 for (FailureClass& one : job.failures) one.rate_per_node_s /= 2;
                 return !job.failures.empty();
               }),
      campaign("no failures of the first kind",
               [](Job& job) {
                 if (job.failures.empty()) return false;
                 job.failures.erase(job.failures.begin());
                 return true;
               }),
      campaign("eight more spares",
               [](Job& job) {
                 job.recovery.spares += 8;
                 return true;
               }),
      campaign("repairs in a minute",
               [](Job& job) {
                 for (FailureClass& one : job.failures) one.repair = {.fixed_s = 60};
                 return !job.failures.empty();
               }),
      campaign("failures noticed at once",
               [](Job& job) {
                 job.recovery.detect_s = 0;
                 for (FailureClass& one : job.failures) one.detect_s = std::min(one.detect_s, 0.0);
                 return true;
               }),
      campaign("restarts in no time",
               [](Job& job) {
                 job.recovery.restart_s = 0;
                 return true;
               }),
      campaign(
          "storage of twice the bandwidth, to itself",
          [](Job& job) {
            job.cluster.storage.write_Bps.value *= 2;
            job.cluster.storage.read_Bps.value *= 2;
            job.cluster.storage.background = 0;
            return true;
          },
          Breaks::by_chance),
  };
  return all;
}

// ---- A job, and the same job with one improvement

struct Composed {
  RandomJob drawn;  // only keys that are accepted
  std::string file;
  Case the_case;
};

constexpr int kTrials = 8;

// Returns nothing if the reader or a later check refuses the job.
std::optional<Composed> composed(std::uint64_t number) {
  const std::string file = fmt::format("keys-{}.yaml", number);
  Composed result{accepted(random_job_of_keys(number), file), file, {}};
  try {
    result.the_case = parse_case(result.drawn.text, file, result.drawn.set);
  } catch (const Error&) {
    return std::nullopt;
  }
  make_campaign_eventful(result.the_case.job);
  result.the_case.job.campaign.trials = kTrials;
  return result;
}

struct Figures {
  MeasuredIteration measured;
  CampaignReport campaign;

  double step_s() const { return measured.report.time_s; }
};

Figures figures_of(const Case& the_case, bool with_campaign) {
  Case used = the_case;
  if (!with_campaign) used.job.campaign.length_s = 0;
  Figures result{measure_iteration(used, {.threads = 1, .allow_oom = true}), {}};
  if (with_campaign && used.job.campaign.length_s > 0) {
    result.campaign = run_campaign(campaign_inputs(used.job, result.measured.table), 1);
  }
  return result;
}

// Returns nothing if a check after reading refuses the job.
std::optional<Figures> figures_or_none(const Case& the_case, bool with_campaign) {
  try {
    return figures_of(the_case, with_campaign);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Returns nothing if the row does not apply to the job, or the reader refuses the change.
std::optional<Case> bettered(const Composed& base, const BetterRow& row) {
  if (row.key != nullptr) {
    Overrides set = base.drawn.set;
    set.emplace_back(row.key, row.value);
    try {
      parse_case(base.drawn.text, base.file, set);
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  Case other = base.the_case;
  if (!row.change(other.job)) return std::nullopt;
  other.prepared = nullptr;
  return other;
}

// Returns half the width of the confidence interval of the mean of the trials' differences.
double sampled(const Figures& base, const Figures& other) {
  std::vector<double> differences = other.campaign.trial_goodput;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    differences[i] -= base.campaign.trial_goodput[i];
  }
  const Estimate difference = estimate(std::move(differences), 1, -1);
  return (difference.high - difference.low) / 2;
}

// Returns what zero2 may need more than zero1: its shard of the gradients, and the bytes by which
// whole gradients exceed what zero1 keeps of them. The rank with the largest amount counts,
// including the allocator's overhead.
double most_beside_whole_gradients(const Job& job, const Figures& figures) {
  const double larger = whole_gradient_bytes_per_parameter(job) - gradient_bytes_per_parameter(job);
  const double whole = std::max(0.0, larger) * gathered_parameters(job);
  double most = 0;
  for (const GpuMemory& rank : figures.measured.report.memory) {
    most = std::max(most, (rank.gradients + whole) * (1 + rank.fragmentation / rank.allocated()));
  }
  return most;
}

bool waits_for_host(const Figures& figures) {
  return figures.measured.report.critical_path_s[static_cast<std::size_t>(Category::host)] > 0;
}

double allowance(const BetterRow& row, const Job& job, const Figures& base, const Figures& other) {
  switch (row.breaks) {
    case Breaks::never:
      return kEqual;
    case Breaks::by_tuner:
      return waits_for_host(base) || waits_for_host(other) ? kMovedByLinks : kEqual;
    case Breaks::by_host:
      // Work that fills idle time is put into other gaps when it is faster
      // (docs/physics/idle-time.md).
      return waits_for_host(base) || waits_for_host(other) || job.filling ? kMoved : kEqual;
    case Breaks::by_share:
      return job.communication.fidelity == Fidelity::closed ? kEqual : kMoved;
    case Breaks::by_chance:
      return sampled(base, other) + 1e-3;
    case Breaks::by_shard:
      return most_beside_whole_gradients(job, other) / fullest_bytes(base.measured.report.memory) +
             kSummed;
  }
  return 0;
}

// Returns by how much the other is worse, as a share of the base's figure; for goodput in points.
double worse_by(Figure figure, const Figures& base, const Figures& other) {
  switch (figure) {
    case Figure::step:
      return other.step_s() / base.step_s() - 1;
    case Figure::goodput:
      return base.campaign.goodput.mean - other.campaign.goodput.mean;
    case Figure::memory:
      return fullest_bytes(other.measured.report.memory) /
                 fullest_bytes(base.measured.report.memory) -
             1;
    case Figure::fits:
      return base.measured.memory_excess.empty() && !other.measured.memory_excess.empty() ? 1 : 0;
  }
  return 0;
}

void choose_once(Job& job) {
  GradientOverlap& overlap = job.communication.overlap;
  if (overlap == GradientOverlap::mg_wfbp || overlap == GradientOverlap::asc) {
    overlap = GradientOverlap::wfbp;
  }
  if (job.lengths) job.lengths->policy = LengthPolicy::fixed;
  job.communication.collectives.clear();
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    job.communication.collectives.push_back(
        {.kind = kind, .algorithm = CollectiveAlgorithm::ring, .protocol = Protocol::simple});
  }
}

// FlexSP and HDP choose the assignment of sequences that is fastest in closed form, which need not
// be the fastest on the simulated network.
bool chooses_packs(const Job& job) {
  return job.lengths && job.lengths->policy != LengthPolicy::fixed;
}

// Compares steps as worse_by() does, but with the choices of NCCL's tuner and of sequence policies
// fixed.
double worse_without_choices(Case base, Case other) {
  for (Case* the_case : {&base, &other}) {
    choose_once(the_case->job);
    the_case->prepared = nullptr;
  }
  return figures_of(other, false).step_s() / figures_of(base, false).step_s() - 1;
}

class BetterIsNoWorse : public testing::TestWithParam<int> {};

TEST_P(BetterIsNoWorse, OverComposedJobs) {
  constexpr int kInBlock = kRelationJobs / kRelationBlocks;
  const auto first = static_cast<std::uint64_t>(GetParam()) * 1000;
  int held = 0;
  int jobs = 0;
  for (std::uint64_t number = first; jobs < kInBlock; ++number) {
    ASSERT_LT(number, first + 1000) << "the reader refuses nearly all jobs";
    const std::optional<Composed> base = composed(number);
    if (!base) continue;
    const std::optional<Figures> figures = figures_or_none(base->the_case, true);
    if (!figures) continue;
    ++jobs;
    SCOPED_TRACE(fmt::format("job {}\n{}", number, base->drawn.to_string()));
    for (std::size_t i = 0; i < better_rows().size(); ++i) {
      const BetterRow& row = better_rows()[i];
      const std::optional<Case> better = bettered(*base, row);
      if (!better) continue;
      const bool campaign = row.figure == Figure::goodput;
      if (campaign && figures->campaign.trial_goodput.empty()) continue;
      const std::optional<Figures> other = figures_or_none(*better, campaign);
      EXPECT_TRUE(other || row.key != nullptr) << row.name << " is refused";
      if (!other) continue;
      ++held;
      double worse = worse_by(row.figure, *figures, *other);
      const bool chosen = row.breaks == Breaks::by_tuner ||
                          (row.figure == Figure::step && chooses_packs(base->the_case.job));
      if (chosen && worse > kEqual) worse = worse_without_choices(base->the_case, *better);
      EXPECT_LE(worse, allowance(row, base->the_case.job, *figures, *other)) << row.name;
    }
  }
  EXPECT_GT(held, kInBlock * 10) << "the relations are asked of nearly no job";
}

// Some of the jobs run in every test run, the others only in long ones.
INSTANTIATE_TEST_SUITE_P(Blocks, BetterIsNoWorse, testing::Range(0, 1));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, BetterIsNoWorse, testing::Range(1, kRelationBlocks));

}  // namespace
}  // namespace windtunnel
