// `windtunnel optimise --over rollout`: how many nodes learn, how many write samples, and how large
// an engine is.
#pragma once

#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "sim/study/plan/rollout_split.hpp"

namespace windtunnel {

struct RolloutCommand {
  std::string scenario;
  std::vector<std::string> set;
  SplitOptions options;
  bool json = false;
  std::string page = {};  // where it goes; empty: nowhere
};

ExitCode optimise_rollout(RolloutCommand command);

}  // namespace windtunnel
