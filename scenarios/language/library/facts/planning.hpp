// What `windtunnel plan` takes where its user says nothing: scenarios/library/planning.yaml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/base/origin.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

// Tokens of an optimizer step that models of so many parameters were trained with.
const Parameter& usual_batch_tokens(double parameters);

// A training of few tokens has smaller ones.
struct FewSteps {
  Parameter steps;       // that it has where batches can be so small
  Parameter fewest;      // sequences of a batch
  Parameter told_below;  // steps
};
const FewSteps& few_steps();
// The usual sequence length of most of pre-training.
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
bool is_rack(const NodeSpec& node);              // of so many GPUs that it is one (NVL72)
UsualPart usual_failures(const NodeSpec& node);  // `failures`, of nodes of any number of GPUs
// How far the rate of another cluster lies from such a one, which is one cluster's: log standard
// deviation of the ratio of two clusters' rates, sqrt(2) times that of the clusters that published
// theirs, and as uncertain as so few leave it.
const Parameter& failure_rate_error();
const UsualPart& usual_recovery();                // `recovery`, but for spares
UsualPart usual_storage(int gpus);                // `cluster.storage` of a cluster of so many
const std::vector<UsualPart>& usual_snapshots();  // stacks of tiers, the simplest first

}  // namespace windtunnel
