// What a planner asks: a model, a machine, a number of tokens; everything else may be left open.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/case.hpp"

namespace windtunnel {

// Trials of a campaign, the same for everything that is compared and for the answer: at least the
// first number, and up to the second until they meet enough failures together.
inline constexpr int kPlanTrials = 50, kMostPlanTrials = 5000;
inline constexpr double kPlanFailures = 1000;

struct PlanRequest {
  std::string model;  // value of a scenario's key `model`, in YAML
  // The same in the scenario that is written, where a file is named from there; empty: as it is.
  std::string written_model = {};
  int nodes = 0;      // of the cluster, spares included
  std::string node;   // a name of the library
  double tokens = 0;  // of the whole training
  std::optional<std::string> framework = {};
  std::optional<int> sequence = {};         // tokens
  std::optional<double> batch_tokens = {};  // of an optimizer step
  std::optional<double> price_usd_per_gpu_h = {};
  std::optional<double> headroom = {};  // share of a GPU's memory that stays free
  // Goals: the plan is the same, and the answer adds how likely it meets them, and which number of
  // nodes would.
  std::optional<double> deadline_days = {}, budget_usd = {};
  Overrides set = {};  // further keys of the scenario
  int threads = 0;     // 0: all cores; the result is the same
  std::function<void(const std::string&)> progress = {};
};

// What the plan took where nothing was said.
struct TakenDefault {
  std::string what;       // "batch"
  std::string value;      // "4.19 M tokens"
  std::string source;     // "published: ..."
  std::string change;     // how to state it: "--batch"
  bool decisive = false;  // moves days or cost most, as far as anybody can say beforehand
};

}  // namespace windtunnel
