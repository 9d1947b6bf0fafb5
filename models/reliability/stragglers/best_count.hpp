// How many of a group it pays to wait for: as many as make most progress a second (Xu et al. 2020,
// arXiv 2004.14696). With bursts those that were slow in the last step are likely to be so again.
#pragma once

#include <functional>
#include <vector>

#include "models/machine/jitter.hpp"

namespace windtunnel {

// The best k of n, if the k-th worker is ready after `seconds(k)` on average and k workers make
// `progress(k)`.
int best_count(int n, const std::function<double(int)>& seconds,
               const std::function<double(int)>& progress);

// In two states, by how many of n workers were bad in the last step; of other laws the same always.
class BestCounts {
 public:
  BestCounts(const Jitter& jitter, int workers, double noise);
  int after(int bad);

 private:
  double expected_s(int k) const;

  Jitter jitter_;
  int workers_;
  double noise_;
  bool steady_;                        // the last step says nothing
  double stays_ = 0;                   // bad after bad
  double turns_ = 0;                   // bad after good
  std::vector<int> of_bad_;            // 0: not looked for yet
  std::vector<double> chance_of_bad_;  // scratch: of so many bad in the next step
};

}  // namespace windtunnel
