#include "validate/accuracy/execution/port_bursts.hpp"

#include <gtest/gtest.h>

#include "tests/sim/engine/plan_maker.hpp"
#include "tests/support/small_job.hpp"
#include "validate/harness/execute/testbed.hpp"

namespace windtunnel {
namespace {

// What a port has gathered passes at once: as much as its bucket holds behind a long pause, nothing
// of what follows at once, and as much as fits into a short pause.
TEST(PortBursts, AreAsLongAsThePausesBeforeThem) {
  ExecutedPlan executed;
  executed.cluster = small_cluster(2, 1);
  executed.calibration = ideal_calibration();
  executed.testbed = true;
  const ExecutionScale scale = {10, 1000};
  const double burst = testbed_burst_bytes(executed.cluster, scale);
  const double rate_Bps = executed.cluster.node.nic_Bps.value;
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

}  // namespace
}  // namespace windtunnel
