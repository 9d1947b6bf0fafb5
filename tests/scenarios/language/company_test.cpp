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

  // With another text in place of a part.
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

  // Without the folder, in which the files are.
  std::string message(const std::string& text, const Overrides& set = {}) const {
    std::string what = error_of([&] { resolve(text, set); });
    for (size_t at = what.find(folder_); at != std::string::npos; at = what.find(folder_)) {
      what.erase(at, folder_.size() + 1);
    }
    return what;
  }

  std::string folder_;
};

TEST_F(CompanyText, UnlikeNodesAreRefused) {
  EXPECT_EQ(message(company("", "{pools: [{name: a, nodes: 8, node: dgx-h100}]}")),
            "c.yaml:2:11: cluster.pools: jobs that share unlike nodes are not modelled; take nodes "
            "of one kind");
  write("b.yaml", job("b", "nodes: 2, ", ""));
  EXPECT_EQ(
      message(company()),
      "b.yaml:3:10: cluster has no 'nodes'; add e.g. 'nodes: 8' with those that the job takes");
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
  EXPECT_EQ(message(company()),
            "b.yaml:4:35: layout.placement: b.csv:3:1: no node 8; there are 8, counted from 0");
}

TEST_F(CompanyText, MoreNodesThanThereAre) {
  EXPECT_EQ(message(company("", "{nodes: 3, node: dgx-h100}")),
            "c.yaml:3:7: jobs: they want 4 nodes (a.yaml 2, b.yaml 2); the cluster has 3");
}

TEST_F(CompanyText, UnlikeClusters) {
  write("b.yaml", job("b", "dgx-h100", "dgx-a100"));
  EXPECT_EQ(message(company()),
            "b.yaml:3:27: cluster.node.base: dgx-a100 here, and dgx-h100 of the cluster that the "
            "jobs share (c.yaml:2:10); leave it out here, or say the same there");
  write("b.yaml", job("b", "node: dgx-h100", "node: dgx-h100, fabric: {nodes_per_pod: 4}"));
  EXPECT_TRUE(message(company()).starts_with(
      "b.yaml:3:61: cluster.fabric.nodes_per_pod: 4 here, and not stated of the cluster"))
      << message(company());
  const std::string same = "{nodes: 8, node: dgx-h100, fabric: {nodes_per_pod: 4}}";
  EXPECT_EQ(message(company("", same)), "no error");
}

TEST_F(CompanyText, JitterIsNotToldFromNeighbours) {
  EXPECT_TRUE(message(company("", "{nodes: 8, node: dgx-h100, jitter: {sigma: 0.1}}"))
                  .find("cluster.jitter: what jobs do to each other") != std::string::npos);
}

TEST_F(CompanyText, OtherMistakesHaveTheirPlace) {
  EXPECT_EQ(message(company("model: gpt3-175b\n")),
            "c.yaml:4:1: model: a scenario of several jobs has name, cluster, jobs, placement; "
            "what is of one job stands in its own file");
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
            "--set batch.global=8: a scenario of several jobs has name, cluster, jobs, placement; "
            "what is of one job is set in its own file");
  write("b.yaml", job("b", "global: 16", "global: 15"));
  EXPECT_TRUE(message(company()).starts_with("b.yaml:5:")) << message(company());
  write("b.yaml", job("b", "batch:", "calibration: generic\nbatch:"));
  EXPECT_TRUE(message(company()).starts_with("b.yaml:5:14: calibration: is another one"))
      << message(company());
}

TEST_F(CompanyText, OneJobAloneKnowsNothingOfOthers) {
  EXPECT_TRUE(has_jobs({.file = "c.yaml", .text = company()}));
  EXPECT_FALSE(has_jobs({.file = "a.yaml", .text = job("a")}));
  EXPECT_FALSE(has_jobs({.file = "a.yaml", .text = "- ["}));
  EXPECT_TRUE(fails([] { parse_case(company(), "c.yaml"); }, "c.yaml:3:1: jobs: this is a"));
  EXPECT_TRUE(fails([] { parse_case(job("a") + "placement: packed\n", "a.yaml"); },
                    "a.yaml:6:1: placement: is of several jobs"));
}

}  // namespace
}  // namespace windtunnel
