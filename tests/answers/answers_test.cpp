// What ./dev answers --check finds: a changed digit, trial or word, and what only one side has.
#include "tests/answers/answers.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

const Answers kBefore = {
    {"scenarios/a.yaml", {{"iteration.time_s", "4.7300000000000004"}, {"trial 0", "9 events, ab"}}},
    {"windtunnel --help", {{"line 1", "a = b, [c]"}, {"line 2", ""}}}};

TEST(Answers, ComeBackFromTheirText) {
  EXPECT_EQ(parse_answers(answers_text(kBefore), "answers.txt"), kBefore);
}

TEST(Answers, ALineBreakStaysOnItsLine) {
  const Answers answers = {{"case", {{"error", "a.yaml:1:2: no\nsee"}}}};
  EXPECT_EQ(answers_text(answers), "[case]\nerror = a.yaml:1:2: no\\nsee\n");
}

TEST(Answers, ALineOfNeitherFormIsAnError) {
  EXPECT_THROW(parse_answers("[case]\nno equals\n", "answers.txt"), Error);
  EXPECT_THROW(parse_answers("key = value before any case\n", "answers.txt"), Error);
}

TEST(Answers, EqualAnswersHaveNoDifference) {
  EXPECT_TRUE(differences(kBefore, kBefore).empty());
}

TEST(Answers, TheLastDigitAndTheTrialAndTheWordAreNamed) {
  Answers after = kBefore;
  after["scenarios/a.yaml"] = {{"iteration.time_s", "4.7300000000000013"},
                               {"trial 0", "9 events, cd"}};
  after["windtunnel --help"][0].second = "a = d, [c]";
  const std::vector<std::string> lines = {
      "scenarios/a.yaml, iteration.time_s: 4.7300000000000004 -> 4.7300000000000013",
      "scenarios/a.yaml, trial 0: 9 events, ab -> 9 events, cd",
      "windtunnel --help, line 1: a = b, [c] -> a = d, [c]"};
  EXPECT_EQ(differences(kBefore, after), lines);
}

TEST(Answers, WhatOneSideHasAloneIsNamed) {
  const Answers after = {{"scenarios/a.yaml", {{"iteration.time_s", "4.7300000000000004"}}},
                         {"scenarios/b.yaml", {}}};
  const std::vector<std::string> lines = {"scenarios/a.yaml, trial 0: 9 events, ab -> (none)",
                                          "windtunnel --help: gone", "scenarios/b.yaml: new"};
  EXPECT_EQ(differences(kBefore, after), lines);
}

// All messages of a test have the same key: a new one in the middle is one difference.
TEST(Answers, ValuesOfOneKeyAreComparedAsASet) {
  const Answers before = {{"test", {{"a", "no tp"}, {"a", "no pp"}, {"a", "no pp"}, {"b", "-1"}}}};
  const Answers after = {
      {"test", {{"a", "no cp"}, {"a", "no pp"}, {"a", "no tp!"}, {"b", "-1"}, {"a", "no pp"}}}};
  const std::vector<std::string> lines = {"test, a: no tp -> no cp", "test, a: (none) -> no tp!"};
  EXPECT_EQ(differences(before, after), lines);
  EXPECT_EQ(parse_answers(answers_text(after), "answers.txt"), after);
}

TEST(Answers, EachQuestionIsAskedOnceAndItsErrorIsItsAnswer) {
  const std::vector<Question> questions = {
      {"a",
       [] {
         return AnswerLines{{"figure", "1"}};
       }},
      {"b", []() -> AnswerLines { throw Error("no such key"); }},
      {"c", [] {
         return AnswerLines{{"figure", "3"}};
       }}};
  const Answers expected = {
      {"a", {{"figure", "1"}}}, {"b", {{"error", "no such key"}}}, {"c", {{"figure", "3"}}}};
  EXPECT_EQ(ask_all(questions, 2), expected);
}

}  // namespace
}  // namespace windtunnel
