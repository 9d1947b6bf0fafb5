// These are defaults of `windtunnel plan`: scenarios/library/planning.yaml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/base/origin.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

// Tokens of an optimizer step that published models with this many parameters used.
const Parameter& usual_batch_tokens(double parameters);

// Limits that make the batch smaller if a training has few tokens.
struct FewSteps {
  Parameter steps;       // the batch shrinks until the training has this many
  Parameter fewest;      // the batch keeps at least this many sequences
  Parameter told_below;  // the user is told if there are fewer steps
};
const FewSteps& few_steps();
// This is the usual sequence length of most of pre-training.
const Parameter& usual_sequence();
// Share of a GPU's memory that a plan leaves free.
const Parameter& usual_headroom();

// The assumed price: that of the longest name that `gpu` begins with ("a100-80" is an "a100").
const Parameter& usual_price_usd_per_gpu_h(std::string_view gpu);

// This is a part of a scenario as text, with its source.
struct UsualPart {
  std::string name;  // of a stack of snapshots; otherwise empty
  std::string text;  // in YAML's flow style
  std::string source;
};
bool is_rack(const NodeSpec& node);              // whether a node has so many GPUs that it is a
                                                 // rack (NVL72)
UsualPart usual_failures(const NodeSpec& node);  // `failures`, scaled to the GPUs of a node
// The standard deviation of log(failure rate of another cluster / usual_failures()), because
// usual_failures() is the rate of one cluster. It is sqrt(2) times the standard deviation of
// log(rate) among the clusters that published one, widened for their small number.
const Parameter& failure_rate_error();
const UsualPart& usual_recovery();                // `recovery`, without spares
UsualPart usual_storage(int gpus);                // `cluster.storage` for this many GPUs
const std::vector<UsualPart>& usual_snapshots();  // stacks of tiers, the simplest first

}  // namespace windtunnel
