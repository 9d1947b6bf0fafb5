// docs/guide/step.md works a step out by hand. Its kernel times are the program's, and its step
// agrees within 1 %.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "models/cost/op/op.hpp"
#include "models/cost/op/op_cost.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

Case case_of_page() {
  return resolve_case(read_scenario(WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml",
                                    {{"cluster.nodes", "1"},
                                     {"layout.tp", "1"},
                                     {"layout.pp", "1"},
                                     {"layout.sequence_parallel", "false"},
                                     {"recompute", "full"}}));
}

// Returns the rows "| name | ... | number |" of the page in order, with the number as printed.
std::vector<std::pair<std::string, std::string>> printed_rows() {
  static const RE2 row(R"(\| (.*?) \| .* \| ([0-9.]+) \|)");
  std::ifstream page(WINDTUNNEL_SOURCE_DIR "/docs/guide/step.md");
  std::vector<std::pair<std::string, std::string>> rows;
  std::string name;
  std::string number;
  for (std::string line; std::getline(page, line);) {
    if (RE2::FullMatch(line, row, &name, &number)) rows.emplace_back(name, number);
  }
  return rows;
}

TEST(StepPage, PrintsTheProgramsKernelsInTheirOrder) {
  const Case the_case = case_of_page();
  std::vector<std::pair<std::string, std::string>> kernels;
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    for (const Op& op : block_ops(the_case.job, Block::layer, pass)) {
      const double us = op_cost(op, the_case.job).seconds * 1e6;
      kernels.emplace_back(std::string(op.name), fmt::format("{:.1f}", us));
    }
  }
  auto rows = printed_rows();
  ASSERT_GE(rows.size(), kernels.size());
  rows.resize(kernels.size());
  EXPECT_EQ(rows, kernels);
}

double seconds_of(const Job& job, Block block, Pass pass) {
  double seconds = 0;
  for (const Op& op : block_ops(job, block, pass)) seconds += op_cost(op, job).seconds;
  return seconds;
}

TEST(StepPage, QuotesTheProgramsEndsOfTheModel) {
  std::ifstream file(WINDTUNNEL_SOURCE_DIR "/docs/guide/step.md");
  std::stringstream page;
  page << file.rdbuf();
  const Job job = case_of_page().job;
  EXPECT_THAT(page.str(),
              HasSubstr(fmt::format("(32 x 7,988.3 + {:.1f} + 29,875.1) us",
                                    seconds_of(job, Block::embedding, Pass::forward) * 1e6)));
  EXPECT_NEAR(29875.1, seconds_of(job, Block::head, Pass::forward) * 1e6, 0.06);
  EXPECT_NEAR(19804.4, seconds_of(job, Block::head, Pass::backward_input) * 1e6, 0.06);
  EXPECT_NEAR(13734.1, seconds_of(job, Block::head, Pass::backward_weight) * 1e6, 0.06);
  EXPECT_THAT(page.str(), HasSubstr("19,804.4 + 13,734.1 + 137.1) us"));
  EXPECT_NEAR(137.1, seconds_of(job, Block::embedding, Pass::backward_weight) * 1e6, 0.06);
  EXPECT_EQ(38, job.calibration.optimizer_bytes.value);
}

TEST(StepPage, ItsStepIsTheProgramsWithinAHundredth) {
  static const RE2 row(R"(\| \*\*step\*\* \| \| \*\*([0-9.]+)\*\* \|)");
  std::ifstream page(WINDTUNNEL_SOURCE_DIR "/docs/guide/step.md");
  double by_hand_s = 0;
  for (std::string line; std::getline(page, line);) RE2::FullMatch(line, row, &by_hand_s);
  const Record record = simulate(case_of_page(), {.threads = 1, .depth = StudyDepth::step});
  EXPECT_NEAR(by_hand_s, record.iteration.time_s, 0.01 * record.iteration.time_s);
}

}  // namespace
}  // namespace windtunnel
