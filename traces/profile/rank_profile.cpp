#include "traces/profile/rank_profile.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {

void finish_profile(RankProfile& profile) {
  if (profile.work.empty()) {
    throw Error(
        "holds no work of a GPU: was the profiler told to record it (ProfilerActivity.CUDA)?");
  }
  const auto by_start = [](const auto& a, const auto& b) { return a.start_s < b.start_s; };
  std::stable_sort(profile.work.begin(), profile.work.end(), by_start);
  std::stable_sort(profile.steps.begin(), profile.steps.end(), by_start);
}

}  // namespace windtunnel
