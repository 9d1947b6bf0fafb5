#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(PublicSimulate, DocumentNamesTheVersion) {
  const std::string number = version().substr(0, version().find(' '));  // before the commit
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
