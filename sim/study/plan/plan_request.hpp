// What a planner is asked for: a model, a machine, a number of tokens. Everything else is optional.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/case.hpp"

namespace windtunnel {

// Number of trials of a campaign, the same for all comparisons and the answer: at least
// kPlanTrials, and up to kMostPlanTrials until they meet kPlanFailures failures in total.
inline constexpr int kPlanTrials = 50, kMostPlanTrials = 5000;
inline constexpr double kPlanFailures = 1000;

struct PlanRequest {
  std::string model;  // value of a scenario's key `model`, in YAML
  // How the written scenario names the model, if a file's path differs from there; empty: as
  // `model`.
  std::string written_model = {};
  // The model's name in titles; empty: the name that its keys give it.
  std::string model_called = {};
  int nodes = 0;      // of the cluster, spares included
  std::string node;   // a name in the library
  double tokens = 0;  // of the whole training
  std::optional<std::string> framework = {};
  std::optional<int> sequence = {};         // tokens of a sequence
  std::optional<double> batch_tokens = {};  // tokens of an optimizer step
  std::optional<double> price_usd_per_gpu_h = {};
  std::optional<double> headroom = {};  // share of a GPU's memory that stays free
  // Goals do not change the plan. The answer adds how likely they are met, and with how many nodes.
  std::optional<double> deadline_days = {}, budget_usd = {};
  Overrides set = {};  // further keys of the scenario
  int threads = 0;     // 0: all cores; the plan does not depend on it
  std::function<void(const std::string&)> progress = {};
};

// A default that the plan has used.
struct TakenDefault {
  std::string what;       // "batch"
  std::string value;      // "4.19 M tokens"
  std::string source;     // "published: ..."
  std::string change;     // the option that sets it: "--batch"
  bool decisive = false;  // expected to affect days or cost most
};

}  // namespace windtunnel
