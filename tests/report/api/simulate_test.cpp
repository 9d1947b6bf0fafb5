#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "tests/report/api/small_case.hpp"

namespace windtunnel {
namespace {

TEST(PublicSimulate, GivesTheSameInAnyNumberOfThreads) {
  std::vector<std::string> steps;
  SimulateOptions options;
  options.threads = 1;
  options.progress = [&](const std::string& step) { steps.push_back(step); };
  const Result one = simulate(small_case(), options);
  EXPECT_GE(steps.size(), 2u);
  options.threads = 3;
  EXPECT_EQ(one.json(), simulate(small_case(), options).json());
}

TEST(PublicSimulate, RunsInSeveralThreadsAtOnce) {
  const Case the_case = small_case();
  std::vector<std::string> documents(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& document : documents) {
      threads.emplace_back([&] { document = simulate(the_case).json(); });
    }
  }
  EXPECT_THAT(documents, ::testing::Each(documents.front()));
}

TEST(PublicSimulate, TimelineHasTheTasksOfTheStep) {
  const Result result = simulate(small_case());
  const std::vector<RankTimeline> ranks = result.timeline();
  ASSERT_EQ(ranks.size(), 2U);  // one of each pipeline rank
  double all = 0;
  double end_s = 0;
  for (const RankTimeline& rank : ranks) {
    all += rank.ranks;
    int forwards = 0;
    std::map<std::string, double> busy_until_s;  // by stream that runs in order
    for (const TimedTask& task : rank.tasks) {
      end_s = std::max(end_s, task.end_s);
      EXPECT_LE(task.start_s, task.end_s) << task.name;
      forwards += task.kind == "compute" && task.name.starts_with("F") ? 1 : 0;
      for (const int before : task.after) {
        EXPECT_LE(rank.tasks.at(before).end_s, task.start_s + 1e-9) << task.name;
      }
      if (task.stream != "compute") continue;
      EXPECT_GE(task.start_s, busy_until_s[task.stream] - 1e-9) << task.name;
      busy_until_s[task.stream] = task.end_s;
    }
    EXPECT_EQ(forwards, 16) << rank.kind;  // 64 sequences, 4 replicas, micro-batches of 1
  }
  EXPECT_EQ(all, 16);
  EXPECT_NEAR(end_s, result["iteration.time_s"], 1e-9);
}

TEST(PublicSimulate, DocumentNamesTheVersion) {
  const std::string number = version().substr(0, version().find(' '));  // without the commit
  EXPECT_THAT(simulate(small_case()).json(),
              ::testing::HasSubstr("\"version\": \"" + number + "\""));
}

TEST(PublicSimulate, SimulatesWhatDoesNotFitWhereAsked) {
  Case the_case = small_case();
  the_case.set("model", "llama3-405b");
  SimulateOptions options;
  options.allow_oom = true;
  EXPECT_GT(simulate(the_case, options)["iteration.time_s"], 0);
}

}  // namespace
}  // namespace windtunnel
