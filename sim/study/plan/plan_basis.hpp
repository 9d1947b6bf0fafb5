// What all scenarios that a plan considers have in common, and the scenario of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/workload/transformer.hpp"
#include "scenarios/language/library/facts/planning.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "scenarios/language/text/scenario_text.hpp"
#include "sim/study/plan/plan_request.hpp"

namespace windtunnel {

// How messages name a plan's scenarios.
inline constexpr const char* kPlanFile = "plan";

struct PlanBasis {
  PlanRequest request;
  Framework framework;
  TransformerSpec model;
  std::string model_note;  // a comment if the model's keys leave it undefined; empty: none needed
  NodeSpec node;
  int sequence = 0;
  double batch_tokens = 0;
  double price_usd_per_gpu_h = 0;
  double headroom = 0;
  UsualPart storage, failures, recovery;  // the parts of the scenario with these keys
  std::vector<TakenDefault> defaults;
};

// What the plan decides.
struct PlanPoint {
  int nodes = 0;   // nodes that train
  int spares = 0;  // nodes of the cluster that do not train
  int batch = 0;   // sequences of each step
  // Result of the layout search: keys `layout.*`, `batch.micro`, `recompute`, `schedule`,
  // `schedule.slices`.
  Overrides found = {};
  UsualPart snapshots = {};
  std::string when_no_spare = "shrink";
  double campaign_s = 0;  // 0: no campaign
  int trials = 0;

  // Returns the value of a key in `found`; empty: it is not set.
  std::string found_at(std::string_view key) const;
};

// Throws Error if model, node, framework or one of the keys that the user sets is invalid.
PlanBasis plan_basis(const PlanRequest& request);

// Updates `defaults` with the framework's choices in a case of the plan. Before a layout is found,
// these are its choices without parallelism.
void take_framework(PlanBasis& basis, const Case& found);

// Returns the sequences of each step: the number that most layouts of `nodes` nodes can divide
// evenly, within a twentieth of `basis.batch_tokens`, or further off if necessary; among equals the
// nearest. Throws Error (exit code 1) if no layout can divide any number.
int batch_on(const PlanBasis& basis, int nodes);

// If the training has very few steps, returns their number and advice; otherwise nothing.
std::string few_steps_text(const PlanBasis& basis, double batch_tokens);

// Returns ways to divide layers among stages, each with a starting layout for its nodes and batch.
// One is even. If few divisions are even, others have one layer less on the last stage, or on the
// first and the last, next to embedding and loss (Llama 3, arXiv 2407.21783, section 3.3.2). If
// this makes the layers divisible by eight, a further one has two less on the last stage and one
// less on the first (61 layers).
std::vector<Overrides> layer_splits(const PlanBasis& basis, const PlanPoint& point);

PartComments comments_of(const PlanBasis& basis);

// Adds to comments_of() what the table of keys says about each part.
PartComments guide_of(const PlanBasis& basis);

// Writes the scenario's text without the user's additional keys, with comments above its parts.
std::string scenario_text(const PlanBasis& basis, const PlanPoint& point,
                          const PartComments& comments = {});
// Writes scenario_text() with the user's additional keys.
std::string complete_scenario_text(const PlanBasis& basis, const PlanPoint& point,
                                   const PartComments& comments);

// Returns a name such as "plan-llama3-70b-64-dgx-h100".
std::string plan_name(const PlanBasis& basis);

}  // namespace windtunnel
