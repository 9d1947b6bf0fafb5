// In every scenario more of a resource makes no figure worse, results stay within bounds, and some
// settings change nothing. This is tested on 500 random scenarios.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "models/base/error.hpp"
#include "models/cost/memory/memory.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/simulate.hpp"
#include "tests/sim/study/random_scenario.hpp"
#include "tests/sim/study/record_bounds.hpp"
#include "tests/support/shuffled_places.hpp"

namespace windtunnel {
namespace {

constexpr int kScenarios = 500;
constexpr int kBlocks = 20;  // blocks run in parallel
constexpr size_t kStride = 4;

Record simulated_alone(const Case& the_case) {
  return simulate(the_case, {.threads = 1, .allow_oom = true});
}

// ---- Relations between two results.

enum class Must {
  not_slow,                   // the step is no slower
  not_waste,                  // goodput is no lower, except by chance over eight trials
  not_fill,                   // the fullest GPU holds no more
  not_fill_more_than_shards,  // the same, except for a shard beside the gathered whole
  not_gain,                   // the step is no faster: the program decided against this setting
  be_the_same,                // step and goodput are equal
  be_identical                // to the last bit, trial by trial
};

struct Relation {
  const char* name;
  Must must;
  std::function<void(Job&)> change;  // leaves the job as it is if it does not apply
};

// Scales a number of the job, which must not slow the step.
Relation times(const char* name, double factor, Parameter& (*of)(Job&)) {
  return {name, Must::not_slow, [=](Job& job) { of(job).value *= factor; }};
}

Relation constant(const char* name, double value, Parameter Calibration::*of) {
  return {name, Must::not_slow, [=](Job& job) { (job.calibration.*of).value = value; }};
}

// Changes protection against failures, as if it had been set from the start.
Relation protection(const char* name, std::function<void(Job&)> change) {
  return {name, Must::not_waste, std::move(change)};
}

// Fixes an algorithm for all-reduces of gradients, where the program would choose the cheapest. If
// other traffic uses the same links, another one may be better, so this must hold only without such
// traffic.
Relation forced(const char* name, CollectiveAlgorithm algorithm) {
  return {name, Must::not_gain, [=](Job& job) {
            if (job.communication.fidelity != Fidelity::closed) return;
            job.communication.collectives = {
                {CollectiveKind::all_reduce, algorithm, Protocol::automatic, {}}};
          }};
}

void double_peaks(Job& job) {
  GpuSpec& gpu = job.cluster.node.gpu;
  for (Parameter GpuSpec::*peak : {&GpuSpec::fp32_flops, &GpuSpec::tf32_flops, &GpuSpec::fp16_flops,
                                   &GpuSpec::bf16_flops, &GpuSpec::fp8_flops}) {
    (gpu.*peak).value *= 2;
  }
}

const std::vector<Relation>& relations() {
  using enum Must;
  static const std::vector<Relation> all = {
      times("NICs of twice the bandwidth", 2,
            [](Job& job) -> Parameter& { return job.cluster.node.nic_Bps; }),
      times("NVLink of twice the bandwidth", 2,
            [](Job& job) -> Parameter& { return job.cluster.node.nvlink_Bps; }),
      times("GPU memory of twice the bandwidth", 2,
            [](Job& job) -> Parameter& { return job.cluster.node.gpu.memory_Bps; }),
      times("PCIe of twice the bandwidth", 2,
            [](Job& job) -> Parameter& { return job.cluster.node.pcie_Bps; }),
      times("host memory of twice the bandwidth", 2,
            [](Job& job) -> Parameter& { return job.cluster.node.host_memory_Bps; }),
      times("twice the GPU memory", 2,
            [](Job& job) -> Parameter& { return job.cluster.node.gpu.memory_bytes; }),
      times("switches of no latency", 0,
            [](Job& job) -> Parameter& { return job.cluster.fabric.hop_latency_s; }),
      {"GPUs of twice the peak", not_slow, double_peaks},
      {"pods that are not oversubscribed", not_slow,
       [](Job& job) { job.cluster.fabric.pod_oversubscription = 1; }},
      constant("kernels launched in no time", 0, &Calibration::kernel_launch_s),
      constant("a host that launches in no time", 0, &Calibration::host_launch_s),
      constant("collectives launched in no time", 0, &Calibration::collective_launch_s),
      constant("messages sent in no time", 0, &Calibration::p2p_launch_s),
      constant("steps across nodes without latency", 0, &Calibration::nic_latency_s),
      constant("steps inside nodes without latency", 0, &Calibration::nvlink_latency_s),
      constant("NICs used to the full", 1, &Calibration::nic_efficiency),
      constant("NVLink used to the full", 1, &Calibration::nvlink_efficiency),
      constant("memory used to the full", 1, &Calibration::memory_efficiency),
      constant("products at the peak", 1, &Calibration::gemm_efficiency),
      constant("clocks that do not fall", 1, &Calibration::kernel_sustained),
      constant("collectives that slow no kernel", 0, &Calibration::overlap_slowdown),
      constant("an optimizer that moves no bytes", 0, &Calibration::optimizer_bytes),
      {"half as many layers", not_slow, [](Job& job) { job.model.layers /= 2; }},
      {"a smaller vocabulary", not_slow, [](Job& job) { job.model.vocabulary /= 2; }},
      {"half of the batch", not_slow, [](Job& job) { job.batch.global /= 2; }},
      {"fewer bytes: a tenth of the density", not_slow,
       [](Job& job) { job.communication.compressors.dp.density /= 10; }},
      {"fewer bytes: a lower rank", not_slow,
       [](Job& job) {
         CompressorChoice& compressor = job.communication.compressors.dp;
         if (compressor.rank > 1) compressor.rank /= 2;
       }},
      forced("all-reduces as rings", CollectiveAlgorithm::ring),
      forced("all-reduces as trees", CollectiveAlgorithm::tree),
      {"nothing kept for the backward pass", not_fill,
       [](Job& job) { job.recompute = Recompute::full; }},
      {"the same again, on two threads", be_identical, [](Job&) {}},
      {"every rank simulated by itself", be_the_same, [](Job& job) { job.fold = FoldMode::none; }},
      {"gradients divided, too", not_fill_more_than_shards,
       [](Job& job) {
         if (job.layout.sharding == Sharding::zero1) job.layout.sharding = Sharding::zero2;
       }},
      {"weights divided, too", not_fill_more_than_shards,
       [](Job& job) {
         if (job.layout.sharding == Sharding::zero2) job.layout.sharding = Sharding::zero3;
       }},
      {"a host that takes half as long for an operation", not_slow,
       [](Job& job) { job.software.host_share /= 2; }},
      protection("an older copy kept, too",
                 [](Job& job) {
                   for (SnapshotTier& tier : job.snapshots) ++tier.kept;
                 }),
      protection("failures half as often",
                 [](Job& job) {
                   for (FailureClass& one : job.failures) one.rate_per_node_s /= 2;
                 }),
      protection("no failures of nodes",
                 [](Job& job) { job.failures.erase(job.failures.begin()); }),
      protection("eight more spares", [](Job& job) { job.recovery.spares += 8; }),
      protection("repairs in a minute", [](Job& job) { job.failures[0].repair = {.fixed_s = 60}; }),
      protection("failures noticed at once", [](Job& job) { job.recovery.detect_s = 0; }),
      protection("restarts in no time", [](Job& job) { job.recovery.restart_s = 0; }),
      protection("storage that reads and writes twice as fast",
                 [](Job& job) {
                   job.cluster.storage.write_Bps.value *= 2;
                   job.cluster.storage.read_Bps.value *= 2;
                 }),
  };
  return all;
}

// ---- All relations, on all scenarios.

// Holds an iteration and, if requested, a campaign, without the advice on intervals.
struct Result {
  IterationReport iteration;
  CampaignReport campaign;
};

Result result_of(Case the_case, const Relation& relation) {
  const bool campaign = relation.must == Must::not_waste || relation.must == Must::be_the_same ||
                        relation.must == Must::be_identical;
  const int threads = relation.must == Must::be_identical ? 2 : 1;
  if (!campaign) the_case.job.campaign.length_s = 0;
  MeasuredIteration measured = measure_iteration(the_case, {.threads = threads, .allow_oom = true});
  Result result{measured.report, {}};
  if (campaign) {
    result.campaign =
        run_campaign(campaign_inputs(the_case.job, std::move(measured.table)), threads);
  }
  return result;
}

// If tasks share a stream or a link, a shorter task may let another go first, so that all together
// take longer (Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17, 1969).
// The GPU's wait for its host is a mean of two ways to launch (models/cost/op/host_launch.hpp).
// Neither effect exceeds a few hundredths here.
double anomaly(const Record& record) {
  const Communication& communication = record.job.communication;
  const bool meet =
      communication.fidelity != Fidelity::closed || communication.overlap != GradientOverlap::none;
  const bool waits = record.iteration.critical_path_s[static_cast<size_t>(Category::host)] > 0;
  return meet || waits ? 0.02 : kRounding;
}

// With other numbers a trial is another sample: returns how far the mean of eight may be off by
// chance.
double chance(const Record& record, const Result& other) {
  std::vector<double> differences = other.campaign.trial_goodput;
  for (size_t i = 0; i < differences.size(); ++i) {
    differences[i] -= record.campaign->trial_goodput[i];
  }
  const Estimate difference = estimate(differences, 1, -1);
  return (difference.high - difference.low) / 2 + 1e-3;
}

// Returns the shard of the rank that has most, including the allocator's overhead.
double shards(const Result& result) {
  double most = 0;
  for (const GpuMemory& rank : result.iteration.memory) {
    most = std::max(most,
                    (rank.weights + rank.gradients) * (1 + rank.fragmentation / rank.allocated()));
  }
  return most;
}

// Returns what is wrong with the second result, which was simulated with `relation` applied to the
// scenario of the first; empty if nothing is.
std::string broken(const Relation& relation, const Record& record, const Result& other) {
  const double step_s = record.iteration.time_s;
  const double other_s = other.iteration.time_s;
  const double goodput = record.campaign->goodput.mean;
  const double of_other = other.campaign.goodput.mean;
  const double most = fullest_bytes(record.iteration.memory);
  const double bytes = fullest_bytes(other.iteration.memory);
  switch (relation.must) {
    case Must::not_slow:
      if (other_s <= step_s * (1 + anomaly(record))) return "";
      return fmt::format("{} s instead of {} s", other_s, step_s);
    case Must::not_gain:
      if (other_s >= step_s * (1 - anomaly(record))) return "";
      return fmt::format("{} s where the program's choice takes {} s", other_s, step_s);
    case Must::not_waste:
      if (of_other >= goodput - chance(record, other)) return "";
      return fmt::format("goodput {} instead of {}", of_other, goodput);
    case Must::not_fill:
      if (bytes <= most * (1 + kRounding)) return "";
      return fmt::format("{} bytes instead of {}", bytes, most);
    case Must::not_fill_more_than_shards:
      if (bytes <= most + shards(other)) return "";
      return fmt::format("{} bytes instead of {}", bytes, most);
    case Must::be_the_same:
      if (near(other_s, step_s, 1e-6) && near(of_other, goodput, 1e-6)) return "";
      return fmt::format("{} s and goodput {} instead of {} s and {}", other_s, of_other, step_s,
                         goodput);
    case Must::be_identical:
      if (other_s == step_s &&
          other.iteration.critical_path_s == record.iteration.critical_path_s &&
          other.campaign.trial_goodput == record.campaign->trial_goodput &&
          std::ranges::equal(other.campaign.lost_s, record.campaign->lost_s)) {
        return "";
      }
      return fmt::format("{} s and goodput {}, not {} s and {}", other_s, of_other, step_s,
                         goodput);
  }
  return "";
}

// Tests random scenarios one by one, as many as the reader accepts.
class Relations : public testing::TestWithParam<int> {};

TEST_P(Relations, HoldOfRandomScenarios) {
  constexpr int kInBlock = kScenarios / kBlocks;
  int scenarios = 0;
  size_t refused = 0;
  const auto first = static_cast<std::uint64_t>(GetParam()) * 1000;
  for (std::uint64_t number = first; scenarios < kInBlock; ++number) {
    ASSERT_LT(number, first + 1000) << "the reader refuses nearly all scenarios";
    const std::optional<Case> drawn = random_case(number);
    if (!drawn) continue;
    ++scenarios;
    const Record record = simulated_alone(*drawn);
    for (const RecordBound& bound : record_bounds()) {
      EXPECT_TRUE(bound.holds(record)) << "not so: " << bound.name << "\n" << drawn->text;
    }
    // Each scenario is tested with every fourth relation, so each relation with 125 scenarios.
    for (size_t i = number % kStride; i < relations().size(); i += kStride) {
      const Relation& relation = relations()[i];
      Case other = *drawn;
      relation.change(other.job);
      other.prepared = nullptr;
      try {
        const std::string wrong = broken(relation, record, result_of(other, relation));
        EXPECT_EQ(wrong, "") << relation.name << "\n" << drawn->text;
      } catch (const Error&) {
        ++refused;  // for example, half of the layers no longer fill the stages
      }
    }
  }
  EXPECT_LT(refused, relations().size() / kStride * kInBlock / 10);
}

// Some of the jobs run in every test run, the others only in long ones.
INSTANTIATE_TEST_SUITE_P(Blocks, Relations, testing::Range(0, kBlocks / 10));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, Relations, testing::Range(kBlocks / 10, kBlocks));

// The groups of one kind have the network to themselves, and nothing computes meanwhile. With
// constants both agree to a thousandth, with NCCL's law to a hundredth: if small messages of
// several groups share a NIC, one form applies the protocol's share of bandwidth to all together,
// the other one to each.
TEST(IdleNetwork, ClosedFormsAndFlowsTakeAsLong) {
  int scenarios = 0;
  for (std::uint64_t number = 0; scenarios < kScenarios / kBlocks; ++number) {
    std::optional<Case> drawn = random_case(number);
    if (!drawn || drawn->job.layout.pp > 1 || drawn->job.cluster.nodes == 1) continue;
    const bool constants = scenarios % 4 < 2;
    if (constants) {
      drawn = parse_case(drawn->text, drawn->file, {{"communication.law", "constants"}});
    }
    ++scenarios;
    Job& job = drawn->job;
    job.campaign.length_s = 0;
    job.communication.overlap = GradientOverlap::none;
    RandomStream random(number, RandomPurpose::test, 0);
    if (scenarios % 2 == 0) shuffle_places(random, 0, job.cluster);
    drawn->prepared = nullptr;
    const auto step_s = [&](Fidelity fidelity) {
      job.communication.fidelity = fidelity;
      return measure_iteration(*drawn, {.threads = 1, .allow_oom = true}).report.time_s;
    };
    const double flows_s = step_s(Fidelity::flows);
    const double bound = constants ? 1e-3 : 1e-2;
    EXPECT_NEAR(step_s(Fidelity::closed), flows_s, bound * flows_s) << drawn->text;
  }
}

// Converts every quantity of the text to another unit.
std::string in_other_units(std::string text) {
  struct Rule {
    const char* unit;
    double factor;
    const char* other;
  };
  constexpr std::array<Rule, 7> kRules = {{{"GB/s", 8, "Gb/s"},
                                           {"per 1000 node-days", 1e-3, "per node-day"},
                                           {"min", 60, "s"},
                                           {"h", 60, "min"},
                                           {"d", 24, "h"},
                                           {"s", 1000, "ms"},
                                           {"G", 1e-3, "T"}}};
  static const RE2 quantity(R"((\d+) (GB/s|per 1000 node-days|min|h|d|s|G)([,}\n]))");
  std::string other;
  re2::StringPiece rest(text);
  const char* copied = text.data();
  std::int64_t number = 0;
  std::string unit, end;
  while (RE2::FindAndConsume(&rest, quantity, &number, &unit, &end)) {
    const auto* rule = std::ranges::find(kRules, unit, &Rule::unit);
    const std::string there =
        fmt::format("{:.15g} {}{}", static_cast<double>(number) * rule->factor, rule->other, end);
    const std::string here = fmt::format("{} {}{}", number, unit, end);
    other.append(copied, rest.data() - here.size());
    other += there;
    copied = rest.data();
  }
  return other + copied;
}

TEST(ScenarioText, UnitsChangeNothing) {
  int scenarios = 0;
  for (std::uint64_t number = 0; scenarios < kScenarios; ++number) {
    const std::optional<Case> drawn = random_case(number);
    if (!drawn) continue;
    ++scenarios;
    const std::string text = in_other_units(drawn->text);
    ASSERT_NE(text, drawn->text);
    const Case other = with_fast_host(text, "other.yaml");
    EXPECT_EQ(other.key, drawn->key) << text;
    if (scenarios % 25 > 0) continue;
    const Record record = simulated_alone(*drawn);
    const Record again = simulated_alone(other);
    EXPECT_EQ(again.iteration.time_s, record.iteration.time_s) << text;
    EXPECT_EQ(again.campaign->trial_goodput, record.campaign->trial_goodput) << text;
  }
}

}  // namespace
}  // namespace windtunnel
