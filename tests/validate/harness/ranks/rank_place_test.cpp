#include "validate/harness/ranks/rank_place.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<RankPlace> place_in(const Variables& variables, const std::string& coordinator = "") {
  return launched_place(
      [&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      coordinator);
}

void expect_place(const Variables& variables, int rank, int ranks, const std::string& host) {
  const std::optional<RankPlace> place = place_in(variables);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, rank);
  EXPECT_EQ(place->ranks, ranks);
  EXPECT_EQ(place->host, host);
  EXPECT_GT(place->port, 1023);
  EXPECT_LT(place->port, 32768);  // higher ports are for clients
}

void expect_refusal(const Variables& variables, const std::string& words,
                    const std::string& coordinator = "") {
  EXPECT_TRUE(fails([&] { place_in(variables, coordinator); }, words));
}

const Variables kSlurmStep = {
    {"SLURM_JOB_ID", "4711"},      {"SLURM_STEP_ID", "0"},
    {"SLURM_PROCID", "5"},         {"SLURM_NTASKS", "16"},
    {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_JOB_NODELIST", "gpu[007-012]"}};

TEST(RankPlace, IsNoneWithoutALauncher) {
  EXPECT_FALSE(place_in({}));
  EXPECT_FALSE(place_in({{"RANK", "lieutenant"}}));
  EXPECT_FALSE(place_in({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}));
}

TEST(RankPlace, IsReadFromEveryLauncher) {
  expect_place({{"OMPI_COMM_WORLD_RANK", "1"},
                {"OMPI_COMM_WORLD_SIZE", "2"},
                {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}},
               1, 2, "127.0.0.1");
  expect_place({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"MASTER_ADDR", "node1"}}, 3, 4, "node1");
  expect_place(kSlurmStep, 5, 8, "gpu007");
  const Variables torch = {
      {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29400"}};
  expect_place(torch, 1, 2, "node1");
  EXPECT_EQ(place_in(torch)->port, 29400);
}

// The store of torchrun itself listens at MASTER_PORT.
TEST(RankPlace, LeavesTorchrunItsPort) {
  const auto place = place_in({{"RANK", "1"},
                               {"WORLD_SIZE", "2"},
                               {"MASTER_ADDR", "node1"},
                               {"MASTER_PORT", "29400"},
                               {"TORCHELASTIC_RUN_ID", "none"}});
  EXPECT_EQ(place->port, 29401);
}

TEST(RankPlace, OfTheInnermostLauncher) {
  Variables both = kSlurmStep;
  both["RANK"] = "2";
  both["WORLD_SIZE"] = "3";
  both["MASTER_ADDR"] = "gpu008";
  expect_place(both, 2, 3, "gpu008");
  Variables mpirun = kSlurmStep;
  mpirun["OMPI_COMM_WORLD_RANK"] = "0";
  mpirun["OMPI_COMM_WORLD_SIZE"] = "2";
  expect_place(mpirun, 0, 2, "gpu007");
}

// A script of sbatch sees the size of the steps that it may start, but it is not a rank.
TEST(RankPlace, IsNoneInAJobScript) {
  Variables script = kSlurmStep;
  script.erase("SLURM_STEP_ID");
  EXPECT_FALSE(place_in(script));
}

TEST(RankPlace, JobsHavePortsOfTheirOwn) {
  Variables other = kSlurmStep;
  other["SLURM_JOB_ID"] = "4712";
  EXPECT_NE(place_in(kSlurmStep)->port, place_in(other)->port);
  EXPECT_NE(place_in(kSlurmStep)->job, place_in(other)->job);
  Variables rank = kSlurmStep;
  rank["SLURM_PROCID"] = "0";
  EXPECT_EQ(place_in(kSlurmStep)->port, place_in(rank)->port);
}

TEST(RankPlace, CoordinatorGoesFirst) {
  const auto named = place_in(kSlurmStep, "10.0.0.7:4000");
  EXPECT_EQ(named->host, "10.0.0.7");
  EXPECT_EQ(named->port, 4000);
  EXPECT_EQ(place_in(kSlurmStep, "node9")->port, place_in(kSlurmStep)->port);
  EXPECT_EQ(place_in(kSlurmStep, "[fd00::7]:4000")->host, "fd00::7");
  EXPECT_EQ(place_in(kSlurmStep, "[fd00::7]:4000")->port, 4000);
  EXPECT_EQ(place_in(kSlurmStep, "fd00::7")->host, "fd00::7");
}

TEST(RankPlace, SaysWhatIsWrong) {
  expect_refusal({{"RANK", "one"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}, "RANK is 'one'");
  expect_refusal({{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}},
                 "expected a whole number from 0 to 1");
  expect_refusal({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, "--coordinator HOST:PORT");
  expect_refusal({}, "no launcher started this process", "node1:29500");
  for (const char* text : {"node1:", "node1:0", "node1:70000", ":29500", "node1:port"}) {
    expect_refusal(kSlurmStep, "is not an address", text);
  }
}

TEST(RankPlace, FirstHostOfSlurmsLists) {
  EXPECT_EQ(first_host("node1"), "node1");
  EXPECT_EQ(first_host("node1,node2"), "node1");
  EXPECT_EQ(first_host("node[007-012,20]"), "node007");
  EXPECT_EQ(first_host("node[3,5-7],other"), "node3");
  EXPECT_EQ(first_host("rack[1-2]n[03-04]-ib,x"), "rack1n03-ib");
  EXPECT_EQ(first_host("broken[3"), "broken3");
  EXPECT_EQ(first_host(""), "");
}

}  // namespace
}  // namespace windtunnel
