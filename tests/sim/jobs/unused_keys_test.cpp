// A key that changes no figure of a job is told in a note, or refused: random jobs with one of
// their keys and without.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "report/figures/idle_keys.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"
#include "tests/sim/jobs/random_job.hpp"

namespace windtunnel {
namespace {

constexpr int kKeptJobs = 2000;
constexpr int kKeptInBlock = 50;

Record simulated_case(const Case& the_case) {
  return simulate(the_case, {.threads = 1, .allow_oom = true, .depth = StudyDepth::campaign});
}

// A key of a job of which nothing comes, and whether that is told.
struct IdleKey {
  std::string key;
  bool told = false;
};

// It looks at the last of the job's keys.
std::optional<IdleKey> idle_last_key(std::uint64_t number) {
  RandomJob job = accepted(random_job_of_keys(number), "unused.yaml");
  if (job.set.empty()) return std::nullopt;
  const std::string key = job.set.back().first;
  if (key.starts_with("origins")) return std::nullopt;  // labels of numbers
  try {
    const Case with_key = parse_case(job.text, "unused.yaml", job.set);
    job.set.emplace_back(key, "null");
    const Case without_key = parse_case(job.text, "unused.yaml", job.set);
    if (with_key.key == without_key.key) return std::nullopt;  // says what holds anyway
    const Record with = simulated_case(with_key);
    if (exact_figures(with) != exact_figures(simulated_case(without_key))) return std::nullopt;
    const bool told =
        tells_of(with.notes, key) || tells_of(idle_keys(with_key, simulated_case), key);
    return IdleKey{key, told};
  } catch (const Error&) {
    return std::nullopt;  // refused
  }
}

class UnusedKeys : public testing::TestWithParam<int> {};

TEST_P(UnusedKeys, AreTold) {
  for (int i = 0; i < kKeptInBlock; ++i) {
    const std::uint64_t number = std::uint64_t(GetParam()) * kKeptInBlock + i;
    const std::optional<IdleKey> idle = idle_last_key(number);
    if (!idle) continue;
    EXPECT_TRUE(idle->told) << idle->key << " changes nothing, and nothing says so, in\n"
                            << random_job_of_keys(number).to_string();
  }
}

// What decides a figure is none of them.
TEST(IdleKeys, AreThoseThatChangeNothing) {
  const std::string text =
      "name: idle\n"
      "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n"
      "cluster: {nodes: 2, node: dgx-h100}\n"
      "layout: {tp: 2}\n"
      "batch: {global: 64, micro: 2}\n"
      "communication: {first_bucket: 2 MB, bucket: 30 MB, overlap: none, servers: 4}\n";
  const std::vector<Note> notes = idle_keys(parse_case(text, "idle.yaml"), simulated_case);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].key.find("communication.first_bucket"), std::string::npos) << notes[0].key;
  for (const char* key : {"layout.tp", "batch.micro", "communication.overlap", "model.layers"}) {
    EXPECT_EQ(notes[0].key.find(key), std::string::npos) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, UnusedKeys, testing::Range(0, 4));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, UnusedKeys, testing::Range(4, kKeptJobs / kKeptInBlock));

}  // namespace
}  // namespace windtunnel
