#include "validate/harness/timing/session.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "models/base/error.hpp"
#include "tests/support/error_of.hpp"
#include "traces/rows/samples.hpp"
#include "validate/harness/collectives/tcp_collectives.hpp"
#include "validate/harness/timing/kernel_suite.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

class SessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::path(::testing::TempDir()) /
            ("session_" +
             std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".csv");
    fs::remove(path_);
  }
  void TearDown() override { fs::remove(path_); }

  Session session(std::function<bool()> stopped = [] { return false; }) const {
    Session made;
    made.samples_path = path_.string();
    // Each work has one block, and the budget suffices for all.
    made.options = {.budget_s = 300,
                    .half_width = 1,
                    .least = 1,
                    .most = 1,
                    .together = 1,
                    .date = "2026-11-22"};
    made.progress = [](const MeasureProgress&) {};
    made.stopped = std::move(stopped);
    return made;
  }
  static std::vector<TimedWork> works() { return kernel_suite(cpu(), 1e5); }
  static SessionResult run(const Session& session) {
    Team team(cpu());
    return run_session(works(), team, session);
  }
  static const Device& cpu() { return device(DeviceKind::cpu); }

  fs::path path_;
};

TEST_F(SessionTest, AnInterruptedRunGoesOnWhereItWas) {
  const auto some = [&] { return read_samples(path_.string()).runs.size() >= 2; };
  const SessionResult first = run(session(some));
  EXPECT_FALSE(first.complete);
  const size_t kept = read_samples(path_.string()).runs.size();
  const SessionResult second = run(session());
  EXPECT_TRUE(second.complete);
  EXPECT_EQ(second.kept, static_cast<int>(kept));
  const SampleFile file = read_samples(path_.string());
  EXPECT_TRUE(file.unusable.empty());
  // Each work runs once, and the drift check repeats one.
  EXPECT_EQ(file.runs.size(), works().size() + 1);
}

TEST_F(SessionTest, WhatABudgetLeftOutIsMeasuredWithALargerOne) {
  const std::vector<TimedWork> more = kernel_suite(cpu(), 1e6);  // more sizes than the minimum
  const auto run = [&](const Session& session) {
    Team team(cpu());
    return run_session(more, team, session);
  };
  Session hurried = session();
  hurried.options.budget_s = 1e-6;
  const SessionResult first = run(hurried);
  EXPECT_TRUE(first.complete);
  EXPECT_GT(first.progress.left_out, 0);
  const SessionResult second = run(session());
  EXPECT_TRUE(second.complete);
  EXPECT_EQ(second.progress.left_out, 0);
  EXPECT_GT(second.progress.done, first.progress.left_out);
  std::set<std::string> measured;
  for (const Sample& sample : read_samples(path_.string()).runs) {
    measured.insert(to_text(sample.work) + (sample.cache == CacheState::cold ? " cold" : ""));
  }
  EXPECT_EQ(measured.size(), more.size());
}

TEST_F(SessionTest, SamplesOfAnotherDeviceAreNotMixedIn) {
  Sample other;
  other.work = parse_kernel_steps("copy bytes=64");
  other.median_s = other.low_s = other.high_s = other.p05_s = other.p95_s = 1;
  other.repeats = 1;
  other.backend = "cpu";
  other.device = "Babbage";
  std::ofstream(path_) << samples_header() << sample_row(other);
  const auto before = fs::file_size(path_);
  EXPECT_THROW(run(session()), Error);
  EXPECT_EQ(fs::file_size(path_), before);
}

TEST_F(SessionTest, SamplesOfAnotherNumberOfRanksAreNotMixedIn) {
  Sample other;
  other.work = parse_kernel_steps("copy bytes=64");
  other.median_s = other.low_s = other.high_s = other.p05_s = other.p95_s = 1;
  other.repeats = 1;
  other.backend = "cpu";
  other.device = cpu().describe().name;
  other.driver = cpu().describe().driver;
  other.ranks = 3;
  std::ofstream(path_) << samples_header() << sample_row(other);
  EXPECT_TRUE(fails([&] { run(session()); }, "measure with --ranks 3"));
}

TEST_F(SessionTest, RanksMeasureTheirCollectivesToo) {
  run_ranks(2, [&](TcpGroup& group) {
    TcpCollectives collectives(group);
    const std::vector<TimedWork> of_ranks = kernel_suite(cpu(), 1e5, &collectives);
    if (group.rank() > 0) return follow(of_ranks, cpu(), group);
    Team team(cpu(), &group);
    EXPECT_TRUE(run_session(of_ranks, team, session()).complete);
  });
  std::set<std::string> kinds;
  for (const Sample& sample : read_samples(path_.string()).runs) {
    EXPECT_EQ(sample.ranks, 2);
    for (const auto& step : sample.work) kinds.insert(step[0].kernel);
  }
  for (const char* kind : {"send", "all-reduce-ring", "all-reduce-tree", "reduce-scatter-ring",
                           "all-gather-ring", "all-to-all-pairwise"}) {
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  }
}

// A killed run leaves a truncated file: all rows but the last are kept, wherever it was cut. In a
// complete file the last row is the drift check.
TEST_F(SessionTest, ARunThatWasKilledWhileItWroteGoesOn) {
  run(session());
  std::ifstream file(path_);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const size_t rows = read_samples(path_.string()).runs.size();
  const size_t again = whole.rfind('\n', whole.size() - 2) + 1;
  const size_t last = whole.rfind('\n', again - 2) + 1;
  for (const size_t end : {last + 1, last + 20, last + 60, again - 4, again - 1}) {
    std::ofstream(path_) << whole.substr(0, end);
    EXPECT_TRUE(run(session()).complete) << end;
    const SampleFile resumed = read_samples(path_.string());
    EXPECT_TRUE(resumed.unusable.empty()) << end;
    EXPECT_EQ(resumed.runs.size(), rows) << end;
  }
  std::ofstream(path_) << samples_header().substr(0, 30);
  EXPECT_TRUE(run(session()).complete);
  EXPECT_EQ(read_samples(path_.string()).runs.size(), rows);
}

// This version's rows have more cells than the header of the file.
TEST_F(SessionTest, AFileOfOtherColumnsIsNotWrittenTo) {
  std::string header = samples_header();
  header.erase(header.rfind(','), std::string(",ranks").size());
  std::ofstream(path_) << header;
  EXPECT_THROW(run(session()), Error);
  EXPECT_EQ(fs::file_size(path_), header.size());
}

TEST_F(SessionTest, AFileWithABadRowInsideIsNotWrittenTo) {
  const std::string text = samples_header() + "copy bytes=64,fit,wa\n";
  std::ofstream(path_) << text;
  EXPECT_THROW(run(session()), Error);
  EXPECT_EQ(fs::file_size(path_), text.size());
}

TEST_F(SessionTest, AFolderThatIsNotThereIsTold) {
  Session nowhere = session();
  nowhere.samples_path = "/nowhere/samples.csv";
  EXPECT_THROW(run(nowhere), Error);
}

TEST(KernelSuite, FitsAndJudgesAndKeepsToTheMemory) {
  const std::vector<TimedWork> works = kernel_suite(device(DeviceKind::cpu), 64e6);
  int fits = 0;
  int judges = 0;
  for (const TimedWork& work : works) {
    (work.role == SampleRole::fit ? fits : judges) += 1;
    for (const std::vector<KernelWork>& step : work.steps) {
      for (const KernelWork& one : step) {
        EXPECT_LE(kernel_kind(one.kernel).bytes(one), 64e6) << to_text(work.steps);
      }
    }
  }
  EXPECT_GT(fits, 20);
  EXPECT_GT(judges, 10);
}

}  // namespace
}  // namespace windtunnel
