// Features of a job are combined in pairs (docs/reference/combinations.md lists all;
// WINDTUNNEL_UPDATE_GOLDEN=1 writes it) and in random triples. Each job runs and breaks no
// invariant, or is refused by a row of policies/conflicts, or the features set a key differently,
// so that there is no job.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/base/random.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "scenarios/language/text/document.hpp"
#include "tests/scenarios/golden.hpp"
#include "tests/sim/jobs/job_features.hpp"

namespace windtunnel {
namespace {

constexpr const char* kPage = "docs/reference/combinations.md";
constexpr std::string_view kBegin =
    "<!-- pairs of tests/sim/jobs/features.yaml, by combinations_test -->\n";
constexpr std::string_view kEnd = "<!-- end of pairs -->\n";
constexpr std::string_view kWantedBegin =
    "<!-- pairs that are asked for, by combinations_test -->\n";
constexpr std::string_view kWantedEnd = "<!-- end of pairs that are asked for -->\n";
constexpr std::size_t kFeatures = 112;  // one test per feature checks its line

std::size_t count_of_features() {
  return job_features().features.size();
}
const std::string& name_of(std::size_t feature) {
  return job_features().features[feature].name;
}

// Returns the row's name in the table of gradients.md, which states the reason.
std::string reason_of(const Conflict& row) {
  return fmt::format("{} with {}", row.is.name, row.with.name);
}
std::string reason_of(const Combination& pair) {
  return pair.row == nullptr ? pair.why : reason_of(*pair.row);
}

// Returns a feature's line: what refuses it, and which keys other features set differently.
std::string line_of(std::size_t feature, const std::vector<Combination>& with) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : job_features().features[feature].keys) {
    keys.push_back(fmt::format("`{}: {}`", key, value));
  }
  std::map<std::string, std::vector<std::string>> refused;
  std::map<std::string, int> other_values;
  int works = 0;
  for (std::size_t other = 0; other < with.size(); ++other) {
    if (other == feature) continue;
    const Combination& pair = with[other];
    works += pair.together == Together::works ? 1 : 0;
    if (pair.together == Together::refused) refused[reason_of(pair)].push_back(name_of(other));
    if (pair.together == Together::no_job)
      ++other_values[fmt::format("`{}`", fmt::join(pair.keys, "`, `"))];
  }
  std::vector<std::string> refusals;
  for (const auto& [reason, names] : refused) {
    refusals.push_back(fmt::format("**{}**: {}", fmt::join(names, ", "), reason));
  }
  std::vector<std::string> values;
  for (const auto& [both, count] : other_values)
    values.push_back(fmt::format("{} ({})", both, count));
  return fmt::format("| {} | {} | {} | {} | {} |\n", name_of(feature), fmt::join(keys, ", "), works,
                     fmt::join(refusals, "<br>"), fmt::join(values, ", "));
}

std::string line_of(std::size_t feature) {
  std::vector<Combination> with(count_of_features());
  for (std::size_t other = 0; other < with.size(); ++other) {
    if (other == feature) continue;
    // The pair is in the order of the list, so that both lines have the same message.
    const std::array<std::size_t, 2> pair = {std::min(feature, other), std::max(feature, other)};
    with[other] = combine(pair);
    for (const std::string& broken : with[other].broken) {
      ADD_FAILURE() << name_of(feature) << " with " << name_of(other) << ": " << broken;
    }
  }
  return line_of(feature, with);
}

std::string between(const std::string& page, std::string_view first, std::string_view last) {
  const std::size_t begin = page.find(first);
  const std::size_t end = page.find(last);
  if (begin == std::string::npos || end == std::string::npos) return "";
  return page.substr(begin + first.size(), end - begin - first.size());
}

std::string printed_pairs(const std::string& page) {
  return between(page, kBegin, kEnd);
}

bool writes_page() {
  return std::getenv("WINDTUNNEL_UPDATE_GOLDEN") != nullptr;
}

TEST(Features, EachRunsByItself) {
  for (std::size_t i = 0; i < count_of_features(); ++i) {
    const Combination one = combine({&i, 1});
    EXPECT_EQ(one.together, Together::works) << name_of(i) << ": " << one.why;
    EXPECT_EQ(one.broken, std::vector<std::string>{}) << name_of(i);
  }
}

class Pairs : public testing::TestWithParam<int> {};

TEST_P(Pairs, AreAsThePageSays) {
  const std::size_t feature = GetParam();
  if (writes_page()) GTEST_SKIP() << "the page is written as a whole";
  ASSERT_LT(feature, count_of_features());
  const std::string line = line_of(feature);
  const std::string page = read_text_file(source_path(kPage));
  EXPECT_NE(printed_pairs(page).find(line), std::string::npos) << "not in " << kPage << ":\n"
                                                               << line;
}
INSTANTIATE_TEST_SUITE_P(ManyBlocks, Pairs, testing::Range(0, int(kFeatures)));

// Returns how many pairs there are of each kind, [Together]; `wanted` counts those of
// FeatureList::wanted that work.
std::string summary_of(const std::array<int, 3>& number, int wanted) {
  const std::size_t count = count_of_features();
  return fmt::format(
      "{} pairs of {} features: {} work, {} are refused, {} are no jobs. Pairs that are asked for "
      "most: {} of {} work.\n",
      count * (count - 1) / 2, count, number[0], number[1], number[2], wanted,
      job_features().wanted.size());
}

// Lists FeatureList::wanted as a table: a line for each first feature, with the features that it
// works with and those that it does not.
struct WantedPairs {
  std::string table = "\n| feature | works with | refused with |\n|---|---|---|\n";
  int work = 0;
};

const WantedPairs& wanted_pairs() {
  static const WantedPairs all = [] {
    struct Line {
      std::size_t feature;
      std::vector<std::string> works;
      std::vector<std::string> refused;
    };
    std::vector<Line> lines;
    WantedPairs pairs;
    for (const auto& [first, second] : job_features().wanted) {
      auto line = std::ranges::find(lines, first, &Line::feature);
      if (line == lines.end()) line = lines.insert(line, {first, {}, {}});
      const Combination both = combine(std::array{first, second});
      if (both.together == Together::works) {
        ++pairs.work;
        line->works.push_back(name_of(second));
      } else {
        line->refused.push_back(fmt::format("**{}**: {}", name_of(second), both.why));
      }
    }
    for (const Line& line : lines) {
      pairs.table += fmt::format("| {} | {} | {} |\n", name_of(line.feature),
                                 fmt::join(line.works, ", "), fmt::join(line.refused, "<br>"));
    }
    pairs.table += "\n";
    return pairs;
  }();
  return all;
}

// Counts pairs that set a key to two values, which needs no run.
int pairs_that_are_no_jobs() {
  int pairs = 0;
  for (std::size_t i = 0; i < count_of_features(); ++i) {
    for (std::size_t j = i + 1; j < count_of_features(); ++j) {
      pairs += said_twice(std::array{i, j}).empty() ? 0 : 1;
    }
  }
  return pairs;
}

// Counts pairs that work, from the third column of the page; each pair is in two lines.
int pairs_that_work(const std::string& printed) {
  int works = 0;
  for (std::size_t i = 0; i < count_of_features(); ++i) {
    std::size_t at = printed.find(fmt::format("\n| {} |", name_of(i)));
    if (at == std::string::npos) {
      ADD_FAILURE() << "no line of " << name_of(i);
      return 0;
    }
    for (int column = 0; column < 2; ++column) at = printed.find(" | ", at) + 3;
    works += std::stoi(printed.substr(at, 8));
  }
  return works / 2;
}

// Checks the page without long runs: the number of lines, and the figures of the summary that
// follow from the lines, from the list of features and from the pairs that are asked for. The lines
// of some features whose refusals changed are compared, too; AreAsThePageSays compares all of them.
void expect_page(const std::string& page) {
  const std::string printed = printed_pairs(page);
  EXPECT_EQ(std::ranges::count(printed, '\n'), std::ptrdiff_t(count_of_features()) + 6);
  const int count = static_cast<int>(count_of_features());
  const int works = pairs_that_work(printed);
  const int no_jobs = pairs_that_are_no_jobs();
  const int refused = count * (count - 1) / 2 - works - no_jobs;
  EXPECT_NE(printed.find(summary_of({works, refused, no_jobs}, wanted_pairs().work)),
            std::string::npos)
      << printed.substr(0, 200);
  for (const char* name : {"unequal lengths", "activations on the host"}) {
    const std::string line = line_of(job_features().index_of(name));
    EXPECT_NE(printed.find(line), std::string::npos) << "not in " << kPage << ":\n" << line;
  }
}

// The page states all pairs.
TEST(PairsPage, PrintsAllPairs) {
  ASSERT_EQ(count_of_features(), kFeatures) << "a test for each feature: change kFeatures";
  const std::string page = read_text_file(source_path(kPage));
  if (!writes_page()) {
    expect_page(page);
    return;
  }
  const std::size_t count = count_of_features();
  std::vector<std::vector<Combination>> pairs(count, std::vector<Combination>(count));
  for_each_index(count, 0, [&](std::size_t i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      pairs[i][j] = pairs[j][i] = combine(std::array{i, j});
    }
  });
  std::array<int, 3> number{};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      ++number[static_cast<int>(pairs[i][j].together)];
      for (const std::string& broken : pairs[i][j].broken) {
        ADD_FAILURE() << name_of(i) << " with " << name_of(j) << ": " << broken;
      }
    }
  }
  std::string text = summary_of(number, wanted_pairs().work) +
                     "\n| feature | keys | works with | refused with | one value each "
                     "|\n|---|---|--:|---|---|\n";
  for (std::size_t i = 0; i < count; ++i) text += line_of(i, pairs[i]);
  const std::size_t first = page.find(kBegin) + kBegin.size();
  expect_file(kPage, page.substr(0, first) + "\n" + text + "\n" + page.substr(page.find(kEnd)));
}

TEST(PairsPage, PrintsThoseAskedForOfWhichNineTenthsWork) {
  EXPECT_GE(wanted_pairs().work, 0.9 * job_features().wanted.size()) << wanted_pairs().table;
  const std::string page = read_text_file(source_path(kPage));
  if (!writes_page()) {
    EXPECT_EQ(between(page, kWantedBegin, kWantedEnd), wanted_pairs().table);
    return;
  }
  const std::size_t first = page.find(kWantedBegin) + kWantedBegin.size();
  expect_file(kPage,
              page.substr(0, first) + wanted_pairs().table + page.substr(page.find(kWantedEnd)));
}

// Returns whether the page refuses a pair of the three features.
bool has_refused_pair(std::span<const std::size_t> three) {
  for (std::size_t left_out = 0; left_out < 3; ++left_out) {
    const std::array pair = {three[left_out == 0 ? 1 : 0], three[left_out == 2 ? 1 : 2]};
    if (combine(pair).together == Together::refused) return true;
  }
  return false;
}

constexpr int kTriples = 3000;
constexpr int kInBlock = 50;

class Triples : public testing::TestWithParam<int> {};

// Invariants of records include that all numbers of a job that runs are finite.
TEST_P(Triples, RunOrAreRefusedByARow) {
  int ran = 0;
  for (int i = 0; i < kInBlock; ++i) {
    RandomStream random(20261129, RandomPurpose::test, std::uint64_t(GetParam()) * kInBlock + i);
    std::vector<std::size_t> features;
    Combination drawn;
    // If the features form no job, others are drawn.
    do {
      features.clear();
      while (features.size() < 3) {
        const std::size_t next = random.below(count_of_features());
        if (std::ranges::count(features, next) == 0) features.push_back(next);
      }
      std::ranges::sort(features);
      drawn = combine(features);
    } while (drawn.together == Together::no_job);
    SCOPED_TRACE(fmt::format("{} with {} and {}\n{}", name_of(features[0]), name_of(features[1]),
                             name_of(features[2]), job_with(features).to_string()));
    EXPECT_EQ(drawn.broken, std::vector<std::string>{});
    if (drawn.together == Together::refused && drawn.row == nullptr) {
      EXPECT_TRUE(has_refused_pair(features)) << "no row, and no pair, refuses it: " << drawn.why;
    }
    ran += drawn.together == Together::works ? 1 : 0;
  }
  EXPECT_GT(ran, kInBlock / 4) << "nearly all are refused";
  RecordProperty("ran", ran);
}
INSTANTIATE_TEST_SUITE_P(Blocks, Triples, testing::Range(0, 4));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, Triples, testing::Range(4, kTriples / kInBlock));

}  // namespace
}  // namespace windtunnel
