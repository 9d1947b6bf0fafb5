// Compares the output of nccl-tests with a machine, for `expect --log` and for `diagnose`.
#pragma once

#include <string>
#include <vector>

#include "cli/program/answer_output.hpp"
#include "models/plan/job.hpp"
#include "sim/study/expect/log_causes.hpp"

namespace windtunnel {

// Makes the request for a collective on all GPUs of the job's machine.
ExpectRequest collective_request(const Job& job, CollectiveKind kind);

// Returns the collective that a log measures. Throws Error if the log has none, or several.
CollectiveKind collective_of_log(const std::string& file);

struct CollectiveReading {
  LogReading log;
  std::vector<std::string> warnings;
};

// Throws Error if the file is not a log of nccl-tests, has no time of the requested collective, or
// has ranks that the machine cannot hold. Sets the request's GPUs to those of the log's ranks.
CollectiveReading read_collective_log(const std::string& file, ExpectRequest& request);

void hand_out_reading(const CollectiveReading& reading, const Cluster& cluster,
                      const AnswerOutput& output);

// "2 of 4 x dgx-h100" if not all nodes take part.
std::string machine_text(const Cluster& cluster, int nodes);
void add_warnings(std::vector<std::string> warnings, Answer& answer);

}  // namespace windtunnel
