// Work in idle time, an input pipeline and pauses of a campaign are combined with any job: each
// scenario is refused at its place with the reason, or its steps and its wall time add up.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "models/base/random.hpp"
#include "models/results/filling_report.hpp"
#include "models/results/input_report.hpp"
#include "tests/sim/study/random_scenario.hpp"
#include "tests/sim/study/record_bounds.hpp"

namespace windtunnel {
namespace {

constexpr int kIdleJobs = 300;
constexpr int kIdleBlocks = 10;  // blocks run in parallel

class IdleDraw {
 public:
  explicit IdleDraw(std::uint64_t number) : random_(20261203, RandomPurpose::test, number) {}

  std::string one_of(std::initializer_list<std::string_view> words) {
    return std::string(*(words.begin() + random_.below(words.size())));
  }
  bool chance(double share) { return random_.uniform() < share; }

 private:
  RandomStream random_;
};

std::string random_work(IdleDraw& draw, int number) {
  std::string work = fmt::format("{{name: work-{}", number);
  if (draw.chance(0.4)) {
    work += fmt::format(", model: {}, samples: {}", draw.one_of({"bert-base", "resnet-50"}),
                        draw.one_of({"1", "8"}));
  } else {
    work += fmt::format(", piece: {}, unit_pieces: {}", draw.one_of({"100 us", "5 ms", "1 s"}),
                        draw.one_of({"1", "20"}));
  }
  if (draw.chance(0.5)) {
    work += fmt::format(", needed_by: {}, units: {}", draw.one_of({"step", "micro-batch"}),
                        draw.one_of({"1", "16"}));
  }
  if (draw.chance(0.4)) work += ", resident: " + draw.one_of({"1 GB", "30 GB", "1 TB"});
  if (draw.chance(0.3)) work += ", working: " + draw.one_of({"1 MB", "10 GB"});
  if (draw.chance(0.3)) work += ", switch: 1 ms";
  return work + "}";
}

// These keys are added to a job of random_scenario().
std::string idle_parts(IdleDraw& draw) {
  std::string text;
  if (draw.chance(0.8)) {
    text += "filling: {work: [" + random_work(draw, 0);
    if (draw.chance(0.4)) text += ", " + random_work(draw, 1);
    text += fmt::format("], margin: {}}}\n", draw.one_of({"0", "0.05", "0.5"}));
    if (draw.chance(0.2)) text += "redundancy: drop-slowest\n";
  }
  if (draw.chance(0.6)) {
    text += fmt::format(
        "input: {{sample: {}, prepare: {}, workers: {}, read_from: {}, "
        "prefetch: {}}}\n",
        draw.one_of({"0 B", "8 kB", "100 MB"}), draw.one_of({"0 s", "1 ms", "100 ms"}),
        draw.one_of({"1", "8"}), draw.one_of({"storage", "local-disk", "memory"}),
        draw.one_of({"0", "1", "2"}));
  }
  return text;
}

std::string pauses(IdleDraw& draw) {
  std::string text;
  if (draw.chance(0.6)) {
    text += fmt::format(", evaluation: {{every: {}, takes: {}}}",
                        draw.one_of({"100 iterations", "1 iteration", "1 h", "1 s"}),
                        draw.one_of({"10 s", "5 min"}));
  }
  if (draw.chance(0.5)) {
    text += fmt::format(", logging: {{every: {}, takes: 100 ms}}",
                        draw.one_of({"10 iterations", "7 iterations", "10 min"}));
  }
  return text;
}

std::string scenario_of(std::uint64_t number) {
  IdleDraw draw(number);
  std::string text = random_scenario(number) + idle_parts(draw);
  const std::string campaign = "length: 20 d, replicas: 8";
  text.replace(text.find(campaign), campaign.size(), "length: 2 d, replicas: 3" + pauses(draw));
  if (draw.chance(0.3)) {
    text.replace(text.find("  storage:"), 0,
                 fmt::format("  jitter: {{sigma: 0.1, draws: 2, per: {}}}\n",
                             draw.one_of({"step", "step", "task"})));
  }
  return text;
}

void expect_adds_up(const Record& record, const std::string& text) {
  for (const RecordBound& bound : record_bounds()) {
    EXPECT_TRUE(bound.holds(record)) << bound.name << "\n" << text;
  }
  const IterationReport& iteration = record.iteration;
  if (iteration.filling) {
    const FillingReport& filling = *iteration.filling;
    double exposed_s = 0;
    for (const FilledWork& work : filling.work) exposed_s += work.exposed_s;
    EXPECT_LE(filling.step_s, (filling.plain_s + exposed_s) * (1 + 1e-9)) << text;
    for (const FilledRank& rank : filling.ranks) {
      EXPECT_LE(rank.filled_s + rank.short_s + rank.memory_s, rank.idle_s * (1 + 1e-9)) << text;
    }
  }
  if (iteration.input) {
    EXPECT_GE(iteration.input->stall_s, 0) << text;
    EXPECT_LE(iteration.input->stall_s, iteration.time_s) << text;
  }
}

class IdleJobs : public testing::TestWithParam<int> {};

TEST_P(IdleJobs, AddUpOrAreRefused) {
  expect_run_or_refused({"idle", kIdleJobs, kIdleBlocks, scenario_of, expect_adds_up}, GetParam());
}

// Some of the jobs run in every test run, the others only in long ones.
INSTANTIATE_TEST_SUITE_P(Blocks, IdleJobs, testing::Range(0, kIdleBlocks / 5));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, IdleJobs, testing::Range(kIdleBlocks / 5, kIdleBlocks));

}  // namespace
}  // namespace windtunnel
