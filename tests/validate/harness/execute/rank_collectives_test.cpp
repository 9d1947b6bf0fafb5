// Runs collectives of Plans between real processes, with numbers that are checked, and as rounds of
// messages.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/small_job.hpp"
#include "tests/validate/harness/execute/executed_order.hpp"
#include "validate/harness/execute/collective_work.hpp"
#include "validate/harness/execute/execute_plan.hpp"

namespace windtunnel {
namespace {

Plan collective_plan(int ranks, CollectiveKind kind, CollectiveAlgorithm algorithm, double bytes) {
  Plan plan;
  plan.ranks = ranks;
  RankClass rank_class;
  rank_class.name = "all";
  rank_class.members.resize(static_cast<std::size_t>(ranks));
  std::iota(rank_class.members.begin(), rank_class.members.end(), 0);
  rank_class.streams = {{"dp"}};
  rank_class.groups = {std::vector<std::int32_t>(static_cast<std::size_t>(ranks), 0)};
  plan.groups = {{Category::dp, rank_class.members}};
  for (int sequence = 0; sequence < 2; ++sequence) {
    Task task;
    task.kind = TaskKind::collective;
    task.name = fmt::format("{} {}", to_string(kind), sequence);
    task.group_slot = 0;
    task.sequence = sequence;
    task.collective = kind;
    task.algorithm = algorithm;
    task.bytes = bytes;
    rank_class.tasks.push_back(task);
  }
  plan.classes = {rank_class};
  validate_plan(plan);
  return plan;
}

ExecuteOptions slow_options() {
  ExecuteOptions options;
  options.scale = {1, 1000};  // 25 GB/s of a NIC become 25 MB/s
  options.calibration = ideal_calibration();
  return options;
}

CollectiveWork work_of(const Plan& plan, const Cluster& cluster, const ExecuteOptions& options) {
  const LinkTable links(cluster);
  const CollectiveWorks works(plan, cluster, options.calibration, options.pool_calibrations, links);
  return works.of(plan.classes[0].tasks[0], 0, 0);
}

struct Case {
  CollectiveKind kind;
  CollectiveAlgorithm algorithm;
  CollectiveForm form;
  double seconds;  // by hand: 1 GB, 4 ranks, a NIC of 25 GB/s each
};

// A whole buffer of 1 GB takes 40 ms on a NIC.
TEST(RankCollectives, TakeTheTimeOfTheirAlgorithm) {
  using Kind = CollectiveKind;
  using Algorithm = CollectiveAlgorithm;
  using Form = CollectiveForm;
  const Cluster cluster = small_cluster(4, 1);
  for (const Case& each :
       {Case{Kind::all_reduce, Algorithm::ring, Form::all_reduce, 0.06},
        Case{Kind::reduce_scatter, Algorithm::ring, Form::reduce_scatter, 0.03},
        Case{Kind::all_gather, Algorithm::ring, Form::all_gather, 0.03},
        Case{Kind::all_to_all, Algorithm::pairwise, Form::all_to_all, 0.03},
        Case{Kind::all_reduce, Algorithm::tree, Form::rounds, 0.08},
        Case{Kind::all_reduce, Algorithm::halving_doubling, Form::rounds, 0.06}}) {
    SCOPED_TRACE(fmt::format("{} {}", to_string(each.kind), to_string(each.algorithm)));
    const Plan plan = collective_plan(4, each.kind, each.algorithm, 1e9);
    const CollectiveWork work = work_of(plan, cluster, slow_options());
    EXPECT_EQ(work.form, each.form);
    EXPECT_EQ(work.algorithm, each.algorithm);
    const Timeline timeline = execute_plan(plan, cluster, slow_options()).timeline;
    expect_planned_order(plan, timeline);
    EXPECT_GE(timeline.makespan_s, 2 * each.seconds * 0.999);
  }
}

// With several GPUs per node, rings run over every lane, or within nodes and then across.
TEST(RankCollectives, RunOnNodesOfSeveralGpus) {
  const Cluster cluster = small_cluster(2, 4);
  for (const CollectiveAlgorithm algorithm :
       {CollectiveAlgorithm::ring, CollectiveAlgorithm::hierarchical}) {
    SCOPED_TRACE(to_string(algorithm));
    const Plan plan = collective_plan(8, CollectiveKind::all_reduce, algorithm, 1e9);
    EXPECT_EQ(work_of(plan, cluster, slow_options()).form, CollectiveForm::rounds);
    const Timeline timeline = execute_plan(plan, cluster, slow_options()).timeline;
    expect_planned_order(plan, timeline);
    // Each of four lanes carries a quarter, which takes 2 x 1/2 x 10 ms.
    EXPECT_GE(timeline.makespan_s, 2 * 0.01 * 0.999);
  }
}

TEST(RankCollectives, WithoutBytesAreMeetings) {
  const Cluster cluster = small_cluster(1, 3);
  Plan plan = collective_plan(3, CollectiveKind::all_reduce, CollectiveAlgorithm::ring, 0);
  Task late;
  late.stream = 1;
  late.name = "late";
  late.not_before_s = 0.03;
  RankClass own = plan.classes[0];
  own.members = {2};
  own.groups = {{0}};
  own.streams.push_back({"compute"});
  own.tasks.push_back(late);
  own.tasks[0].after = {2};
  plan.classes[0].members = {0, 1};
  plan.classes[0].groups = {{0, 0}};
  plan.classes.push_back(own);
  validate_plan(plan);
  const Timeline timeline = execute_plan(plan, cluster, slow_options()).timeline;
  expect_planned_order(plan, timeline);
  for (const RankTimeline& rank : timeline.ranks) EXPECT_GE(rank.spans[0].end_s, 0.03);
}

}  // namespace
}  // namespace windtunnel
