// Long campaigns of a one-tier job under exponential failures must match their exact expectation.
//
// A snapshot every k iterations of p seconds stalls for s and can be restored C after its start (k
// is large enough for that). M is the mean time between failures. Down time of length Q, which
// failures start again, takes W = M (e^(Q/M) - 1) on average. Once a state is secured, the next one
// is secured P = k p + s later; after a restart, whose first period has no snapshot, A = k p + C
// later. Let x_A be the mean time until a run of length A passes, if each failure costs W: x_A = (M
// + W)(e^(A/M) - 1). Then x = M (1 - e^(-P/M)) + (1 - e^(-P/M)) (W + x_A) = (1 - e^(-P/M)) M
// e^(Q/M) e^(A/M) per k p of progress. C = s (synchronous) gives Daly's M e^(Q/M) (e^((kp+s)/M) -
// 1).
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "models/reliability/interval_theory.hpp"
#include "models/reliability/waiting_theory.hpp"
#include "sim/campaign/campaign.hpp"
#include "tests/support/two_level_theory.hpp"

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

double asynchronous_goodput(double work_s, double stall_s, double complete_s) {
  return work_s / (-std::expm1(-(work_s + stall_s) / kMtbf) * kMtbf *
                   std::exp((kDown + work_s + complete_s) / kMtbf));
}

TEST(CampaignTheory, SynchronousTierAgreesWithDaly) {
  // Daly (FGCS 22(3), 2006) states the expected wall time of 20 s of work and a save of 1.5 s.
  const double exact = 20 / (kMtbf * std::exp(kDown / kMtbf) * std::expm1((20 + 1.5) / kMtbf));
  EXPECT_NEAR(asynchronous_goodput(20, 1.5, 1.5), exact, 1e-12);
  EXPECT_NEAR(expected_goodput(20, 1.5, kMtbf, kDown), exact, 1e-12);
  const CampaignReport report = run_campaign(one_tier(20, 1.5, 1.5));
  // The tolerances cover the ends of a campaign of 300 failures, and 4 standard errors.
  EXPECT_NEAR(report.goodput.mean / exact, 1, 1e-3);
  EXPECT_LT(report.goodput.high - report.goodput.low, 2e-3 * exact);
}

// A pause in each interval between saves is also repeated after a failure.
TEST(CampaignTheory, PausesStretchTheWork) {
  CampaignInputs inputs = one_tier(20, 1.5, 1.5);
  inputs.table.pauses.evaluation = {.every_iterations = 10, .takes_s = 2};
  const CampaignReport report = run_campaign(inputs);
  const double share = 20 / 24.0;
  const double exact = share * expected_goodput(24, 1.5, kMtbf, kDown);
  EXPECT_NEAR(report.goodput.mean / exact, 1, 2e-3);
  // Pauses are two tenths of the work, and at least that of redone work, which begins with an
  // evaluation each time.
  const double useful_s = report.useful_s.mean;
  const double paused_s = report.lost_s[static_cast<int>(Loss::evaluate)].mean;
  const double redone_s = report.lost_s[static_cast<int>(Loss::redo)].mean;
  EXPECT_GE(paused_s, 0.2 * useful_s * (1 - 1e-3));
  EXPECT_LE(paused_s, 0.2 * (useful_s + redone_s) + 2 * report.failures.at("unexpected").mean);
}

// The job waits 0.4 % of its time, namely when three of 16 nodes are out at once. Few trials meet
// that, so the spread over trials understates the uncertainty.
TEST(CampaignTheory, IntervalsReachToWaitsThatWereNotSeen) {
  CampaignInputs inputs = one_tier(20, 0.5, 1);
  inputs.nodes = 16;
  inputs.table.tiers[0].tier.place = SnapshotPlace::storage;
  inputs.recovery.spares = 2;
  inputs.failures[0].kind = FailureKind::node;
  inputs.failures[0].rate_per_node_s = 2e-5;
  inputs.failures[0].repair.lognormal_median_s = 600;
  inputs.failures[0].repair.lognormal_sigma = 1;
  inputs.campaign = {30000, 4000, 1};
  const CampaignReport many = run_campaign(inputs);
  const auto wait = static_cast<int>(Loss::wait);
  const double expected_s = expected_wait_s(inputs.failures, 16, 2, 30000);
  EXPECT_NEAR(many.lost_s[wait].mean / expected_s, 1, 0.2);
  inputs.campaign.trials = 4;
  int unseen = 0;
  int reached = 0;
  int too_narrow = 0;
  for (inputs.campaign.seed = 2; inputs.campaign.seed < 42; ++inputs.campaign.seed) {
    const CampaignReport few = run_campaign(inputs);
    EXPECT_GE(few.lost_s[wait].high, expected_s * 0.999);
    if (few.lost_s[wait].mean > 0) continue;
    ++unseen;
    reached += few.goodput.low <= many.goodput.mean;
    too_narrow += estimate(few.trial_goodput, 1).low > many.goodput.mean;
  }
  EXPECT_GE(unseen, 3);
  EXPECT_GE(reached, unseen * 3 / 4);
  EXPECT_GE(too_narrow, unseen / 2) << unseen;
}

TEST(CampaignTheory, AsynchronousTierIsRestorableLater) {
  const double exact = asynchronous_goodput(20, 0.5, 12);
  // This is Daly's formula with the time between stall and completion as part of the restart.
  EXPECT_NEAR(expected_goodput(20, 0.5, kMtbf, kDown + 12 - 0.5), exact, 1e-12);
  EXPECT_NEAR(run_campaign(one_tier(20, 0.5, 12)).goodput.mean / exact, 1, 1e-3);
}

TEST(CampaignTheory, SnapshotInEachIteration) {
  const double exact = asynchronous_goodput(1, 0.25, 1.25);
  EXPECT_NEAR(run_campaign(one_tier(1, 0.25, 1.25)).goodput.mean / exact, 1, 1e-3);
}

// --- intervals

// Returns four standard errors of the mean; its 95 % interval is 1.96 of them to each side.
double four_errors(const Estimate& estimate) {
  return 4 * (estimate.high - estimate.low) / (2 * 1.96);
}

// Iterations take 0.1 s, so that intervals are fine. There are 10^6 failures in all: four standard
// errors are 0.1 to 0.4 % of the waste. Cutting campaigns off after 3000 failures has a smaller
// effect.
CampaignInputs fine_tier(double work_s, double save_s) {
  CampaignInputs inputs = one_tier(static_cast<int>(std::lround(work_s * 10)), save_s, save_s);
  inputs.table.iteration_s = {0.1, 0.1 + save_s};
  inputs.campaign = {3000 * kMtbf, 333, 1};
  return inputs;
}

// Returns where the parabola through (-h, left), (0, middle), (h, right) is highest.
double vertex(double h, const std::array<double, 3>& at) {
  return h / 2 * (at[0] - at[2]) / (at[0] - 2 * at[1] + at[2]);
}

TEST(CampaignTheory, WasteAndOptimumOfTheExactFormula) {
  constexpr double kSave = 1.5;
  const double exact_s = exact_interval_s(kSave, kMtbf);
  std::array<double, 3> simulated{};
  std::array<double, 3> expected{};
  for (int i = 0; i < 3; ++i) {
    const double work_s = std::round(exact_s * std::pow(2, i - 1) * 10) / 10;
    const Estimate goodput = run_campaign(fine_tier(work_s, kSave)).goodput;
    simulated[i] = goodput.mean;
    expected[i] = expected_goodput(work_s, kSave, kMtbf, kDown);
    EXPECT_LT(four_errors(goodput), 5e-3 * (1 - expected[i]));
    EXPECT_NEAR((1 - simulated[i]) / (1 - expected[i]), 1, 5e-3) << work_s;
  }
  // Over the logarithm of the interval, goodput is a parabola with a small skew, which both curves
  // have. All campaigns have the same failures, so the curve's shape is known better than its
  // height.
  const double off = vertex(std::log(2), simulated) - vertex(std::log(2), expected);
  EXPECT_NEAR(std::exp(off), 1, 5e-3);
}

// Process failures leave the keeper's copy in host memory, node failures do not. Both saves cost
// the same: where both are due, the copy in host memory is complete no earlier, as in the formula.
TEST(CampaignTheory, TwoLevels) {
  constexpr double kSave = 1.5;
  const TwoLevels levels{kSave, kSave, kMtbf, 9 * kMtbf, kDown, kDown + 10};
  for (const int far_every : {1, 3, 10}) {
    CampaignInputs inputs = fine_tier(15, kSave);
    SnapshotTier near{.place = SnapshotPlace::host_memory, .keeper_process = true};
    near.every_iterations = 150;
    const SnapshotTier far{.every_iterations = 150 * far_every};
    inputs.table.tiers = {{near, kSave, 1}, {far, kSave, 11}};
    inputs.table.iteration_s = {0.1, 0.1 + kSave, 0.1 + kSave, 0.1 + kSave};
    FailureClass node;
    node.rate_per_node_s = 1 / levels.far_mtbf_s / inputs.nodes;
    node.repair.fixed_s = 1;
    inputs.failures.push_back(node);
    inputs.recovery.spares = 1000;
    const Estimate goodput = run_campaign(inputs).goodput;
    const double expected = two_level_goodput(levels, {15, far_every});
    EXPECT_LT(four_errors(goodput), 2e-3);
    EXPECT_NEAR(goodput.mean, expected, four_errors(goodput)) << far_every;
    // A model with one level would be far off.
    const double together = 1 / (1 / levels.near_mtbf_s + 1 / levels.far_mtbf_s);
    EXPECT_GT(std::abs(expected - expected_goodput(15, kSave, together, kDown)), 5e-3);
  }
}

}  // namespace
}  // namespace windtunnel
