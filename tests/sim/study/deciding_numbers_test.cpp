// Which defaults decide an answer, and which constants move a step most.
#include "sim/study/deciding_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "models/base/error.hpp"
#include "policies/iteration.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

// Sixteen nodes without a spare: while one is repaired, all wait.
std::string waiting_job(const std::string& failures) {
  return "name: waiting\n"
         "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n"
         "cluster: {nodes: 16, node: dgx-h100, storage: {write: 10 GB/s, read: 10 GB/s}}\n"
         "layout: {tp: 8}\n"
         "batch: {global: 64, micro: 1}\n"
         "snapshots: [{tier: storage, every: 30 min}]\n"
         "failures: [{class: node, rate: 10 per 1000 node-days" +
         failures +
         "}]\n"
         "recovery: {spares: 0, detect: 1 min, restart: 3 min}\n"
         "campaign: {length: 60 d, replicas: 16}\n";
}

std::vector<std::string> keys_of_notes(const std::string& text) {
  const Record record =
      simulate(parse_case(text, "waiting.yaml"), {.threads = 1, .depth = StudyDepth::advice});
  std::vector<std::string> keys;
  for (const Note& note : record.notes) {
    if (note.text.find("is a default") != std::string::npos) keys.push_back(note.key);
  }
  return keys;
}

TEST(DecidingNumbers, TheRepairThatNobodyStatedIsNamed) {
  const std::vector<std::string> keys = keys_of_notes(waiting_job(""));
  EXPECT_TRUE(std::ranges::find(keys, "failures.0.repair") != keys.end());
}

TEST(DecidingNumbers, AStatedRepairIsNot) {
  const std::vector<std::string> keys = keys_of_notes(waiting_job(", repair: 1 d"));
  EXPECT_TRUE(std::ranges::find(keys, "failures.0.repair") == keys.end());
}

// Two trials' goodput at half and double lie on either side of the goodput as it is.
TEST(DecidingNumbers, TheNoteHasTheAnswerAtHalfAndAtDouble) {
  const Case the_case = parse_case(waiting_job(""), "waiting.yaml");
  const Record record = simulate(the_case, {.threads = 1, .depth = StudyDepth::advice});
  const auto note = std::ranges::find(record.notes, "failures.0.repair", &Note::key);
  ASSERT_NE(note, record.notes.end());
  EXPECT_NE(note->figures.find("with 1 d; "), std::string::npos) << note->figures;
  EXPECT_NE(note->figures.find("with 12 h, "), std::string::npos) << note->figures;
  EXPECT_NE(note->figures.find("with 2 d"), std::string::npos) << note->figures;
}

TEST(DecidingNumbers, NobodyIsToldWhoDoesNotAsk) {
  const Record record = simulate(parse_case(waiting_job(""), "waiting.yaml"), {.threads = 1});
  EXPECT_TRUE(std::ranges::none_of(record.notes, [](const Note& note) {
    return note.text.find("is a default") != std::string::npos;
  }));
  EXPECT_EQ(record.assumed_constants, "");
}

// A constant that is given an assumed origin and decides all products is named before others.
TEST(DecidingNumbers, TheConstantThatMovesTheStepMostComesFirst) {
  Case the_case =
      parse_case(waiting_job(""), "waiting.yaml", {{"model.hidden", "8192"}, {"batch.micro", "4"}});
  the_case.job.calibration.gemm_efficiency.origin = Origin::assumed;
  const std::string text = assumed_constants(the_case.job, prepare_iteration(the_case.job));
  EXPECT_TRUE(text.starts_with("gemm.efficiency 0.8 (10 % less: +")) << text;
}

}  // namespace
}  // namespace windtunnel
