// What `windtunnel plan` takes where its user says nothing: scenarios/library/planning.yaml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/base/origin.hpp"

namespace windtunnel {

// Tokens of an optimizer step that models of so many parameters were trained with.
const Parameter& usual_batch_tokens(double parameters);
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
UsualPart usual_failures(std::string_view gpu);   // `failures`
const UsualPart& usual_recovery();                // `recovery`, but for spares
UsualPart usual_storage(int nodes);               // `cluster.storage`
const std::vector<UsualPart>& usual_snapshots();  // stacks of tiers, the simplest first

}  // namespace windtunnel
