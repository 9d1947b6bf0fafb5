// Other jobs' traffic on links is simulated as flows: bursts, and the load that a measured bus
// bandwidth implies on shared links.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"
#include "sim/engine/engine.hpp"
#include "sim/study/iterations/iteration_table.hpp"

namespace windtunnel {
namespace {

// Each replica fills a node of eight GPUs; gradients are reduced after the backward pass.
Job job_of(const std::string& fabric, const std::string& fidelity = "flows") {
  return parse_case(
             fmt::format("name: company\nmodel: {{layers: 4, hidden: 4096, heads: 32, vocabulary: "
                         "32000, sequence: 2048}}\ncluster: {{nodes: 8, node: dgx-a100, fabric: "
                         "{{topology: fat-tree, nodes_per_pod: 2, pod_oversubscription: 4, {}}}}}\n"
                         "layout: {{tp: 8, sequence_parallel: true}}\nbatch: {{global: 8, micro: "
                         "1}}\ncommunication: {{overlap: none, fidelity: {}}}\n",
                         fabric, fidelity),
             "company.yaml")
      .job;
}

double step_s(const Job& job, int draw = 0, FoldMode fold = FoldMode::automatic) {
  IterationPlanOptions options;
  options.draw = draw;
  const Plan plan = iteration_plan(job, prepare_iteration(job), options);
  return execute(plan, job.cluster, {.fold = fold, .calibration = job.calibration}).makespan_s;
}

double mean_step_s(const Job& job) {
  return run_draws(job, prepare_iteration(job), 1).step_s.mean;
}

std::string bursts(double load, double duty, const std::string& length) {
  return fmt::format("background: [{{links: pod-up, load: {}, duty: {}, burst: {}}}]", load, duty,
                     length);
}

// Short bursts on one link act like their mean. A ring over four links is at every moment as slow
// as its slowest link, and one moment in sixteen has no burst.
TEST(OthersTraffic, ShortBurstsAreTheMeanOfASingleLink) {
  const double quiet_s = step_s(job_of(""));
  const double constant_s = step_s(job_of("background: [{links: pod-up 0, load: 0.4}]"));
  EXPECT_GT(constant_s, 1.1 * quiet_s);
  const std::string one = "background: [{links: pod-up 0, load: 0.4, duty: 0.5, burst: 20 us}]";
  EXPECT_NEAR(step_s(job_of(one)) / constant_s, 1, 0.02);
  const double pace = 1.0 / 16 + 15.0 / 16 * 0.2;
  const double equal_s =
      step_s(job_of(fmt::format("background: [{{links: pod-up, load: {}}}]", 1 - pace)));
  EXPECT_NEAR(step_s(job_of(bursts(0.4, 0.5, "20 us"))) / equal_s, 1, 0.03);
}

// A ring waits for any link in a burst, so it is slowed for a larger share of time than one link.
TEST(OthersTraffic, LongBurstsCostMoreThanTheirMean) {
  const double constant_s = step_s(job_of("background: [{links: pod-up, load: 0.4}]"));
  const double bursts_s = mean_step_s(job_of(bursts(0.4, 0.5, "100 ms")));
  EXPECT_GT(bursts_s, 1.1 * constant_s);
  // Bursts are never worse than a burst all the time.
  EXPECT_LE(bursts_s, step_s(job_of("background: [{links: pod-up, load: 0.8}]")));
}

TEST(OthersTraffic, DrawsAreTheSameAgainAndFoldedOrNot) {
  const Job job = job_of(bursts(0.4, 0.5, "2 ms"));
  const double first_s = step_s(job);
  EXPECT_EQ(step_s(job), first_s);
  EXPECT_NE(step_s(job, 1), first_s);
  EXPECT_NEAR(step_s(job, 0, FoldMode::none) / first_s, 1, 1e-6);
  Job other = job;
  other.cluster.fabric.background_seed = 7;
  EXPECT_NE(step_s(other), first_s);
}

// Uplinks alone would allow 0.45 of the NICs' bandwidth. The measured bus allows three tenths, in
// closed form and as flows.
TEST(OthersTraffic, AMeasuredBusTakesTheSameAsFlowsAndInClosedForm) {
  const std::string measured =
      "measured: {all_reduce: 60 GB/s, reduce_scatter: 60 GB/s, "
      "all_gather: 60 GB/s}";
  const double closed_s = step_s(job_of(measured, "closed"));
  EXPECT_GT(closed_s, 1.1 * step_s(job_of("", "closed")));
  EXPECT_NEAR(step_s(job_of(measured)) / closed_s, 1, 0.01);
}

}  // namespace
}  // namespace windtunnel
