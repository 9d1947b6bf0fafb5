// How many workers of a group to wait for so that progress per second is largest (Xu et al. 2020,
// arXiv 2004.14696). With bursts, workers that were slow in the last step are likely to be slow
// again.
#pragma once

#include <functional>
#include <vector>

#include "models/machine/jitter.hpp"

namespace windtunnel {

// The best k of n, if the k-th worker is ready after `seconds(k)` on average and k workers make
// `progress(k)`.
int best_count(int n, const std::function<double(int)>& seconds,
               const std::function<double(int)>& progress);

// With bursts, the best count by how many of n workers were slow in the last step; with other laws
// it is constant.
class BestCounts {
 public:
  BestCounts(const Jitter& jitter, int workers, double noise);
  int after(int bad);

 private:
  double expected_s(int k) const;

  Jitter jitter_;
  int workers_;
  double noise_;
  bool steady_;                        // the last step says nothing about the next
  double stays_ = 0;                   // probability of bad after bad
  double turns_ = 0;                   // probability of bad after good
  std::vector<int> of_bad_;            // [bad workers] best count; 0: not computed yet
  std::vector<double> chance_of_bad_;  // scratch: [bad workers in the next step] probability
};

}  // namespace windtunnel
