// The answer of `windtunnel diagnose`.
#pragma once

#include <string>

#include "report/text/answer.hpp"
#include "sim/study/diagnose/diagnose.hpp"

namespace windtunnel {

// `log` and `diagnosis` must outlive the answer. `job_file` is the name that the user gave.
Answer diagnose_answer(const TrainingLog& log, const Diagnosis& diagnosis,
                       const std::string& job_file);

}  // namespace windtunnel
