// Several jobs run side by side on one cluster: the step time of each job alone, and while the
// others run.
#pragma once

#include <string>
#include <vector>

#include "models/machine/fabrics/job_places.hpp"
#include "models/results/record.hpp"

namespace windtunnel {

// End times of consecutive steps of several jobs that run side by side: [job][step].
using StepEnds = std::vector<std::vector<double>>;

// The time in which all jobs run: from the latest of their first ends to the earliest of their
// last.
struct CommonWindow {
  double begin_s = 0;
  double end_s = 0;
};
CommonWindow common_window(const StepEnds& ends);

// The steps of one job that lie completely in the window, and their mean duration.
struct StepsInWindow {
  int steps = 0;
  double step_s = 0;  // 0 if there are none
};
StepsInWindow steps_in(const CommonWindow& window, const std::vector<double>& ends);

struct CompanyJob {
  Record alone;  // on the nodes that it has in company, while the others idle
  // Step time in company divided by step time alone, both in steady state: mean, least and most
  // over starts. A start is an offset between the steps of the jobs when all of them run.
  double slowdown = 1;
  double least_slowdown = 1;
  double most_slowdown = 1;
  int steps = 0;  // steps simulated while all others run; the fewest over the starts

  double alone_s() const { return alone.iteration.time_s; }
  double together_s() const { return alone_s() * slowdown; }
};

struct CompanyReport {
  std::string scenario;
  std::string key;
  JobPlacement placement = JobPlacement::packed;
  int nodes = 1;  // of the machine
  int starts = 1;
  std::vector<CompanyJob> jobs;
};

}  // namespace windtunnel
