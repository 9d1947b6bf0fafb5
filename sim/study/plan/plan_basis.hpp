// What all scenarios that a plan looks at have in common, and the scenario of each.
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

// What messages call a plan's scenarios.
inline constexpr const char* kPlanFile = "plan";

struct PlanBasis {
  PlanRequest request;
  Framework framework;
  TransformerSpec model;
  std::string model_note;  // what stands where the model's keys leave it open; empty: nothing is
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
  int batch = 0;   // sequences of a step
  // What the search over layouts found: keys `layout.*`, `batch.micro`, `recompute`, `schedule`,
  // `schedule.slices`.
  Overrides found = {};
  UsualPart snapshots = {};
  std::string when_no_spare = "shrink";
  double campaign_s = 0;  // 0: none
  int trials = 0;

  // The value of a key in `found`; empty: not set.
  std::string found_at(std::string_view key) const;
};

// Throws Error where model, node, framework or one of the keys set cannot be.
PlanBasis plan_basis(const PlanRequest& request);

// Replaces what `defaults` says by what the framework chose in a case of the plan. Before a layout
// is found, that is its choice without parallelism.
void take_framework(PlanBasis& basis, const Case& found);

// Sequences of a step: the number that most layouts of `nodes` nodes can share evenly, within a
// twentieth of `basis.batch_tokens`, or further off if there is none; among equals the nearest.
// Throws Error (exit code 1) where no layout shares any.
int batch_on(const PlanBasis& basis, int nodes);

// Where so few steps hardly train anything, how many they are and what to give; else empty.
std::string few_steps_text(const PlanBasis& basis, double batch_tokens);

// How layers go to stages, each with a layout to start from, for its nodes and its batch: evenly;
// where they hardly divide also with one less on the last stage, or on the first and the last,
// beside embedding and loss (Llama 3, arXiv 2407.21783, section 3.3.2); and where it is what makes
// them divide by eight, with two less on the last and one less on the first (61 layers).
std::vector<Overrides> layer_splits(const PlanBasis& basis, const PlanPoint& point);

PartComments comments_of(const PlanBasis& basis);

// The same behind what each part is, as the table of keys says it.
PartComments guide_of(const PlanBasis& basis);

// The scenario's text, without the user's further keys; with comments above its parts.
std::string scenario_text(const PlanBasis& basis, const PlanPoint& point,
                          const PartComments& comments = {});
// The same with those keys in their places.
std::string complete_scenario_text(const PlanBasis& basis, const PlanPoint& point,
                                   const PartComments& comments);

// "plan-llama3-70b-64-dgx-h100"
std::string plan_name(const PlanBasis& basis);

}  // namespace windtunnel
