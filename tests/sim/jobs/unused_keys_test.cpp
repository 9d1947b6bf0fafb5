// A key that changes no figure of a job is told in a note, or refused: random jobs with one of
// their keys and without.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "models/base/random.hpp"
#include "report/figures/figures.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"
#include "tests/sim/jobs/random_job.hpp"

namespace windtunnel {
namespace {

constexpr int kKeptJobs = 2000;
constexpr int kKeptInBlock = 50;

std::vector<std::string> figures_of(const Record& record) {
  std::vector<std::string> all;
  for (const Figure& figure : figures()) {
    all.push_back(fmt::format("{} {:a}", figure.text(record), number_of(figure.of(record))));
  }
  for (const GpuMemory& rank : record.iteration.memory) {
    all.push_back(fmt::format("{:a}", rank.allocated()));
  }
  return all;
}

Record run_of(const RandomJob& job) {
  return simulate(parse_case(job.text, "unused.yaml", job.set),
                  {.threads = 1, .allow_oom = true, .depth = StudyDepth::campaign});
}

// Whether a note is about the key, one above it or one below it.
bool told(const std::vector<Note>& notes, const std::string& key) {
  const std::string top = key.substr(0, key.find('.'));
  return std::ranges::any_of(notes, [&](const Note& note) {
    if (note.text.find(key) != std::string::npos) return true;
    for (std::size_t begin = 0; begin < note.key.size();) {
      const std::size_t end = std::min(note.key.find(", ", begin), note.key.size());
      const std::string one = note.key.substr(begin, end - begin);
      if (key.starts_with(one) || one.starts_with(key)) return true;
      begin = end + 2;
    }
    return false;
  });
}

// Sets the last of the job's keys, and nothing comes of it.
std::optional<std::string> silent_key(std::uint64_t number) {
  RandomJob job = accepted(random_job_of_keys(number), "unused.yaml");
  if (job.set.empty()) return std::nullopt;
  RandomJob without = job;
  const auto [key, value] = job.set.back();
  without.set.pop_back();
  try {
    const Case with_key = parse_case(job.text, "unused.yaml", job.set);
    const Case with_default = parse_case(without.text, "unused.yaml", without.set);
    if (with_key.key == with_default.key) return std::nullopt;  // says what holds anyway
    const Record with = run_of(job);
    if (told(with.notes, key)) return std::nullopt;
    if (figures_of(with) != figures_of(run_of(without))) return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // refused
  }
  return fmt::format("{} = {}", key, value);
}

class UnusedKeys : public testing::TestWithParam<int> {};

TEST_P(UnusedKeys, AreTold) {
  for (int i = 0; i < kKeptInBlock; ++i) {
    const std::uint64_t number = std::uint64_t(GetParam()) * kKeptInBlock + i;
    const std::optional<std::string> silent = silent_key(number);
    if (!silent) continue;
    ADD_FAILURE() << *silent << " changes nothing, and no note says so, in\n"
                  << random_job_of_keys(number).to_string();
  }
}
INSTANTIATE_TEST_SUITE_P(Blocks, UnusedKeys, testing::Range(0, 4));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, UnusedKeys, testing::Range(4, kKeptJobs / kKeptInBlock));

}  // namespace
}  // namespace windtunnel
