// What nccl-tests printed, beside a machine: of `expect --log`, and of `diagnose` of such a log.
#pragma once

#include <string>
#include <vector>

#include "cli/program/answer_output.hpp"
#include "models/plan/job.hpp"
#include "sim/study/expect/log_causes.hpp"

namespace windtunnel {

// The collective runs on all GPUs of the job's machine.
ExpectRequest collective_request(const Job& job, CollectiveKind kind);

// The one collective that a log is of. Throws Error where it is of none, or of several.
CollectiveKind collective_of_log(const std::string& file);

struct CollectiveReading {
  LogReading log;
  std::vector<std::string> warnings;
};

// Throws Error where the file is no such log, has no time of the collective, or does not fit the
// machine of the request, whose GPUs become those of the log's ranks.
CollectiveReading read_collective_log(const std::string& file, ExpectRequest& request);

void hand_out_reading(const CollectiveReading& reading, const Cluster& cluster,
                      const AnswerOutput& output);

// "2 of 4 x dgx-h100" where fewer take part than there are.
std::string machine_text(const Cluster& cluster, int nodes);
void add_warnings(std::vector<std::string> warnings, Answer& answer);

}  // namespace windtunnel
