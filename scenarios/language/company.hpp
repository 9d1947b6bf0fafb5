// A scenario of several jobs on one cluster: `cluster:`, `jobs: [a.yaml, b.yaml]` and `placement:`.
// Each job is a Case made from its own file, with the shared cluster and the job's nodes there. A
// simulation of that Case shows the job without the other jobs.
#pragma once

#include <string>
#include <vector>

#include "models/machine/fabrics/job_places.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

struct Company {
  std::string scenario;  // its `name`
  std::string key;       // stable: hash of the jobs' keys
  JobPlacement placement = JobPlacement::packed;
  int nodes = 1;  // in the shared cluster
  std::vector<Case> jobs;
};

// Whether the text is a scenario of several jobs. False if it is not YAML.
bool has_jobs(const ScenarioText& scenario);

// Throws Error with file:line:column if the scenario has a key that only single jobs have, if jobs
// need more nodes than there are or claim the same nodes, or if a job's file contradicts the shared
// cluster; also whatever resolve_case() throws for a job.
Company resolve_company(const ScenarioText& scenario);

}  // namespace windtunnel
