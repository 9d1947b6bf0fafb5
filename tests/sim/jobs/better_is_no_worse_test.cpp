// What holds of jobs composed of any keys: more of what helps makes no figure worse. A table of
// relations over 500 jobs; where one may break, its row says why, and allowance() by how much.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "models/cost/memory/memory.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/simulate.hpp"
#include "tests/sim/jobs/random_job.hpp"

namespace windtunnel {
namespace {

constexpr int kRelationJobs = 500;
constexpr int kRelationBlocks = 25;  // which run beside each other
constexpr double kEqual = 1e-9;      // rounding of a sum
constexpr double kAnomaly = 0.05;    // of the step, where tasks meet
constexpr std::size_t kEach = 2;     // a job is held against each so manieth row

enum class Figure {
  step,     // seconds: smaller is better
  goodput,  // larger is better
  memory,   // bytes of the fullest GPU: smaller is better
  fits      // a job that fits must go on fitting
};

// Why a relation may break.
enum class Breaks {
  never,
  // Where tasks meet on a stream, a link or a port, a shorter one may let another go first, so that
  // all of them together take longer (Graham, "Bounds on multiprocessing timing anomalies", SIAM J.
  // Appl. Math. 17, 1969).
  by_order,
  // Other rates and times move the failures of a trial to other moments: another sample.
  by_chance,
  // What a rank gathers lies beside its own shard (docs/gradients.md).
  by_shard
};

struct BetterRow {
  const char* name;
  Figure figure;
  Breaks breaks;
  std::function<void(Job&)> change;
  const char* key = nullptr;  // only where the reader accepts it set to this value
  const char* value = nullptr;
};

void each_node(Job& job, const std::function<void(NodeSpec&)>& change) {
  change(job.cluster.node);
  change(job.cluster.shared);
  for (Pool& pool : job.cluster.pools) change(pool.node);
}

BetterRow of_node(const char* name, Parameter NodeSpec::*of) {
  return {name, Figure::step, Breaks::by_order,
          [of](Job& job) { each_node(job, [of](NodeSpec& node) { (node.*of).value *= 2; }); }};
}

BetterRow of_gpu(const char* name, std::vector<Parameter GpuSpec::*> all, Figure figure,
                 Breaks breaks) {
  return {name, figure, breaks, [all = std::move(all)](Job& job) {
            each_node(job, [&](NodeSpec& node) {
              for (Parameter GpuSpec::*of : all) (node.gpu.*of).value *= 2;
            });
          }};
}

BetterRow calibrated(const char* name, std::vector<Parameter Calibration::*> all) {
  return {name, Figure::step, Breaks::by_order, [all = std::move(all)](Job& job) {
            for (Parameter Calibration::*of : all) {
              (job.calibration.*of).value = 0;
              for (Calibration& pool : job.pool_calibrations) (pool.*of).value = 0;
            }
          }};
}

BetterRow campaign(const char* name, std::function<void(Job&)> change) {
  return {name, Figure::goodput, Breaks::by_chance, std::move(change)};
}

// One level more. The rest of the job stays: what software keeps by default goes with the level.
BetterRow sharded(const char* name, Sharding from, Sharding to, const char* value) {
  return {name,
          Figure::memory,
          Breaks::by_shard,
          [=](Job& job) {
            if (job.layout.sharding == from) job.layout.sharding = to;
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
             Breaks::by_order),
      of_gpu("GPUs of twice the peak",
             {&GpuSpec::fp32_flops, &GpuSpec::tf32_flops, &GpuSpec::fp16_flops,
              &GpuSpec::bf16_flops, &GpuSpec::fp8_flops, &GpuSpec::fp4_flops},
             Figure::step, Breaks::by_order),
      of_gpu("twice the GPU memory, of the step", {&GpuSpec::memory_bytes}, Figure::step,
             Breaks::never),
      of_gpu("twice the GPU memory, of what fits", {&GpuSpec::memory_bytes}, Figure::fits,
             Breaks::never),
      calibrated("collectives and messages launched in no time",
                 {&Calibration::collective_launch_s, &Calibration::p2p_launch_s}),
      calibrated("steps of collectives without latency",
                 {&Calibration::nic_latency_s, &Calibration::nvlink_latency_s}),
      {"switches and sites without latency", Figure::step, Breaks::by_order,
       [](Job& job) {
         job.cluster.fabric.hop_latency_s.value = 0;
         job.cluster.fabric.wan_latency_s.value = 0;
       }},
      {"sites joined by twice the bandwidth", Figure::step, Breaks::by_order,
       [](Job& job) { job.cluster.fabric.wan_Bps.value *= 2; }},
      {"uplinks that are not oversubscribed", Figure::step, Breaks::by_order,
       [](Job& job) {
         job.cluster.fabric.pod_oversubscription = 1;
         job.cluster.fabric.leaf_oversubscription = 1;
       }},
      {"nobody else on the network", Figure::step, Breaks::by_order,
       [](Job& job) { job.cluster.fabric.background.clear(); }},
      {"no faults of links", Figure::step, Breaks::by_order,
       [](Job& job) {
         job.cluster.fabric.faults.clear();
         job.cluster.degraded_nics.clear();
       }},
      {"no slow nodes", Figure::step, Breaks::by_order,
       [](Job& job) { job.cluster.slow_nodes.clear(); }},
      {"a host that takes half as long for an operation", Figure::step, Breaks::by_order,
       [](Job& job) { job.software.host_share /= 2; }},
      sharded("the optimizer divided", Sharding::none, Sharding::zero1, "zero1"),
      sharded("gradients divided, too", Sharding::zero1, Sharding::zero2, "zero2"),
      sharded("weights divided, too", Sharding::zero2, Sharding::zero3, "zero3"),
      campaign("an older copy kept, too",
               [](Job& job) {
                 for (SnapshotTier& tier : job.snapshots) ++tier.kept;
               }),
      campaign("failures half as often",
               [](Job& job) {
                 for (FailureClass& one : job.failures) one.rate_per_node_s /= 2;
               }),
      campaign("no failures of the first kind",
               [](Job& job) {
                 if (!job.failures.empty()) job.failures.erase(job.failures.begin());
               }),
      campaign("eight more spares", [](Job& job) { job.recovery.spares += 8; }),
      campaign("repairs in a minute",
               [](Job& job) {
                 for (FailureClass& one : job.failures) one.repair = {.fixed_s = 60};
               }),
      campaign("failures noticed at once",
               [](Job& job) {
                 job.recovery.detect_s = 0;
                 for (FailureClass& one : job.failures) one.detect_s = std::min(one.detect_s, 0.0);
               }),
      campaign("restarts in no time", [](Job& job) { job.recovery.restart_s = 0; }),
      campaign("storage of twice the bandwidth, to itself",
               [](Job& job) {
                 job.cluster.storage.write_Bps.value *= 2;
                 job.cluster.storage.read_Bps.value *= 2;
                 job.cluster.storage.background = 0;
               }),
  };
  return all;
}

// ---- A job, and the same with one thing better.

struct Composed {
  RandomJob drawn;  // with the keys that are accepted
  std::string file;
  Case the_case;
};

constexpr int kTrials = 8;
constexpr double kMoreFailures = 25;  // in two days some of each class, in most trials

void make_campaign_eventful(Job& job) {
  job.campaign.trials = kTrials;
  for (FailureClass& one : job.failures) one.rate_per_node_s *= kMoreFailures;
}

// None: the reader, or what checks the job later, refuses it.
std::optional<Composed> composed(std::uint64_t number) {
  const std::string file = fmt::format("keys-{}.yaml", number);
  Composed result{accepted(random_job_of_keys(number), file), file, {}};
  try {
    result.the_case = parse_case(result.drawn.text, file, result.drawn.set);
  } catch (const Error&) {
    return std::nullopt;
  }
  make_campaign_eventful(result.the_case.job);
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

// None: what checks a job after it was read refuses it.
std::optional<Figures> figures_or_none(const Case& the_case, bool with_campaign) {
  try {
    return figures_of(the_case, with_campaign);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// None: the reader refuses it.
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
  row.change(other.job);
  other.prepared = nullptr;
  return other;
}

// Half the width of the interval that the mean of the trials' differences lies in.
double sampled(const Figures& base, const Figures& other) {
  std::vector<double> differences = other.campaign.trial_goodput;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    differences[i] -= base.campaign.trial_goodput[i];
  }
  const Estimate difference = estimate(std::move(differences), 1, -1);
  return (difference.high - difference.low) / 2;
}

// Of the rank that has most, with what the allocator adds.
double most_sharded(const Figures& figures) {
  double most = 0;
  for (const GpuMemory& rank : figures.measured.report.memory) {
    most = std::max(most,
                    (rank.weights + rank.gradients) * (1 + rank.fragmentation / rank.allocated()));
  }
  return most;
}

// Whether tasks of a step wait for each other's streams, links or ports, or the GPU for the host,
// whose waits are a mean of two ways to launch (models/cost/op/host_launch.hpp).
bool tasks_meet(const Job& job, const Figures& figures) {
  return job.communication.fidelity != Fidelity::closed ||
         job.communication.overlap != GradientOverlap::none ||
         figures.measured.report.critical_path_s[static_cast<std::size_t>(Category::host)] > 0;
}

double allowance(const BetterRow& row, const Job& job, const Figures& base, const Figures& other) {
  switch (row.breaks) {
    case Breaks::never:
      return kEqual;
    case Breaks::by_order:
      return tasks_meet(job, base) ? kAnomaly : kEqual;
    case Breaks::by_chance:
      return sampled(base, other) + 1e-3;
    case Breaks::by_shard:
      return most_sharded(other) / fullest_bytes(base.measured.report.memory);
  }
  return 0;
}

// By how much the other is worse; a share of the base's figure, of goodput in points.
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
    for (std::size_t i = number % kEach; i < better_rows().size(); i += kEach) {
      const BetterRow& row = better_rows()[i];
      const std::optional<Case> better = bettered(*base, row);
      if (!better) continue;
      const bool campaign = row.figure == Figure::goodput;
      if (campaign && figures->campaign.trial_goodput.empty()) continue;
      const std::optional<Figures> other = figures_or_none(*better, campaign);
      EXPECT_TRUE(other || row.key != nullptr) << row.name << " is refused";
      if (!other) continue;
      ++held;
      EXPECT_LE(worse_by(row.figure, *figures, *other),
                allowance(row, base->the_case.job, *figures, *other))
          << row.name;
    }
  }
  EXPECT_GT(held, kInBlock * 10) << "the relations are asked of nearly no job";
}

// Some of the jobs are drawn in every run of the tests, the others in long ones.
INSTANTIATE_TEST_SUITE_P(Blocks, BetterIsNoWorse, testing::Range(0, 3));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, BetterIsNoWorse, testing::Range(3, kRelationBlocks));

}  // namespace
}  // namespace windtunnel
