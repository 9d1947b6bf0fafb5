// A scenario of several jobs on one cluster: `cluster:`, `jobs: [a.yaml, b.yaml]` and `placement:`.
// Each job is a Case of its own: its file, with the shared cluster and its places on it set on top,
// so that whoever has the Case alone simulates the job alone where it stands.
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
  int nodes = 1;  // of the machine
  std::vector<Case> jobs;
};

// Whether the text is a scenario of several jobs. False of what is no YAML.
bool has_jobs(const ScenarioText& scenario);

// Throws Error with file:line:column where the scenario has other keys than its own, jobs want more
// nodes than there are or the same ones, or a job's file says something else of the cluster; and as
// resolve_case() does of each job.
Company resolve_company(const ScenarioText& scenario);

}  // namespace windtunnel
