// generation_s() in closed form, for equal samples that never fill memory.
#pragma once

#include <algorithm>

#include "sim/study/rollout/engine_pool.hpp"

namespace windtunnel {

inline double equal_generation_s(const EngineSpeed& speed, int engines, const RolloutSample& sample,
                                 int count) {
  const int most = (count + engines - 1) / engines;
  double seconds = 0;
  // All sequences of a wave end together, and the next wave begins.
  for (int left = most; left > 0; left -= speed.most_sequences()) {
    const int running = std::min(left, speed.most_sequences());
    seconds += running * speed.prompt_s(sample.prompt) +
               speed.decode_s(sample.output - 1, running, running * (sample.prompt + 1));
  }
  return seconds;
}

}  // namespace windtunnel
