// Several jobs run side by side on one cluster: the step of each alone and in the company of the
// others.
#pragma once

#include <string>
#include <vector>

#include "models/machine/fabrics/job_places.hpp"
#include "models/results/record.hpp"

namespace windtunnel {

// Times of one end after another, of several jobs that run side by side: [job][step].
using StepEnds = std::vector<std::vector<double>>;

// While all of the jobs run: from the latest of their first ends to the earliest of their last.
struct CommonWindow {
  double begin_s = 0;
  double end_s = 0;
};
CommonWindow common_window(const StepEnds& ends);

// The steps of one job that lie in the window as a whole, and the mean of their times.
struct StepsInWindow {
  int steps = 0;
  double step_s = 0;  // 0 without steps
};
StepsInWindow steps_in(const CommonWindow& window, const std::vector<double>& ends);

struct CompanyJob {
  Record alone;  // on the nodes that it has in the company, the others idle
  // Its steady step in company to its steady step alone: the mean over starts, the least and the
  // most. A start says how far the jobs are apart in their steps when all of them run.
  double slowdown = 1;
  double least_slowdown = 1;
  double most_slowdown = 1;
  int steps = 0;  // simulated in company of all others, the fewest of a start

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
