#include "sim/study/simulate_company.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "policies/iteration.hpp"
#include "tests/sim/study/random_scenario.hpp"

namespace windtunnel {
namespace {

// Gradients of whole nodes are reduced in one ring per rail, so that the bytes that cross a link
// can be counted by hand.
std::string ring_job(const std::string& name, int layers, int nodes, const std::string& more = "") {
  return fmt::format(
      "name: {}\nmodel: {{layers: {}, hidden: 4096, heads: 32, vocabulary: 51200, sequence: "
      "2048}}\n"
      "cluster: {{nodes: {}, node: dgx-h100}}\nlayout: {{tp: 8, pp: 1, sharding: zero1, "
      "sequence_parallel: true}}\nbatch: {{global: {}, micro: 1}}\ncommunication: {{overlap: "
      "bucketed, collectives: {{reduce_scatter: {{algorithm: ring}}, all_gather: {{algorithm: "
      "ring}}}}}}\n{}",
      name, layers, nodes, 2 * nodes, more);
}

class CompanyRun : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/company_run_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }

  Company company(const std::vector<std::string>& jobs, const std::string& placement, int nodes,
                  const std::string& fabric) const {
    std::string names;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      const std::string name = fmt::format("{}.yaml", j);
      std::ofstream(folder_ + "/" + name) << jobs[j];
      names += (names.empty() ? "" : ", ") + name;
    }
    return resolve_company(
        {.file = folder_ + "/company.yaml",
         .text = fmt::format("name: company\ncluster: {{nodes: {}, node: dgx-h100, fabric: "
                             "{}}}\njobs: [{}]\nplacement: {}\n",
                             nodes, fabric, names, placement)});
  }

  CompanyReport run(const std::vector<std::string>& jobs, const std::string& placement, int nodes,
                    const std::string& fabric) const {
    return simulate_company(company(jobs, placement, nodes, fabric), {.threads = 2});
  }

  std::string folder_;
};

constexpr const char* kPods = "{nodes_per_pod: 4, pod_oversubscription: 8}";

TEST_F(CompanyRun, OneJobIsTheJobAlone) {
  const std::string job = ring_job("a", 8, 8);
  const CompanyReport report = run({job}, "packed", 8, kPods);
  std::string alone = job;
  alone.replace(alone.find("dgx-h100"), 8, fmt::format("dgx-h100, fabric: {}", kPods));
  const double alone_s = simulate(parse_case(alone, "a.yaml")).iteration.time_s;
  EXPECT_NEAR(report.jobs[0].together_s(), alone_s, 1e-9 * alone_s);
  EXPECT_EQ(report.jobs[0].slowdown, 1);
}

TEST_F(CompanyRun, JobsThatShareNoLinkAreAsAlone) {
  const CompanyReport report =
      run({ring_job("a", 8, 8), ring_job("b", 5, 4), ring_job("c", 6, 4)}, "packed", 16, kPods);
  for (const CompanyJob& job : report.jobs) {
    EXPECT_NEAR(job.least_slowdown, 1, 1e-6) << job.alone.scenario;
    EXPECT_NEAR(job.most_slowdown, 1, 1e-6) << job.alone.scenario;
    EXPECT_GE(job.steps, kCompanySteps);
  }
}

// Jobs on one pool of a machine with unlike nodes equal jobs on a machine with that kind of node.
TEST_F(CompanyRun, JobsOnPoolsAreJobsOnTheirNodes) {
  const std::vector<std::string> nodes = {"dgx-h100", "dgx-a100"};
  for (const std::string placement : {"packed", "spread", "interleaved"}) {
    std::vector<double> alone_s;
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      std::string job = ring_job(fmt::format("{}", j), 6, 4);
      std::string alone = job;
      alone.replace(alone.find("dgx-h100"), 8, nodes[j]);
      alone_s.push_back(simulate(parse_case(alone, "alone.yaml")).iteration.time_s);
      job.replace(job.find(", node: dgx-h100"), 16, "");
      job.replace(job.find("pp: 1"), 5, fmt::format("pp: 1, place: {{dp: [{}]}}", nodes[j]));
      std::ofstream(fmt::format("{}/{}.yaml", folder_, j)) << job;
    }
    const CompanyReport report = simulate_company(
        resolve_company({.file = folder_ + "/company.yaml",
                         .text = fmt::format("name: company\ncluster: {{pools: [{{name: dgx-h100, "
                                             "nodes: 6, node: dgx-h100}}, {{name: dgx-a100, nodes: "
                                             "4, node: dgx-a100}}]}}\njobs: [0.yaml, 1.yaml]\n"
                                             "placement: {}\n",
                                             placement)}),
        {.threads = 2});
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      EXPECT_NEAR(report.jobs[j].alone_s(), alone_s[j], 1e-9 * alone_s[j]) << nodes[j];
      EXPECT_NEAR(report.jobs[j].slowdown, 1, 1e-6) << nodes[j];
    }
    EXPECT_GT(alone_s[1], 1.2 * alone_s[0]);
  }
}

// Returns the load of the busiest uplink of a pod, relative to its capacity. It counts the ring
// edges of every collective that leave a pod, from the places alone.
double busiest_uplink(const CompanyReport& report, const Cluster& machine) {
  const int per_pod = machine.fabric.nodes_per_pod;
  std::map<int, double> bytes_per_s;  // per pod, for one rail
  for (const CompanyJob& job : report.jobs) {
    const Cluster& cluster = job.alone.job.cluster;
    double ring_bytes = 0;  // sum over all edges
    for (const Task& task : job.alone.plan.classes.front().tasks) {
      if (task.kind != TaskKind::collective || !task.as_flows) continue;
      ring_bytes += task.bytes * (cluster.nodes - 1) / cluster.nodes;
    }
    EXPECT_GT(ring_bytes, 0);
    ring_bytes /= job.alone.job.calibration.nic_efficiency.value;  // bytes on the wire
    for (int node = 0; node < cluster.nodes; ++node) {
      const int pod = cluster.place_of(node) / per_pod;
      if (cluster.place_of((node + 1) % cluster.nodes) / per_pod == pod) continue;
      bytes_per_s[pod] += ring_bytes / job.together_s();
    }
  }
  double busiest = 0;
  for (const auto& [pod, load] : bytes_per_s) busiest = std::max(busiest, load);
  return busiest * machine.fabric.pod_oversubscription / (per_pod * machine.node.nic_Bps.value);
}

// These jobs mostly reduce gradients, so that the bound is tight.
TEST_F(CompanyRun, SharedUplinksSlowDownAndAreNeverOverfull) {
  double fullest = 0;
  for (const char* placement : {"spread", "interleaved"}) {
    for (const int layers : {8, 3}) {
      const Company both = company({ring_job("a", 8, 8), ring_job("b", layers, 8)}, placement, 16,
                                   "{nodes_per_pod: 4, pod_oversubscription: 16}");
      const CompanyReport report = simulate_company(both, {.threads = 2});
      for (const CompanyJob& job : report.jobs) {
        EXPECT_GT(job.least_slowdown, 1.05) << placement << " " << job.alone.scenario;
        EXPECT_LE(job.least_slowdown, job.slowdown);
        EXPECT_LE(job.slowdown, job.most_slowdown);
      }
      const Cluster& machine = both.jobs.front().job.cluster;
      const double busiest = busiest_uplink(report, machine);
      EXPECT_LE(busiest, 1 + 1e-3) << placement;
      fullest = std::max(fullest, busiest);
    }
  }
  EXPECT_GT(fullest, 0.9) << "the bound is nowhere near";
}

TEST_F(CompanyRun, FoldedRanksAreAsUnfolded) {
  const auto slowdowns = [&](const std::string& fold) {
    const CompanyReport report = run({ring_job("a", 4, 4, fold), ring_job("b", 3, 4, fold)},
                                     "spread", 8, "{nodes_per_pod: 4, pod_oversubscription: 8}");
    return std::pair(report.jobs[0].slowdown, report.jobs[1].slowdown);
  };
  const auto folded = slowdowns("");
  const auto unfolded = slowdowns("fold: none\n");
  EXPECT_GT(folded.first, 1.01);
  EXPECT_NEAR(folded.first, unfolded.first, 1e-6);
  EXPECT_NEAR(folded.second, unfolded.second, 1e-6);
}

TEST_F(CompanyRun, TheSameOnAnyNumberOfThreads) {
  const Company both = company({ring_job("a", 4, 4), ring_job("b", 3, 4)}, "spread", 8, kPods);
  const CompanyReport one = simulate_company(both, {.threads = 1});
  const CompanyReport many = simulate_company(both, {.threads = 4});
  for (std::size_t j = 0; j < 2; ++j) EXPECT_EQ(one.jobs[j].slowdown, many.jobs[j].slowdown);
}

TEST_F(CompanyRun, StepsTooFarApartAreRefused) {
  const std::string heavy =
      "name: heavy\nmodel: gpt3-175b\ncluster: {nodes: 8, node: dgx-h100}\nlayout: {tp: 8, pp: 8}\n"
      "batch: {global: 1024, micro: 1}\nrecompute: full\n";
  try {
    run({heavy, ring_job("light", 1, 1)}, "packed", 16, kPods);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("differ too much in length"), std::string::npos)
        << error.what();
  }
}

// scenarios/company: the wide job is faster alone, also in closed form. Together with a neighbour
// on the same uplinks the deep job is faster, because it sends less over them.
TEST(CompanyScenario, ANeighbourTurnsTheRankingRound) {
  const std::string file = std::string(WINDTUNNEL_SOURCE_DIR) + "/scenarios/company/company.yaml";
  const auto report_of = [&](const std::string& job) {
    return simulate_company(resolve_company(read_scenario(file, {{"jobs.0", job + ".yaml"}})),
                            {.threads = 2});
  };
  const CompanyReport wide = report_of("wide");
  const CompanyReport deep = report_of("deep");
  const auto closed_s = [](const CompanyReport& report) {
    Job job = report.jobs.front().alone.job;
    job.communication.fidelity = Fidelity::closed;
    return estimate_iteration(job, prepare_iteration(job)).step_s;
  };
  EXPECT_LT(closed_s(wide) * 1.05, closed_s(deep));
  EXPECT_LT(wide.jobs[0].alone_s() * 1.05, deep.jobs[0].alone_s());
  EXPECT_GT(wide.jobs[0].together_s(), deep.jobs[0].together_s() * 1.03);
}

// Places that state the default order change nothing.
TEST(PlacedJob, InOrderIsWhereItStandsAnyway) {
  int compared = 0;
  for (std::uint64_t number = 0; compared < 40; ++number) {
    std::optional<Case> drawn = random_case(number);
    if (!drawn || drawn->job.cluster.nodes == 1) continue;
    ++compared;
    Job& job = drawn->job;
    job.campaign.length_s = 0;
    drawn->prepared = nullptr;
    const SimulateOptions options{.threads = 1, .allow_oom = true};
    const double step_s = measure_iteration(*drawn, options).report.time_s;
    for (int node = 0; node < job.cluster.nodes; ++node) job.cluster.places.push_back(node);
    EXPECT_NEAR(measure_iteration(*drawn, options).report.time_s, step_s, 1e-9 * step_s)
        << drawn->text;
    job.cluster.machine_nodes = job.cluster.nodes;
    EXPECT_NEAR(measure_iteration(*drawn, options).report.time_s, step_s, 1e-9 * step_s)
        << drawn->text;
  }
}

}  // namespace
}  // namespace windtunnel
