#include "traces/profile/rank_profile.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {

void finish_profile(RankProfile& profile) {
  if (profile.work.empty()) {
    throw Error(
        "holds no work of a GPU: was the profiler told to record it (ProfilerActivity.CUDA)?");
  }
  std::ranges::stable_sort(profile.work, {}, &GpuWork::start_s);
  // Of ranges in one another (a batch of an iteration) the outermost are the steps.
  std::ranges::stable_sort(profile.steps, [](const StepSpan& a, const StepSpan& b) {
    return a.start_s < b.start_s || (a.start_s == b.start_s && a.end_s > b.end_s);
  });
  double until_s = -kNotLaunched;
  std::erase_if(profile.steps, [&](const StepSpan& step) {
    if (step.end_s <= until_s) return true;
    until_s = step.end_s;
    return false;
  });
}

}  // namespace windtunnel
