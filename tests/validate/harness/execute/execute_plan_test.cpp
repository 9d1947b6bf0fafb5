#include "validate/harness/execute/execute_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "policies/iteration.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/sim/engine/plan_maker.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"
#include "tests/validate/harness/execute/executed_order.hpp"

namespace windtunnel {
namespace {

Task message(TaskKind kind, const std::string& name, int stream, double bytes,
             std::vector<TaskIndex> after = {}) {
  Task task = plain(kind, name, stream, 0, std::move(after));
  task.peer_slot = 0;
  task.tag = 7;
  task.bytes = bytes;
  return task;
}

RankClass class_of(RankId rank, std::vector<Stream> streams, std::vector<Task> tasks) {
  RankClass rank_class;
  rank_class.name = fmt::format("rank {}", rank);
  rank_class.members = {rank};
  rank_class.streams = std::move(streams);
  rank_class.tasks = std::move(tasks);
  return rank_class;
}

Plan plan_of(std::vector<RankClass> classes) {
  Plan plan;
  plan.ranks = static_cast<int>(classes.size());
  plan.classes = std::move(classes);
  if (plan.ranks == 2) {
    plan.classes[0].peers = {{1}};
    plan.classes[1].peers = {{0}};
  }
  validate_plan(plan);
  return plan;
}

ExecuteOptions options(double times = 1, double bytes = 1) {
  ExecuteOptions options;
  options.scale = {times, bytes};
  options.calibration = ideal_calibration();
  return options;
}

// small_cluster() has links of 200 GB/s within a node.
TEST(ExecutePlan, AMessageTakesItsTimeOnTheLink) {
  const Plan plan = plan_of({class_of(0, {{"send"}}, {message(TaskKind::send, "s", 0, 2e9)}),
                             class_of(1, {{"recv"}}, {message(TaskKind::recv, "r", 0, 2e9)})});
  const Cluster cluster = small_cluster(1, 2);
  const Timeline timeline = execute_plan(plan, cluster, options(1, 1000)).timeline;
  expect_planned_order(plan, timeline);
  // The message takes 10 ms; a late wake-up makes it longer, never shorter.
  EXPECT_GE(timeline.ranks[1].spans[0].end_s, 0.01);
  EXPECT_GE(timeline.ranks[0].spans[0].end_s, 0.01);
  EXPECT_EQ(bytes_to_carry(plan, cluster, options()).total, 2e9);
  EXPECT_EQ(bytes_to_carry(plan, cluster, options()).peak_Bps, 200e9);
}

// A run that is stretched in real time takes as long as before in the seconds of the scenario.
TEST(ExecutePlan, TimesAreOfTheScenarioWhateverTheScale) {
  const Plan plan = plan_of({class_of(0, {{"compute"}}, {plain(TaskKind::compute, "c", 0, 4)})});
  const Timeline timeline = execute_plan(plan, small_cluster(1, 1), options(200)).timeline;
  EXPECT_GE(timeline.makespan_s, 4);
  EXPECT_EQ(timeline.iteration_end_s, std::vector{timeline.makespan_s});
}

TEST(ExecutePlan, ASynchronousSendWaitsForItsReceiver) {
  Task send = message(TaskKind::send, "s", 0, 1000);
  send.synchronous = true;
  const Plan plan = plan_of(
      {class_of(0, {{"send"}}, {send}),
       class_of(1, {{"recv"}},
                {plain(TaskKind::compute, "c", 0, 0.01), message(TaskKind::recv, "r", 0, 1000)})});
  const Timeline timeline = execute_plan(plan, small_cluster(1, 2), options()).timeline;
  EXPECT_GE(timeline.ranks[0].spans[0].start_s, 0.01);
  expect_planned_order(plan, timeline);
}

// A task waits for any of several others, may not start before a given time, and yields to a more
// urgent one.
TEST(ExecutePlan, JoinsTheFirstAndKeepsPriorities) {
  Task first = plain(TaskKind::compute, "first", 2, 0, {0, 1});
  first.join_first = 1;
  Task late = plain(TaskKind::compute, "late", 3, 0);
  late.not_before_s = 0.02;
  Task urgent = plain(TaskKind::compute, "urgent", 4, 0.001, {1});
  urgent.priority = 5;
  Task later = plain(TaskKind::compute, "later", 4, 0.001, {1});
  Task opener = plain(TaskKind::compute, "opener", 4, 0.02);
  const Plan plan = plan_of(
      {class_of(0, {{"a"}, {"b"}, {"c"}, {"d"}, {"e", StreamOrder::by_priority}},
                {plain(TaskKind::compute, "short", 0, 0.001),
                 plain(TaskKind::compute, "long", 1, 1), first, late, later, urgent, opener})});
  const Timeline timeline = execute_plan(plan, small_cluster(1, 1), options()).timeline;
  expect_planned_order(plan, timeline);
  const std::vector<Span>& spans = timeline.ranks[0].spans;
  EXPECT_LT(spans[2].start_s, spans[1].end_s) << "waited for all";
  EXPECT_GE(spans[3].start_s, 0.02);
  EXPECT_GE(spans[5].start_s, spans[6].end_s);
  EXPECT_GE(spans[4].start_s, spans[5].end_s) << "before the more urgent one";
}

// Bytes are copied, encoded and stored as fast as their links allow: PCIe of 20 GB/s, and storage
// of 10 GB/s behind the node.
TEST(ExecutePlan, CopiesCodesAndStoresTakeTheirResources) {
  const auto over = [](TaskKind kind, Resource resource, double bytes) {
    Task task = plain(kind, "moves", 0, 0);
    task.flows = {{bytes, std::numeric_limits<double>::infinity(), {{resource, 1}}}};
    return task;
  };
  Task capped = over(TaskKind::copy, Resource::pcie_in, 2e8);
  capped.flows[0].max_rate = 10e9;
  const Plan plan = plan_of({class_of(0, {{"copy"}},
                                      {over(TaskKind::copy, Resource::pcie_out, 2e8),
                                       over(TaskKind::encode, Resource::host_memory, 2e9),
                                       over(TaskKind::store, Resource::storage_write, 1e8), capped,
                                       over(TaskKind::compute, Resource::sm, 1)})});
  const Timeline timeline = execute_plan(plan, small_cluster(1, 1), options(1, 100)).timeline;
  expect_planned_order(plan, timeline);
  const std::vector<double> least_s = {0.01, 0.01, 0.01, 0.02, 0.01};
  for (std::size_t t = 0; t < least_s.size(); ++t) {
    const Span& span = timeline.ranks[0].spans[t];
    EXPECT_GE(span.end_s - span.start_s, least_s[t] * 0.999) << t;
  }
}

// Real processes keep the order of every schedule's plan, lowered as for the engine.
TEST(ExecutePlan, EveryScheduleRunsInItsOrder) {
  int executed = 0;
  for (const ScheduleKind& kind : schedule_kinds()) {
    SCOPED_TRACE(kind.name);
    bool made = false;
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      Job job = small_job(1, 4, 1);
      job.model.layers = 16;
      job.layout.sharding = Sharding::none;
      job.recompute = recompute;
      job.schedule.name = kind.name;
      job.schedule.slices = kind.usual_slices;
      job.layout.vpp = kind.usual_chunks;
      Plan plan;
      try {
        plan = iteration_plan(job, prepare_iteration(job));
      } catch (const Error&) {
        continue;  // some schedules need recomputation, others exclude it
      }
      made = true;
      double busiest_s = 0;
      for (const RankClass& rank_class : plan.classes) {
        double sum_s = 0;
        for (const Task& task : rank_class.tasks) sum_s += total_seconds(task.cost);
        busiest_s = std::max(busiest_s, sum_s);
      }
      ExecuteOptions scaled = options(busiest_s / 0.03);
      scaled.scale.bytes = std::max(1.0, bytes_to_carry(plan, job.cluster, scaled).total / 10e6);
      expect_planned_order(plan, execute_plan(plan, job.cluster, scaled).timeline);
      break;
    }
    EXPECT_TRUE(made);
    executed += made ? 1 : 0;
  }
  EXPECT_EQ(executed, 27);
}

// Each rank waits for a message that the other would send only afterwards, which no schedule does.
TEST(ExecutePlan, NamesTheTaskAtWhichAllStandStill) {
  Plan plan;
  plan.ranks = 2;
  for (const RankId rank : {0, 1}) {
    Task receive = message(TaskKind::recv, "r", 0, 8);
    Task send = message(TaskKind::send, "s", 0, 8);
    receive.tag = rank;
    send.tag = 1 - rank;
    plan.classes.push_back(class_of(rank, {{"c"}}, {receive, send}));
    plan.classes.back().peers = {{1 - rank}};
  }
  ExecuteOptions impatient = options();
  impatient.standstill_s = 2;
  const std::string fault =
      error_of([&] { execute_plan(plan, small_cluster(1, 2), impatient); }, ExitCode::failed);
  EXPECT_TRUE(fault.starts_with("no rank has made progress for 2.0 s: rank ")) << fault;
  EXPECT_TRUE(fault.ends_with(" is in recv 'r'")) << fault;
}

TEST(ExecutePlan, RefusesMoreRanksThanItCanExecute) {
  Plan plan;
  plan.ranks = 65;
  EXPECT_EQ(error_of([&] { execute_plan(plan, small_cluster(65, 1), options()); }),
            "there are 65 ranks, but at most 64 can be executed, one process each");
}

}  // namespace
}  // namespace windtunnel
