// From a Case to its Record: costs, schedule, memory, Plan, engine, campaign.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "models/results/record.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/studies.hpp"

namespace windtunnel {

struct SimulateOptions {
  int threads = 0;         // for iterations and campaigns; 0: all cores
  bool allow_oom = false;  // simulate a job although it does not fit in memory
  std::function<void(const std::string&)> progress = {};  // called before each step
  // how the other iterations of its campaign are obtained
  OtherIterations others = OtherIterations::simulated;
  StudyDepth depth = StudyDepth::intervals;
  std::stop_token stop = {};  // if requested: Error with exit code 1 before the next step or trial
};

// What the engine has simulated of a case, without campaigns.
struct MeasuredIteration {
  std::shared_ptr<const PreparedIteration> prepared;
  std::string memory_excess;  // which memory (GPUs or hosts) is exceeded, and by how much
  Execution plain;
  std::vector<PathStep> critical_path;
  IterationReport report;
  IterationTable table;  // only if the case has a campaign
};

// These throw Error with the place of the key at fault. Exit code 2: the case contradicts itself.
// Exit code 1: it exceeds the memory of GPUs or hosts (with allow_oom memory_excess says so).
MeasuredIteration measure_iteration(const Case& the_case, const SimulateOptions& options = {});
Record simulate(const Case& the_case, const SimulateOptions& options = {});
// Does the same if the iterations are known: of this case, or of one with the same Case::table.
Record record_of(const Case& the_case, MeasuredIteration measured,
                 const SimulateOptions& options = {});

}  // namespace windtunnel
