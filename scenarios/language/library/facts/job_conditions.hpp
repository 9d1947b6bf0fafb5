// Conditions over named quantities of a job, as the library's files state them: [pp, at_least, 2],
// [gpu, starts_with, h100, h200]. Conditions about a row of a table may also name its columns:
// [row.note, contains, compile].
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/plan/job.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

enum class JobPredicate {
  divides,
  at_least,
  at_most,
  above,
  equals,
  one_of,
  starts_with,
  contains,
  lacks,  // contains none of the operands
};

// Compares a quantity of the job with the operands (numbers, quantities or words). It holds if the
// predicate holds for one of them.
struct JobCondition {
  std::string quantity;
  JobPredicate predicate = JobPredicate::equals;
  std::vector<std::string> operands;
};

// The text in a column of the job's row; empty if the row says nothing.
using RowWords = std::function<std::string(std::string_view column)>;

// What conditions may name besides quantities of a job: columns of its row, after "row.".
struct ConditionNames {
  std::vector<std::string_view> columns = {};
  bool of_job = true;  // false: only a row exists, and no job yet
};

// Reads the conditions of a list. Throws Error with location: an unknown quantity or predicate, a
// quantity of a job if there is no job, operands that are neither numbers nor quantities.
std::vector<JobCondition> read_conditions(const DocumentNode& list,
                                          const ConditionNames& names = {});

bool holds(const JobCondition& condition, const Job& job, const RowWords& row = {});

// Whether the condition can differ between schedules of one layout and micro-batch.
bool asks_schedule(const JobCondition& condition);

// True if all of `when` hold, and at least one of `any` unless that is empty.
bool holds(const std::vector<JobCondition>& when, const std::vector<JobCondition>& any,
           const Job& job, const RowWords& row = {});

// Replaces each "{quantity}" in the text by the job's value.
std::string filled(std::string text, const Job& job);

}  // namespace windtunnel
