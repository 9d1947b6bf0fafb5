// Conditions over named quantities of a job, as the library's files state them: [pp, at_least, 2],
// [gpu, starts_with, h100, h200]. Of a table's row they may also name its columns: [row.note,
// contains, compile].
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
  lacks,  // none of the operands
};

// A quantity of the job, compared with the operands, of which one has to hold: numbers, quantities
// or words.
struct JobCondition {
  std::string quantity;
  JobPredicate predicate = JobPredicate::equals;
  std::vector<std::string> operands;
};

// What a column of the job's row says; empty: nothing.
using RowWords = std::function<std::string(std::string_view column)>;

// What conditions may name beside a job's quantities: columns of its row, behind "row.".
struct ConditionNames {
  std::vector<std::string_view> columns = {};
  bool of_job = true;  // else of the row alone: there is no job yet
};

// The conditions of a list. Throws Error with location: an unknown quantity or predicate, a
// quantity of a job where there is none, operands that are neither numbers nor quantities.
std::vector<JobCondition> read_conditions(const DocumentNode& list,
                                          const ConditionNames& names = {});

bool holds(const JobCondition& condition, const Job& job, const RowWords& row = {});

// Whether a quantity of the condition differs between schedules of one layout and micro-batch.
bool asks_schedule(const JobCondition& condition);

// All of `when`, and of `any`, unless there is none, at least one.
bool holds(const std::vector<JobCondition>& when, const std::vector<JobCondition>& any,
           const Job& job, const RowWords& row = {});

// The sentence with the job's values in the place of "{quantity}".
std::string filled(std::string text, const Job& job);

}  // namespace windtunnel
