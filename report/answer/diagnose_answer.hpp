// What `windtunnel diagnose` answers.
#pragma once

#include <string>

#include "report/text/answer.hpp"
#include "sim/study/diagnose/diagnose.hpp"

namespace windtunnel {

// `log` and `diagnosis` have to live until the answer is printed. `job_file`: as the user named it.
Answer diagnose_answer(const TrainingLog& log, const Diagnosis& diagnosis,
                       const std::string& job_file);

}  // namespace windtunnel
