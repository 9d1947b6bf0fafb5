// Equal jobs of one GPU, trained together by one program whose kernels each do the work of all
// (HFTA, Wang et al., MLSys 2021, arXiv 2102.02344).
#pragma once

#include <vector>

namespace windtunnel {

// What a scenario asks for (`fuse`).
struct FusedJobs {
  int most = 1;  // that are compared
};

struct FusedPoint {
  int jobs = 1;
  double step_s = 0;   // of all of them
  double speedup = 1;  // over one after the other
  double memory_bytes = 0;
  bool fits = true;
};

struct FusedReport {
  std::vector<FusedPoint> points;  // 1, 2, 4, ... jobs, as many as asked for, the most that fit
  int most_jobs = 0;               // that fit, of those asked for; 0: not even one
  // The best of those that fit.
  const FusedPoint* best() const;
};

}  // namespace windtunnel
