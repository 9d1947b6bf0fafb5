#include "scenarios/language/library/facts/job_conditions.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

std::vector<JobCondition> conditions(const std::string& list) {
  return read_conditions(parse_document(list, "t.yaml"), {.columns = {"note"}});
}

bool true_of(const std::string& condition, const Job& job, const std::string& note = "") {
  return holds(conditions("[" + condition + "]"), {}, job, [&](std::string_view) { return note; });
}

TEST(JobConditions, ComparesNumbersWithNumbersAndQuantities) {
  Job job = small_job(2, 4, 3);
  job.model.layers = 8;
  EXPECT_TRUE(true_of("[tp, equals, 1, 2]", job));
  EXPECT_TRUE(true_of("[pp, at_least, 4]", job));
  EXPECT_FALSE(true_of("[pp, above, 4]", job));
  EXPECT_TRUE(true_of("[tp, at_most, dp]", job));
  EXPECT_TRUE(true_of("[pp, divides, even_layers]", job));
  EXPECT_FALSE(true_of("[dp, divides, even_layers]", job));
}

TEST(JobConditions, ComparesWordsOfTheJobAndOfItsRow) {
  Job job = small_job(1, 1, 1);
  job.layout.sharding = Sharding::zero3;
  EXPECT_TRUE(true_of("[sharding, one_of, zero1, zero3]", job));
  EXPECT_TRUE(true_of("[row.note, contains, compile]", job, "Table 1 FSDP+Compile"));
  EXPECT_FALSE(true_of("[row.note, lacks, fp8, compile]", job, "FSDP+compile"));
  EXPECT_TRUE(true_of("[row.note, lacks, fp8, graph]", job, "FSDP+compile"));
  EXPECT_FALSE(true_of("[row.note, starts_with, compile]", job, "FSDP+compile"));
  EXPECT_TRUE(true_of("[row.note, one_of, \"\"]", job));
}

TEST(JobConditions, AllOfWhenAndOneOfAny) {
  const Job job = small_job(2, 1, 1);
  const auto tp2 = conditions("[[tp, equals, 2]]");
  const auto either = conditions("[[pp, equals, 2], [tp, equals, 2]]");
  EXPECT_TRUE(holds(tp2, {}, job));
  EXPECT_TRUE(holds(tp2, either, job));
  EXPECT_TRUE(holds({}, either, job));
  EXPECT_FALSE(holds(either, {}, job));
  EXPECT_TRUE(holds({}, {}, job));
}

// A condition on a row's source is checked before there is a job; other conditions would read an
// empty job.
TEST(JobConditions, OfARowAloneNoJobIsAsked) {
  const auto reason = [](const char* list) {
    return error_of([&] {
      read_conditions(parse_document(list, "t.yaml"), {.columns = {"note"}, .of_job = false});
    });
  };
  EXPECT_EQ(reason("[[row.note, contains, x], [pp, above, 1]]"),
            "t.yaml:1:28: 'pp' is a quantity of a job, but here only quantities of a row are "
            "known: row.note");
  EXPECT_EQ(reason("[[row.nota, contains, x]]"),
            "t.yaml:1:3: unknown quantity 'row.nota'; did you mean 'row.note'?");
  EXPECT_EQ(reason("[[row.note, contains, x]]"), "no error");
}

TEST(JobConditions, WhatCannotBeReadHasItsPlace) {
  const auto reason = [](const char* list) { return error_of([&] { conditions(list); }); };
  EXPECT_NE(reason("[[ttp, equals, 2]]").find("t.yaml:1:3"), std::string::npos);
  EXPECT_NE(reason("[[tp, equal, 2]]").find("did you mean 'equals'"), std::string::npos);
  EXPECT_NE(reason("[[tp, contains, 2]]").find("contains does not compare 'tp'"),
            std::string::npos);
  EXPECT_NE(reason("[[row.url, contains, x]]").find("quantity"), std::string::npos);
  EXPECT_NE(reason("[[tp, equals, two]]").find("neither a number nor a quantity"),
            std::string::npos);
}

TEST(JobConditions, SomeQuantitiesAreOfTheSchedule) {
  for (const char* of_schedule :
       {"[vpp, equals, 2]", "[schedule, one_of, 1f1b]", "[stages, at_most, 8]",
        "[last_group, equals, 0]", "[group, above, pp]"}) {
    EXPECT_TRUE(asks_schedule(conditions(fmt::format("[{}]", of_schedule)).front())) << of_schedule;
  }
  EXPECT_TRUE(asks_schedule(conditions("[[pp, at_most, stages]]").front())) << "an operand";
  for (const char* of_layout : {"[pp, at_least, 2]", "[dp, equals, 1]", "[gpu, one_of, h100]"}) {
    EXPECT_FALSE(asks_schedule(conditions(fmt::format("[{}]", of_layout)).front())) << of_layout;
  }
}

}  // namespace
}  // namespace windtunnel
