// What `windtunnel plan` takes where its user says nothing, and what frameworks can do:
// scenarios/library/planning.yaml.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/origin.hpp"
#include "models/machine/cluster.hpp"
#include "models/results/resolved_value.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

struct Framework {
  std::string name;
  std::string help;
  std::vector<std::string> schedules;  // that it runs; empty: every one that is known
  std::vector<Sharding> sharding;      // of its training state
  std::vector<Sharding> sharding_in_pipelines;
  Overrides set;  // what it makes of a scenario
  std::string source;
};
const std::vector<Framework>& frameworks();
const Framework& find_framework(std::string_view name);  // throws Error with the nearest name

// Tokens of an optimizer step that models of so many parameters were trained with.
const Parameter& usual_batch_tokens(double parameters);

// A training of few tokens has smaller ones.
struct FewSteps {
  Parameter steps;       // that it has where batches can be so small
  Parameter fewest;      // sequences of a batch
  Parameter told_below;  // steps
};
const FewSteps& few_steps();
// Of the bulk of pre-training.
const Parameter& usual_sequence();
// Share of a GPU's memory that a plan leaves free.
const Parameter& usual_headroom();

// What is assumed of a GPU: the longest name that its own begins with ("a100-80" is an "a100").
const Parameter& usual_price_usd_per_gpu_h(std::string_view gpu);

// Parts of a scenario as text, and where they come from.
struct UsualPart {
  std::string name;  // of a stack of snapshots; else empty
  std::string text;  // in YAML's flow style
  std::string source;
};
UsualPart usual_failures(const NodeSpec& node);   // `failures`, of nodes of any number of GPUs
const UsualPart& usual_recovery();                // `recovery`, but for spares
UsualPart usual_storage(int gpus);                // `cluster.storage` of a cluster of so many
const std::vector<UsualPart>& usual_snapshots();  // stacks of tiers, the simplest first

}  // namespace windtunnel
