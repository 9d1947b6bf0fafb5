#include <gtest/gtest.h>

#include "tests/sim/engine/plan_maker.hpp"
#include "tests/support/small_job.hpp"
#include "validate/accuracy/execution/execution_judgement.hpp"
#include "validate/harness/execute/testbed.hpp"

namespace windtunnel {
namespace {

ExecutedPlan on_testbed(const Cluster& cluster) {
  ExecutedPlan executed;
  executed.cluster = cluster;
  executed.calibration = ideal_calibration();
  executed.testbed = true;
  return executed;
}

// Credit that a port gathered passes at once: a full bucket after a long pause, none directly after
// that, and a part after a short pause.
TEST(PortBursts, AreAsLongAsThePausesBeforeThem) {
  ExecutedPlan executed = on_testbed(small_cluster(2, 1));
  const ExecutionScale scale = {10, 1000};
  const double burst = testbed_burst_bytes(executed.cluster, 0, scale);
  const double rate_Bps = testbed_port_Bps(executed.cluster, 0);
  RankClass sender, receiver;
  sender.members = {0};
  receiver.members = {1};
  sender.streams = receiver.streams = {{"c"}};
  sender.peers = {{1}};
  receiver.peers = {{0}};
  sender.tasks = {send("a", 0, 0, 1, 3 * burst), send("b", 0, 0, 2, 3 * burst),
                  plain(TaskKind::compute, "pause", 0, burst / 2 / rate_Bps),
                  send("c", 0, 0, 3, 3 * burst)};
  receiver.tasks = {recv("a", 0, 0, 1, 3 * burst), recv("b", 0, 0, 2, 3 * burst),
                    recv("c", 0, 0, 3, 3 * burst)};
  executed.plan.ranks = 2;
  executed.plan.classes = {sender, receiver};
  ASSERT_NO_THROW(validate_plan(executed.plan));
  const Timeline predicted = predicted_timeline(executed);
  const std::vector<Task> tasks = with_bursts(executed, predicted, scale).plan.classes[0].tasks;
  EXPECT_NEAR(tasks[0].bytes / burst, 2, 1e-6);
  EXPECT_NEAR(tasks[1].bytes / burst, 3, 1e-6);
  EXPECT_NEAR(tasks[3].bytes / burst, 2.5, 1e-3);
  executed.testbed = false;
  EXPECT_EQ(with_bursts(executed, predicted, scale).plan, executed.plan);
}

// A port at a tenth of its rate gathers a tenth of the credit; its neighbour gathers as much as
// before.
TEST(PortBursts, AreOfThePortsOwnRate) {
  Cluster cluster = small_cluster(2, 1);
  cluster.degraded_nics = {{0, 0, 0.1}};
  ExecutedPlan executed = on_testbed(cluster);
  const ExecutionScale scale = {10, 1000};
  const double burst = testbed_burst_bytes(cluster, 1, scale);
  EXPECT_NEAR(testbed_port_Bps(cluster, 0), 0.1 * testbed_port_Bps(cluster, 1), 1);
  RankClass slow, healthy;
  slow.members = {0};
  healthy.members = {1};
  slow.streams = healthy.streams = {{"out"}, {"in"}};
  slow.peers = {{1}};
  healthy.peers = {{0}};
  slow.tasks = {send("a", 0, 0, 1, 2 * burst), recv("b", 1, 0, 2, 2 * burst)};
  healthy.tasks = {send("b", 0, 0, 2, 2 * burst), recv("a", 1, 0, 1, 2 * burst)};
  executed.plan.ranks = 2;
  executed.plan.classes = {slow, healthy};
  ASSERT_NO_THROW(validate_plan(executed.plan));
  const Plan plan = with_bursts(executed, predicted_timeline(executed), scale).plan;
  EXPECT_NEAR(plan.classes[0].tasks[0].bytes / burst, 1.9, 1e-6);
  EXPECT_NEAR(plan.classes[1].tasks[0].bytes / burst, 1, 1e-6);
}

}  // namespace
}  // namespace windtunnel
