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

// Name of a plan's scenarios in messages.
inline constexpr const char* kPlanFile = "plan";

struct PlanBasis {
  PlanRequest request;
  Framework framework;
  TransformerSpec model;
  std::string model_note;  // comment if the model's keys leave it undefined; empty: none needed
  NodeSpec node;
  int sequence = 0;
  double batch_tokens = 0;
  double price_usd_per_gpu_h = 0;
  double headroom = 0;
  UsualPart storage, failures, recovery;  // parts of the scenario
  std::vector<TakenDefault> defaults;
};

// What the plan decides.
struct PlanPoint {
  int nodes = 0;   // nodes that train
  int spares = 0;  // nodes of the cluster that do not train
  int batch = 0;   // per step
  // Result of the layout search: keys `layout.*`, `batch.micro`, `recompute`, `schedule`,
  // `schedule.slices`.
  Overrides found = {};
  UsualPart snapshots = {};
  std::string when_no_spare = "shrink";
  double campaign_s = 0;  // 0: none
  int trials = 0;

  // The value of a key in `found`; empty: not set.
  std::string found_at(std::string_view key) const;
};

// Throws Error if model, node, framework or one of the keys set is invalid.
PlanBasis plan_basis(const PlanRequest& request);

// Updates `defaults` with the framework's choices in a case of the plan. Before a layout is found,
// these are its choices without parallelism.
void take_framework(PlanBasis& basis, const Case& found);

// Sequences per step: the number that most layouts of `nodes` nodes can divide evenly, within a
// twentieth of `basis.batch_tokens`, or further off if necessary; among equals the nearest. Throws
// Error (exit code 1) if no layout can divide any.
int batch_on(const PlanBasis& basis, int nodes);

// If the training has very few steps: their number and advice; otherwise empty.
std::string few_steps_text(const PlanBasis& basis, double batch_tokens);

// Ways to divide layers among stages, each with a starting layout for its nodes and batch: evenly;
// if few divisions are even, also with one less on the last stage, or on the first and the last,
// next to embedding and loss (Llama 3, arXiv 2407.21783, section 3.3.2); and, if this makes them
// divisible by eight, with two less on the last and one less on the first (61 layers).
std::vector<Overrides> layer_splits(const PlanBasis& basis, const PlanPoint& point);

PartComments comments_of(const PlanBasis& basis);

// Adds what the table of keys says about each part to comments_of().
PartComments guide_of(const PlanBasis& basis);

// Writes the scenario's text without the user's additional keys, with comments above its parts.
std::string scenario_text(const PlanBasis& basis, const PlanPoint& point,
                          const PartComments& comments = {});
// Writes scenario_text() with the user's additional keys.
std::string complete_scenario_text(const PlanBasis& basis, const PlanPoint& point,
                                   const PartComments& comments);

// "plan-llama3-70b-64-dgx-h100"
std::string plan_name(const PlanBasis& basis);

}  // namespace windtunnel
