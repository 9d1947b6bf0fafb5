#include "sim/study/decisive_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "policies/iteration.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

// Nodes fail often, and one node waits as a spare.
std::string job(const std::string& failure, const std::string& recovery) {
  return "name: a\nmodel: gpt-1.7b\ncluster: {nodes: 4, node: dgx-h100, storage: {write: 10 GB/s, "
         "read: 10 GB/s}}\n"
         "batch: {global: 64, micro: 1, sequence: 1024}\n"
         "snapshots: [{tier: storage, every: 30 min, mode: async}]\n"
         "failures: [{class: node, rate: 40 per 1000 node-days" +
         failure + "}]\nrecovery: " + recovery +
         "\ncampaign: {length: 60 d, replicas: 40, seed: 1}\n";
}

Record told(const std::string& text) {
  return simulate(parse_case(text, "a.yaml"), {.threads = 1, .depth = StudyDepth::advice});
}

const Note* note_of(const Record& record, const std::string& key) {
  const auto found = std::ranges::find(record.notes, key, &Note::key);
  return found == record.notes.end() ? nullptr : &*found;
}

// A repair of one day, the default, decides the goodput of this job. The note states the goodput
// for half a day and for two, and runs with these settings give the same figures.
TEST(DecisiveNumbers, ADefaultThatDecidesIsToldWithBothEnds) {
  const Record record = told(job("", "{when_no_spare: wait}"));
  const Note* note = note_of(record, "failures.0.repair");
  ASSERT_NE(note, nullptr);
  EXPECT_NE(note->text.find("1 d was assumed"), std::string::npos) << note->text;
  EXPECT_NE(note->figures.find("with 12 h"), std::string::npos) << note->figures;
  EXPECT_NE(note->figures.find("with 2 d"), std::string::npos) << note->figures;
  const Record twice = told(job(", repair: 2 d", "{when_no_spare: wait}"));
  const double goodput = 100 * twice.campaign->goodput.mean;
  const double in_note = std::stod(note->figures.substr(note->figures.rfind(", ") + 2));
  EXPECT_NEAR(in_note, goodput, 1);
}

// Repair times drawn from records are a default of the plan: half and double apply to all of them.
TEST(DecisiveNumbers, RecordedRepairsAreTriedBothWays) {
  const Case the_case =
      parse_case(job(", repair: {empirical: infinitehbd}", "{when_no_spare: wait}"), "a.yaml");
  const MeasuredIteration measured = measure_iteration(the_case, {.threads = 1});
  const CampaignInputs inputs = campaign_inputs(the_case.job, measured.table);
  const CampaignReport report = run_campaign(inputs, 1);
  const std::vector<Note> notes = decisive_numbers(
      the_case, inputs, report,
      [](const ResolvedValue& value) { return value.key == "failures.0.repair.empirical"; }, 1);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(notes[0].text.starts_with("a mean of ")) << notes[0].text;
  const auto number_before = [&](const std::string& words) {
    const std::size_t end = notes[0].figures.find(words);
    const std::size_t begin = notes[0].figures.rfind(", ", end) + 2;
    return std::stod(notes[0].figures.substr(begin, end - begin));
  };
  EXPECT_GT(number_before(" % with half of it"), 100 * report.goodput.mean);
  EXPECT_LT(number_before(" % with twice"), 100 * report.goodput.mean);
}

TEST(DecisiveNumbers, WhatIsStatedIsNotTold) {
  const Record stated = told(job(", repair: 1 d", "{when_no_spare: wait}"));
  EXPECT_EQ(note_of(stated, "failures.0.repair"), nullptr);
}

// A reported rate is shown next to the claimed one, with the goodput of either.
TEST(DecisiveNumbers, ReportsOfUsersStandBesideClaims) {
  const std::string torchft = "{base: torchft, elastic: {groups: 4}}";
  const Record record = told(job(", repair: 1 h", torchft));
  const Note* note = note_of(record, "recovery.elastic.rejoin");
  ASSERT_NE(note, nullptr);
  EXPECT_NE(note->text.find("issue 329"), std::string::npos) << note->text;
  EXPECT_NE(note->figures.find("as reported"), std::string::npos) << note->figures;
}

// simulate() without advice, as used by studies of many jobs, does not look for decisive numbers.
TEST(DecisiveNumbers, AreLookedForWhereAdviceIsAsked) {
  const Record record = simulate(parse_case(job("", "{when_no_spare: wait}"), "a.yaml"));
  EXPECT_EQ(note_of(record, "failures.0.repair"), nullptr);
  EXPECT_EQ(record.assumed_constants, "");
}

// If a constant of assumed origin determines the time of all products, it is named first.
TEST(DecisiveNumbers, TheConstantThatMovesTheStepMostComesFirst) {
  Case the_case = parse_case(job("", "{when_no_spare: wait}"), "a.yaml",
                             {{"model", "llama3-8b"}, {"batch.micro", "2"}});
  the_case.job.calibration.gemm_efficiency.origin = Origin::assumed;
  const std::string text = assumed_constants(the_case.job, prepare_iteration(the_case.job));
  EXPECT_TRUE(text.starts_with("gemm.efficiency 0.8 (10 % less: +")) << text;
}

}  // namespace
}  // namespace windtunnel
