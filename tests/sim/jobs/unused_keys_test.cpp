// A key that changes no figure of a job is reported in a note of the run, found by `run --unused`,
// or refused. Random jobs are compared with and without one of their keys.
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

// A key that changes no figure of a job. idle_keys() removes keys in turn as this test does, but
// tries the closed form first and knows maps.
struct IdleKey {
  std::string key;
  bool noted = false;  // by the run's notes
  bool found = false;  // by idle_keys()
};

// Tests the last of the job's keys.
std::optional<IdleKey> idle_last_key(std::uint64_t number) {
  RandomJob job = accepted(random_job_of_keys(number), "unused.yaml");
  if (job.set.empty()) return std::nullopt;
  const std::string key = job.set.back().first;
  if (key.starts_with("origins")) return std::nullopt;  // origins only label numbers
  try {
    const Case with_key = parse_case(job.text, "unused.yaml", job.set);
    job.set.emplace_back(key, "null");
    const Case without_key = parse_case(job.text, "unused.yaml", job.set);
    if (with_key.key == without_key.key) return std::nullopt;  // the key states the default
    const Record with = simulated_case(with_key);
    if (exact_figures(with) != exact_figures(simulated_case(without_key))) return std::nullopt;
    const bool noted = tells_of(with.notes, key);
    return IdleKey{key, noted, noted || tells_of(idle_keys(with_key, simulated_case), key)};
  } catch (const Error&) {
    return std::nullopt;  // refused
  }
}

class UnusedKeys : public testing::TestWithParam<int> {};

TEST_P(UnusedKeys, AreNotedOrFound) {
  int number_of_idle = 0;
  int noted = 0;
  for (int i = 0; i < kKeptInBlock; ++i) {
    const std::uint64_t number = std::uint64_t(GetParam()) * kKeptInBlock + i;
    const std::optional<IdleKey> idle = idle_last_key(number);
    if (!idle) continue;
    ++number_of_idle;
    noted += idle->noted ? 1 : 0;
    EXPECT_TRUE(idle->found) << idle->key << " changes nothing, and nothing says so, in\n"
                             << random_job_of_keys(number).to_string();
  }
  fmt::print("{} idle keys, {} noted by the run itself\n", number_of_idle, noted);
}

// A note is about the keys that it names in its list of keys, not in its prose, and only about
// whole segments of them.
TEST(IdleKeys, ANoteIsAboutItsOwnKeysAlone) {
  const std::vector<Note> notes = {{"cluster.nodes, layout.tp_form", "see schedule search", ""}};
  for (const char* key : {"cluster", "cluster.nodes", "cluster.nodes.0", "layout.tp_form"}) {
    EXPECT_TRUE(tells_of(notes, key)) << key;
  }
  for (const char* key : {"cluster.node", "layout.tp", "layout.order", "schedule"}) {
    EXPECT_FALSE(tells_of(notes, key)) << key;
  }
}

// Keys that change a figure are not reported.
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

INSTANTIATE_TEST_SUITE_P(Blocks, UnusedKeys, testing::Range(0, 2));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, UnusedKeys, testing::Range(2, kKeptJobs / kKeptInBlock));

}  // namespace
}  // namespace windtunnel
