// Jobs are composed of any keys of the table. Each runs and breaks no invariant, or is refused by
// name at its place. None ends by a signal (which would end this program) or a failed CHECK, or
// takes long.
#include "tests/sim/jobs/random_job.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <set>
#include <string>

#include "models/base/error.hpp"
#include "policies/evaluation/plan_evaluation.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/optimise.hpp"
#include "sim/study/record_invariants.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

constexpr int kJobs = 5000;
constexpr int kBlocks = 50;         // blocks run in parallel
constexpr double kLongest_s = 20;   // of CPU time
constexpr int kSearchedEvery = 10;  // every tenth job is also varied by a search

// The place is "file:line:column:" or the option that set the value.
bool names_its_place(const std::string& why, const std::string& file) {
  return why.starts_with(file + ":") || why.starts_with("--set ");
}

void expect_refused_by_name(const Error& error, const std::string& file) {
  EXPECT_TRUE(names_its_place(error.what(), file)) << error.what();
  if (std::getenv("WINDTUNNEL_TELL_JOBS") != nullptr) fmt::print(stderr, "{}\n", error.what());
}

void search(const RandomJob& job, const std::string& file, std::uint64_t number) {
  const std::uint64_t over = number / kSearchedEvery;
  OptimiseOptions options{.layout = over % 5 == 0,
                          .schedule = over % 5 == 1,
                          .micro_batch = true,
                          .recompute = over % 2 == 0,
                          .top = 1,
                          .simulated = 1,
                          .threads = 1};
  optimise({.file = file, .text = job.text, .set = job.set}, {{}}, options);
}

// Returns whether the job ran.
bool runs(std::uint64_t number) {
  const RandomJob drawn = random_job_of_keys(number);
  const std::string file = fmt::format("keys-{}.yaml", number);
  SCOPED_TRACE(drawn.to_string());
  if (std::getenv("WINDTUNNEL_TELL_JOBS") != nullptr) fmt::print(stderr, "job {}\n", number);
  const std::clock_t begin = std::clock();
  bool ran = false;
  try {
    const RandomJob job =
        accepted(drawn, file, [&](const Error& error) { expect_refused_by_name(error, file); });
    const Record record =
        simulate(parse_case(job.text, file, job.set), {.threads = 1, .allow_oom = true});
    ran = true;
    for (const std::string& broken : broken_invariants(record)) ADD_FAILURE() << broken;
    if (number % kSearchedEvery == 0) search(job, file, number);
  } catch (const Error& error) {
    expect_refused_by_name(error, file);
  } catch (const std::exception& fault) {
    ADD_FAILURE() << fault.what();
  }
  // The clock counts this process's CPU time, so other processes do not matter.
  EXPECT_LT(double(std::clock() - begin) / CLOCKS_PER_SEC, kLongest_s);
  return ran;
}

// plan_bound() and docs/physics/gradients.md assume that the kernels of a rank do not overlap.
TEST(RandomJobPlans, KernelsOfARankStandOnOneStream) {
  int classes = 0;
  for (std::uint64_t number = 0; number < 100; ++number) {
    const std::string file = fmt::format("keys-{}.yaml", number);
    try {
      const RandomJob job = accepted(random_job_of_keys(number), file);
      const Case the_case = parse_case(job.text, file, job.set);
      const Plan plan = iteration_plan(the_case.job, prepare_iteration(the_case.job));
      for (const RankClass& owner : plan.classes) {
        ++classes;
        std::set<std::int16_t> streams;
        for (const Task& task : owner.tasks) {
          if (task.kind == TaskKind::compute) streams.insert(task.stream);
        }
        EXPECT_LE(streams.size(), 1u) << owner.name << " of " << job.to_string();
      }
    } catch (const Error&) {  // refused
    }
  }
  EXPECT_GT(classes, 50);
}

// Returns a lower bound of a collective's time: half of its bytes enter a member over the fastest
// link of a GPU, and the part from other nodes over all NICs of a node.
double least_seconds(const Task& task, const Group& group, const Cluster& cluster) {
  std::set<int> nodes;
  for (const RankId rank : group.members) nodes.insert(cluster.node_of(rank));
  double in_node_Bps = 0;
  double nics_Bps = 0;
  for (int pool = cluster.pools.empty() ? -1 : 0; pool < std::ssize(cluster.pools); ++pool) {
    const NodeSpec& node = cluster.node_of_pool(pool);
    in_node_Bps = std::max({in_node_Bps, node.nvlink_Bps.value, node.pcie_Bps.value});
    nics_Bps = std::max(nics_Bps, node.nic_Bps.value * node.nics);
  }
  const double others = double(nodes.size() - 1) / double(nodes.size());
  if (nodes.size() > 1) return task.bytes * others / nics_Bps;
  return task.bytes / 2 / in_node_Bps;
}

// Whatever features a job has, no collective ends before its bytes could have been sent.
TEST(RandomJobPlans, NoCollectiveBeatsItsBytes) {
  int collectives = 0;
  std::set<CollectiveKind> kinds;
  for (std::uint64_t number = 0; number < 300; ++number) {
    const std::string file = fmt::format("keys-{}.yaml", number);
    try {
      const RandomJob job = accepted(random_job_of_keys(number), file);
      Job own = parse_case(job.text, file, job.set).job;
      own.communication.fidelity = Fidelity::closed;
      own.input = nullptr;  // input shares links, which only the engine models
      const Plan plan = iteration_plan(own, prepare_iteration(own));
      const Timeline timeline = evaluate_plan(plan, own.cluster);
      for (const RankTimeline& rank : timeline.ranks) {
        const RankClass& owner = plan.classes[rank.rank_class];
        for (std::size_t t = 0; t < owner.tasks.size(); ++t) {
          const Task& task = owner.tasks[t];
          if (task.kind != TaskKind::collective || task.bytes <= 0) continue;
          const Group& group = plan.groups[owner.groups[task.group_slot].front()];
          if (group.axis != Category::dp || group.members.size() < 2) continue;
          ++collectives;
          kinds.insert(task.collective);
          EXPECT_GE(rank.spans[t].end_s - rank.spans[t].start_s,
                    least_seconds(task, group, own.cluster) * (1 - 1e-9))
              << task.name << " of " << job.to_string();
        }
      }
    } catch (const Error&) {  // refused
    }
  }
  EXPECT_GT(collectives, 5000);
  EXPECT_GE(kinds.size(), 4u);
}

class RandomJobs : public testing::TestWithParam<int> {};

TEST_P(RandomJobs, RunOrAreRefusedByName) {
  constexpr int kInBlock = kJobs / kBlocks;
  int ran = 0;
  for (int i = 0; i < kInBlock; ++i) ran += runs(std::uint64_t(GetParam()) * kInBlock + i) ? 1 : 0;
  EXPECT_GT(ran, kInBlock / 4) << "nearly all are refused";
  RecordProperty("ran", ran);
}

// Two hundred jobs run in every test run, the others only in long ones.
INSTANTIATE_TEST_SUITE_P(Blocks, RandomJobs, testing::Range(0, 2));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, RandomJobs, testing::Range(2, kBlocks));

// Each key of the table is drawn by at least one of the jobs.
TEST(RandomJobsOfKeys, DrawMostOfTheTable) {
  std::set<std::string> drawn;
  for (std::uint64_t number = 0; number < kJobs; ++number) {
    for (const auto& [key, value] : random_job_of_keys(number).set) drawn.insert(key);
  }
  EXPECT_GT(drawn.size(), 500u);
}

}  // namespace
}  // namespace windtunnel
