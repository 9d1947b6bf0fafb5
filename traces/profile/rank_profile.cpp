#include "traces/profile/rank_profile.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Sorts by start; of nested ranges (a batch within an iteration) only the outermost stays.
template <class Range>
void keep_outermost(std::vector<Range>& ranges) {
  std::ranges::stable_sort(ranges, [](const Range& a, const Range& b) {
    return a.start_s < b.start_s || (a.start_s == b.start_s && a.end_s > b.end_s);
  });
  double until_s = -kNotLaunched;
  std::erase_if(ranges, [&](const Range& range) {
    if (range.end_s <= until_s) return true;
    until_s = range.end_s;
    return false;
  });
}

}  // namespace

void finish_profile(RankProfile& profile) {
  if (profile.work.empty()) {
    throw Error(
        "holds no work of a GPU: was the profiler told to record it (ProfilerActivity.CUDA)?");
  }
  std::ranges::stable_sort(profile.work, {}, &GpuWork::start_s);
  keep_outermost(profile.steps);
  keep_outermost(profile.passes);
}

}  // namespace windtunnel
