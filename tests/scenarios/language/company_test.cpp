#include "scenarios/language/company.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

constexpr const char* kJob = R"(name: %NAME
model: {layers: 4, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}
cluster: {nodes: 2, node: dgx-h100}
layout: {tp: 8, pp: 1}
batch: {global: 16, micro: 1}
)";

class CompanyText : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/company_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
    write("a.yaml", job("a"));
    write("b.yaml", job("b"));
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }

  // The text of a job, in which `other` replaces `part`.
  static std::string job(const std::string& name, const std::string& part = "",
                         const std::string& other = "") {
    std::string text = kJob;
    text.replace(text.find("%NAME"), 5, name);
    if (!part.empty()) text.replace(text.find(part), part.size(), other);
    return text;
  }

  static std::string company(const std::string& more = "",
                             const std::string& cluster = "{nodes: 8, node: dgx-h100}") {
    return "name: both\ncluster: " + cluster + "\njobs: [a.yaml, b.yaml]\n" + more;
  }

  Company resolve(const std::string& text, const Overrides& set = {}) const {
    return resolve_company({.file = folder_ + "/c.yaml", .text = text, .set = set});
  }

  // Returns the message without the path of the folder.
  std::string message(const std::string& text, const Overrides& set = {}) const {
    std::string what = error_of([&] { resolve(text, set); });
    for (size_t at = what.find(folder_); at != std::string::npos; at = what.find(folder_)) {
      what.erase(at, folder_.size() + 1);
    }
    return what;
  }

  std::string folder_;
};

constexpr const char* kPools =
    "{pools: [{name: new, nodes: 4, node: dgx-h100}, {name: old, nodes: 4, node: dgx-a100}]}";

// A job on two nodes; `layout` adds keys to its layout.
std::string pool_job(const std::string& name, const std::string& layout = "") {
  return "name: " + name +
         "\nmodel: {layers: 4, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n"
         "cluster: {nodes: 2}\nlayout: {tp: 8, pp: 1" +
         layout + "}\nbatch: {global: 16, micro: 1}\n";
}

TEST_F(CompanyText, JobsStandOnPools) {
  const auto places = [&](const std::string& placement, const std::string& of_a,
                          const std::string& of_b) {
    write("a.yaml", pool_job("a", of_a));
    write("b.yaml", pool_job("b", of_b));
    const Company both = resolve(company("placement: " + placement + "\n", kPools));
    return std::vector{both.jobs[0].job.cluster.places, both.jobs[1].job.cluster.places};
  };
  using Places = std::vector<std::vector<int>>;
  const std::string old = ", place: {dp: [old]}";
  const std::string mixed = ", place: {dp: [old, new]}";
  EXPECT_EQ(places("packed", "", ""), (Places{{0, 1}, {2, 3}}));
  EXPECT_EQ(places("packed", "", old), (Places{{0, 1}, {4, 5}}));
  EXPECT_EQ(places("packed", old, old), (Places{{4, 5}, {6, 7}}));
  EXPECT_EQ(places("interleaved", old, old), (Places{{4, 6}, {5, 7}}));
  EXPECT_EQ(places("packed", "", mixed), (Places{{1, 2}, {4, 0}}));
  EXPECT_EQ(places("interleaved", old, mixed), (Places{{4, 5}, {6, 0}}));
  write("a.csv", "node\n5\n0\n");
  EXPECT_EQ(places("packed", ", placement: a.csv", old), (Places{{5, 0}, {4, 6}}));
  EXPECT_EQ(places("packed", ", order: [tp, dp]", ""), (Places{{0, 1}, {2, 3}}));
}

// The shared properties of a job's nodes are those of its own pools only.
TEST_F(CompanyText, AJobOnOnePoolKnowsNoOther) {
  write("a.yaml", pool_job("a", ", place: {dp: [new]}"));
  write("b.yaml", pool_job("b", ", place: {dp: [old]}"));
  const Company both = resolve(company("", kPools));
  EXPECT_EQ(both.jobs[0].job.cluster.node.name, "dgx-h100");
  EXPECT_EQ(both.jobs[0].job.calibration.name, "h100-published");
  EXPECT_EQ(both.jobs[1].job.cluster.node.name, "dgx-a100");
  const Case& first = both.jobs[0];
  const Case again = resolve_case(
      {.file = first.file, .text = first.text, .set = first.set, .files = first.files});
  EXPECT_EQ(again.key, first.key);
  EXPECT_EQ(again.job.cluster.places, first.job.cluster.places);
}

TEST_F(CompanyText, PoolsThatAreTooSmall) {
  const std::string small =
      "{pools: [{name: new, nodes: 4, node: dgx-h100}, {name: old, nodes: 3, node: dgx-a100}]}";
  write("a.yaml", pool_job("a", ", place: {dp: [old]}"));
  write("b.yaml", pool_job("b", ", place: {dp: [old]}"));
  EXPECT_EQ(message(company("", small)),
            "c.yaml:3:7: jobs: pool 'old' has 3 nodes, fewer than the jobs place on it; none is "
            "left for b.yaml");
  write("b.yaml", pool_job("b", ", place: {dp: [older]}"));
  EXPECT_EQ(message(company("", small)), "b.yaml:4:37: unknown pool 'older'; did you mean 'old'?");
  write("b.yaml", job("b"));
  EXPECT_EQ(message(company("", small)),
            "b.yaml:3:27: cluster.node.base: dgx-h100 here, but not stated in the cluster that the "
            "jobs share (c.yaml:2:10); leave it out here, or state the same value there");
  write("b.yaml", job("b", "nodes: 2, ", ""));
  EXPECT_EQ(
      message(company()),
      "b.yaml:3:10: cluster has no 'nodes'; add e.g. 'nodes: 8', the number that the job uses");
}

// Groups that span several pools share one law of the network.
TEST_F(CompanyText, JobsOfTwoMixesOfPools) {
  const std::string three =
      "{pools: [{name: new, nodes: 2, node: dgx-h100}, {name: old, nodes: 2, node: dgx-a100}, "
      "{name: older, nodes: 2, node: {base: dgx-a100, nics: 4}}]}";
  write("a.yaml", pool_job("a", ", place: {dp: [new, old]}"));
  write("b.yaml", pool_job("b", ", place: {dp: [new, older]}"));
  EXPECT_EQ(message(company("", three)),
            "c.yaml:3:16: jobs: a.yaml and b.yaml each use several pools, but not the same ones; "
            "give one of them nodes of a single pool");
  write("b.yaml", pool_job("b", ", place: {dp: [older, older]}"));
  EXPECT_EQ(message(company("", three)), "no error");
}

TEST_F(CompanyText, EachJobIsACaseOnItsPlaces) {
  const Company packed = resolve(company());
  ASSERT_EQ(packed.jobs.size(), 2u);
  EXPECT_EQ(packed.scenario, "both");
  EXPECT_EQ(packed.nodes, 8);
  const Cluster& second = packed.jobs[1].job.cluster;
  EXPECT_EQ(second.nodes, 2);
  EXPECT_EQ(second.fabric_nodes(), 8);
  EXPECT_EQ(second.places, (std::vector<int>{2, 3}));
  const Company interleaved = resolve(company("placement: interleaved\n"));
  EXPECT_EQ(interleaved.jobs[1].job.cluster.places, (std::vector<int>{1, 3}));
  EXPECT_NE(interleaved.key, packed.key);
  EXPECT_EQ(resolve(company(), {{"placement", "interleaved"}}).key, interleaved.key);
}

TEST_F(CompanyText, AJobsCaseIsMadeAgainFromItself) {
  const Case first =
      resolve(company("",
                      "{nodes: 8, node: dgx-h100, fabric: {faults: [{link: 'nic-out 3', "
                      "factor: 0.5}]}}"))
          .jobs.back();
  const Case again = resolve_case(
      {.file = first.file, .text = first.text, .set = first.set, .files = first.files});
  EXPECT_EQ(again.key, first.key);
  EXPECT_EQ(again.job.cluster.places, first.job.cluster.places);
  EXPECT_EQ(again.job.cluster.fabric.faults.front().link, "nic-out 3");
}

TEST_F(CompanyText, AJobMayChooseItsPlaces) {
  write("b.yaml", job("b", "pp: 1", "pp: 1, placement: b.csv"));
  write("b.csv", "node\n1\n0\n");
  const Company company_of_both = resolve(company());
  EXPECT_EQ(company_of_both.jobs[0].job.cluster.places, (std::vector<int>{2, 3}));
  EXPECT_EQ(company_of_both.jobs[1].job.cluster.places, (std::vector<int>{1, 0}));
}

TEST_F(CompanyText, JobsThatWantTheSameNodes) {
  write("a.yaml", job("a", "pp: 1", "pp: 1, placement: a.csv"));
  write("b.yaml", job("b", "pp: 1", "pp: 1, placement: b.csv"));
  write("a.csv", "node\n3\n5\n");
  write("b.csv", "node\n4\n5\n");
  EXPECT_EQ(message(company()), "b.csv:3:1: node 5 is taken by the job a.yaml");
  write("b.csv", "node\n4\n8\n");
  EXPECT_EQ(
      message(company()),
      "b.yaml:4:35: layout.placement: b.csv:3:1: there is no node 8; there are 8, counted from 0");
}

TEST_F(CompanyText, MoreNodesThanThereAre) {
  EXPECT_EQ(
      message(company("", "{nodes: 3, node: dgx-h100}")),
      "c.yaml:3:7: jobs: they need 4 nodes in all (a.yaml 2, b.yaml 2), but the cluster has 3");
}

TEST_F(CompanyText, UnlikeClusters) {
  write("b.yaml", job("b", "dgx-h100", "dgx-a100"));
  EXPECT_EQ(message(company()),
            "b.yaml:3:27: cluster.node.base: dgx-a100 here, but dgx-h100 in the cluster that the "
            "jobs share (c.yaml:2:10); leave it out here, or state the same value there");
  write("b.yaml", job("b", "node: dgx-h100", "node: dgx-h100, fabric: {nodes_per_pod: 4}"));
  EXPECT_TRUE(
      message(company()).starts_with("b.yaml:3:61: cluster.fabric.nodes_per_pod: 4 here, but not "
                                     "stated in the cluster that the jobs share"))
      << message(company());
  const std::string same = "{nodes: 8, node: dgx-h100, fabric: {nodes_per_pod: 4}}";
  EXPECT_EQ(message(company("", same)), "no error");
}

TEST_F(CompanyText, JitterIsNotToldFromNeighbours) {
  EXPECT_TRUE(message(company("", "{nodes: 8, node: dgx-h100, jitter: {sigma: 0.1}}"))
                  .find("cluster.jitter: each simulation of several jobs") != std::string::npos);
}

TEST_F(CompanyText, WattsAreOfOneJob) {
  EXPECT_TRUE(message(company("", "{nodes: 8, node: dgx-h100, power: {pue: 1.2}}"))
                  .find("cluster.power: is only possible for a single job") != std::string::npos);
}

TEST_F(CompanyText, JobsSynchroniseInEveryStep) {
  write("a.yaml", job("a") + "sync: [{islands: 2, every: 10 steps}]\n");
  EXPECT_TRUE(message(company()).find("sync: a scenario of several jobs is simulated for one step, "
                                      "without exchanges between islands") != std::string::npos);
}

TEST_F(CompanyText, JobsAreTheirStepsAlone) {
  for (const std::string& more :
       {std::string("redundancy: drop-slowest\n"),
        std::string("rollout: {nodes: 1, prompts: 16, samples: 2, prompt_length: 100, output: "
                    "{median: 200}}\n"),
        std::string(
            "volunteers: {peers: [{name: a, count: 8, up: 1 Gb/s, down: 1 Gb/s}], trials: 1}\n")}) {
    write("a.yaml", job("a") + more);
    const std::string told = message(company());
    const std::string key = more.substr(0, more.find(':'));
    EXPECT_TRUE(
        told.find(key + ": a scenario of several jobs is simulated for one step, without ") !=
        std::string::npos)
        << told;
    EXPECT_TRUE(told.starts_with("a.yaml:6:")) << told;
  }
  const std::string small = "{nodes: 1, node: {base: dgx-h100, gpus: 1}}";
  write("a.yaml", "name: a\nmodel: resnet-50\ncluster: " + small +
                      "\nprecision: fp16\nbatch: {global: 8, micro: 8}\nfuse: 4\n");
  EXPECT_TRUE(
      message("name: c\ncluster: " + small + "\njobs: [a.yaml]\n")
          .starts_with(
              "a.yaml:6:7: fuse: a scenario of several jobs is simulated for one step, without "));
}

TEST_F(CompanyText, OtherMistakesHaveTheirPlace) {
  EXPECT_EQ(message(company("model: gpt3-175b\n")),
            "c.yaml:4:1: model: a scenario of several jobs can only have name, cluster, jobs, "
            "placement; keys of one job belong in its own file");
  EXPECT_EQ(message("name: both\njobs: [a.yaml]\n"), "c.yaml:1:1: the scenario has no 'cluster'");
  EXPECT_EQ(message(company("placement: packd\n")),
            "c.yaml:4:12: unknown placement 'packd'; did you mean 'packed'?");
  EXPECT_EQ(message("name: both\ncluster: {nodes: 8, node: dgx-h100}\njobs: []\n"),
            "c.yaml:3:7: jobs: there is none; add e.g. '[a.yaml, b.yaml]'");
  EXPECT_EQ(message("name: c\ncluster: {nodes: 8, node: dgx-h100}\njobs: [a.yaml, z.yaml]\n"),
            "c.yaml:3:16: jobs.1: z.yaml: cannot be read: No such file or directory");
  EXPECT_TRUE(message(company("", "{nodes: 8, node: dgx-h100, fabric: {nodes_per_pdo: 4}}"))
                  .starts_with("c.yaml:2:46: unknown cluster.fabric key 'nodes_per_pdo'"));
  EXPECT_EQ(message(company(), {{"batch.global", "8"}}),
            "--set batch.global=8: a scenario of several jobs can only have name, cluster, jobs, "
            "placement; keys of one job are set in its own file");
  write("b.yaml", job("b", "global: 16", "global: 15"));
  EXPECT_TRUE(message(company()).starts_with("b.yaml:5:")) << message(company());
  write("b.yaml", job("b", "batch:", "calibration: generic\nbatch:"));
  EXPECT_TRUE(message(company()).starts_with("b.yaml:5:14: calibration: it differs from that"))
      << message(company());
}

TEST_F(CompanyText, OneJobAloneKnowsNothingOfOthers) {
  EXPECT_TRUE(has_jobs({.file = "c.yaml", .text = company()}));
  EXPECT_FALSE(has_jobs({.file = "a.yaml", .text = job("a")}));
  EXPECT_FALSE(has_jobs({.file = "a.yaml", .text = "- ["}));
  EXPECT_TRUE(fails([] { parse_case(company(), "c.yaml"); }, "c.yaml:3:1: jobs: this is a"));
  EXPECT_TRUE(fails([] { parse_case(job("a") + "placement: packed\n", "a.yaml"); },
                    "a.yaml:6:1: placement is for several jobs"));
}

}  // namespace
}  // namespace windtunnel
