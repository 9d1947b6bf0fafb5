// Identical one-GPU jobs, trained together by one program: each of its kernels does the work of all
// jobs (HFTA, Wang et al., MLSys 2021, arXiv 2102.02344).
#pragma once

#include <vector>

namespace windtunnel {

// What a scenario asks for (`fuse`).
struct FusedJobs {
  int most = 1;  // largest number of jobs that is compared
};

struct FusedPoint {
  int jobs = 1;
  double step_s = 0;   // all jobs together
  double speedup = 1;  // over running the jobs one after the other
  double memory_bytes = 0;
  bool fits = true;
};

struct FusedReport {
  std::vector<FusedPoint> points;  // 1, 2, 4, ... jobs, the number asked for, and the most that fit
  int most_jobs = 0;  // most jobs that fit, up to the number asked for; 0: not even one
  // The fastest point that fits.
  const FusedPoint* best() const;
};

}  // namespace windtunnel
