// Searches of `windtunnel optimise --over` that go beyond layouts, in files of their own.
#pragma once

#include <string>
#include <vector>

#include "cli/program/answer_output.hpp"
#include "models/base/error.hpp"
#include "sim/study/interval_search.hpp"
#include "sim/study/plan/rollout_split.hpp"

namespace windtunnel {

// ---- --over snapshots.N.every: how often to take snapshots ----

struct IntervalCommand {
  std::string scenario;
  std::vector<std::string> set;
  IntervalSearchOptions options;
  AnswerOutput output;
};

ExitCode optimise_intervals(IntervalCommand command);

// ---- --over rollout: how many nodes learn, how many generate samples, and the engines' size ----

struct RolloutCommand {
  std::string scenario;
  std::vector<std::string> set;
  SplitOptions options;
  AnswerOutput output;
};

ExitCode optimise_rollout(RolloutCommand command);

}  // namespace windtunnel
