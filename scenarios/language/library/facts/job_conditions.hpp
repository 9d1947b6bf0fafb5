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

// The conditions of a list. Throws Error with location: an unknown quantity or predicate, operands
// that are neither numbers nor quantities. `columns`: what may stand behind "row.".
std::vector<JobCondition> read_conditions(const DocumentNode& list,
                                          const std::vector<std::string_view>& columns = {});

bool holds(const JobCondition& condition, const Job& job, const RowWords& row = {});

// All of `when`, and of `any`, unless there is none, at least one.
bool holds(const std::vector<JobCondition>& when, const std::vector<JobCondition>& any,
           const Job& job, const RowWords& row = {});

// The sentence with the job's values in the place of "{quantity}".
std::string filled(std::string text, const Job& job);

}  // namespace windtunnel
