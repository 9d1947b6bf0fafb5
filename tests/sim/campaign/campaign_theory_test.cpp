// Long campaigns of a one-tier job under exponential failures against their exact expectation.
//
// A snapshot every k iterations of p seconds costs s and can be restored C after its start (k is
// large enough for that). Down time of length Q, which failures start again, takes W = M (e^(Q/M) -
// 1) on average. From the moment when a state is secured, the next one is secured P = k p + s
// later; after a restart, whose first period has no snapshot, A = k p + C later. With x_A =
// A-stretches until one passes, each failure costing W: x_A = (M + W)(e^(A/M) - 1), and x = M (1 -
// e^(-P/M)) + (1 - e^(-P/M)) (W + x_A) = (1 - e^(-P/M)) M e^(Q/M) e^(A/M) per k p of progress. C =
// s (synchronous) gives Daly's M e^(Q/M) (e^((kp+s)/M) - 1).
#include <gtest/gtest.h>

#include <cmath>

#include "sim/campaign/campaign.hpp"

namespace windtunnel {
namespace {

constexpr double kMtbf = 100;
constexpr double kDown = 6;  // detect 2, restart 3, restore 1

CampaignInputs one_tier(int every, double stall_s, double complete_s) {
  CampaignInputs inputs;
  inputs.nodes = 4;
  inputs.table.tiers = {{{.every_iterations = every}, complete_s, 1}};
  inputs.table.iteration_s = {1, 1 + stall_s};
  inputs.recovery = {.detect_s = 2, .restart_s = 3};
  FailureClass crash;
  crash.kind = FailureKind::process;
  crash.rate_per_node_s = 1 / kMtbf / inputs.nodes;
  inputs.failures = {crash};
  inputs.campaign = {30000, 10000, 1};
  return inputs;
}

double expected_goodput(double work_s, double stall_s, double complete_s) {
  return work_s / (-std::expm1(-(work_s + stall_s) / kMtbf) * kMtbf *
                   std::exp((kDown + work_s + complete_s) / kMtbf));
}

TEST(CampaignTheory, SynchronousTierAgreesWithDaly) {
  // Daly, FGCS 22(3), 2006: expected wall time of 20 s of work and a save of 1.5 s.
  const double exact = 20 / (kMtbf * std::exp(kDown / kMtbf) * std::expm1((20 + 1.5) / kMtbf));
  EXPECT_NEAR(expected_goodput(20, 1.5, 1.5), exact, 1e-12);
  const CampaignReport report = run_campaign(one_tier(20, 1.5, 1.5));
  // What remains is the ends of a campaign of 300 failures, and 4 standard errors.
  EXPECT_NEAR(report.goodput.mean / exact, 1, 1e-3);
  EXPECT_LT(report.goodput.high - report.goodput.low, 2e-3 * exact);
}

TEST(CampaignTheory, AsynchronousTierIsRestorableLater) {
  const double exact = expected_goodput(20, 0.5, 12);
  EXPECT_NEAR(run_campaign(one_tier(20, 0.5, 12)).goodput.mean / exact, 1, 1e-3);
}

TEST(CampaignTheory, SnapshotInEachIteration) {
  const double exact = expected_goodput(1, 0.25, 1.25);
  EXPECT_NEAR(run_campaign(one_tier(1, 0.25, 1.25)).goodput.mean / exact, 1, 1e-3);
}

}  // namespace
}  // namespace windtunnel
