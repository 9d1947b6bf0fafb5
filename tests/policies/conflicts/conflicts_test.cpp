// Tests of the table of conflicting features as a whole: the texts of its rows, and that
// docs/physics/gradients.md prints them. WINDTUNNEL_UPDATE_GOLDEN=1 rewrites that part of the page.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "models/compression/compressors.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/workload/training.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/conflicts/features.hpp"
#include "policies/exchange/replica_groups.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/job_schedule.hpp"
#include "scenarios/language/text/fields.hpp"
#include "tests/scenarios/golden.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

constexpr const char* kPage = "docs/physics/gradients.md";
constexpr std::string_view kBegin = "<!-- rows of policies/conflicts, by conflicts_test -->\n";
constexpr std::string_view kEnd = "<!-- end of rows -->\n";

std::string without_joint(std::string_view why) {
  return std::string(why.substr(why.find_first_not_of(": ")));
}

std::string printed_table() {
  std::string text;
  for (const ConflictSubject& subject : conflict_table()) {
    text += fmt::format("\n### {}\n\n| | with | | way out |\n|---|---|---|---|\n", subject.title);
    for (const Conflict& row : subject.rows()) {
      text += fmt::format("| {} (`{}`) | {} | {} | {} |\n", row.is.name, row.is.key, row.with.name,
                          without_joint(row.why), row.way);
    }
  }
  return text + "\n";
}

TEST(Conflicts, ThePagePrintsAllRows) {
  const std::string page = read_text_file(source_path(kPage));
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::size_t first = begin + kBegin.size();
  expect_file(kPage, page.substr(0, first) + printed_table() + page.substr(end));
}

TEST(Conflicts, EveryRowStandsOnceAndNamesAKeyOfScenarios) {
  std::set<std::string> pairs;
  for (const ConflictSubject& subject : conflict_table()) {
    EXPECT_FALSE(subject.rows().empty()) << subject.title;
    for (const Conflict& row : subject.rows()) {
      const std::string pair = fmt::format("{} with {}", row.is.name, row.with.name);
      EXPECT_TRUE(pairs.insert(pair + row.is.key.data()).second) << pair;
      EXPECT_NE(&row.is, &row.with) << pair;
      for (const std::string_view key : {row.is.key, row.with.key}) {
        EXPECT_NE(find_field(std::string(key)), nullptr) << pair << ": " << key;
      }
    }
  }
}

// Jobs that programs build without a scenario are checked for the same conflicts, here those of a
// contrastive loss.
TEST(Conflicts, JobsThatNoScenarioMakesAreAskedToo) {
  Job job = small_job(2, 1, 4);
  EXPECT_NO_THROW(prepare_iteration(job));
  Training training;
  training.loss.kind = LossKind::contrastive;
  job.training = std::make_shared<const Training>(training);
  job.model.tied_embeddings = true;
  EXPECT_THAT(error_of([&] { prepare_iteration(job); }),
              testing::StartsWith("train.loss.kind: a contrastive loss needs the embeddings"));
}

// Names in braces must be known, and only rows that are checked with a schedule may name it.
TEST(Conflicts, EveryRowHasItsTextOfAnyJob) {
  const Job job = small_job(2, 2, 4);
  const Schedule schedule = job_schedule(job, chunk_costs(job));
  for (const ConflictSubject& subject : conflict_table()) {
    Asked asked(job);
    if (subject.rows == schedule_conflicts) asked.schedule = &schedule;
    for (const Conflict& row : subject.rows()) {
      EXPECT_THAT(text_of(row, asked), testing::Not(testing::HasSubstr("{"))) << row.is.name;
    }
  }
}

// The job has no pipeline, because encoder and decoder with one are refused before a schedule is
// made.
TEST(Conflicts, SlicesOfADecoderReadTheWholeSource) {
  Job job = small_job(1, 1, 4);
  Schedule schedule = job_schedule(job, chunk_costs(job));
  job.model.pattern = "BC";
  job.model.source_tokens = 8;
  Asked asked(job);
  asked.schedule = &schedule;
  EXPECT_FALSE(first_refusal(schedule_conflicts(), asked));
  schedule.slices = 2;
  const auto refusal = first_refusal(schedule_conflicts(), asked);
  ASSERT_TRUE(refusal);
  EXPECT_THAT(refusal->what,
              testing::HasSubstr("each slice of the decoder reads the whole source"));
}

// One-byte is refused under the key that states it, with and without `train`.
TEST(Conflicts, ACompressorOfNumbersIsNamedByItsOwnKey) {
  Job job = small_job(1, 1, 4);
  Training training;
  training.method = TrainingMethod::zeroth_order;
  job.training = std::make_shared<const Training>(training);
  job.communication.compressors.dp.name = kOneByte;
  job.lengths.emplace();
  Asked asked(job);
  EXPECT_EQ(first_refusal(training_conflicts(), asked)->conflict->is.key,
            "communication.compressor");
  asked.stated = [](std::string_view key) { return key == "train"; };
  EXPECT_EQ(first_refusal(training_conflicts(), asked)->conflict->is.key, "train");
}

// Rows are checked before the layout is: more shards than replicas must not divide by zero.
TEST(Conflicts, MoreShardsThanReplicasAreNoMatterOfCompressors) {
  Job job = small_job(1, 1, 4);
  job.layout.sharding = Sharding::zero3;
  job.layout.shard_ranks = 16;
  job.communication.compressors.dp.name = "topk";
  job.communication.compressors.dp.hop = CompressedHop::across;
  ASSERT_FALSE(compressor_kind("topk").summable);
  ASSERT_TRUE(compresses_across(job));
  for (const CompressedHop hop :
       {CompressedHop::across, CompressedHop::automatic, CompressedHop::all}) {
    job.communication.compressors.dp.hop = hop;
    EXPECT_FALSE(first_refusal(exchange_conflicts(), job));
  }
}

// Keys that the scenario states but that are read later count too.
TEST(Conflicts, StatedKeysCount) {
  Job job = small_job(1, 1, 4);
  job.lengths.emplace();
  Asked asked(job);
  EXPECT_FALSE(first_refusal(study_conflicts(), asked));
  asked.stated = [](std::string_view key) { return key == "volunteers"; };
  const auto refusal = first_refusal(study_conflicts(), asked);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->conflict->is.key, "volunteers");
  EXPECT_EQ(refusal->reason(), "with batch.lengths is not modelled; leave one out");
}

}  // namespace
}  // namespace windtunnel
