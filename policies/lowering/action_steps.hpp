// Splits an action of a schedule at the communication inside its replica: compute, then collectives
// in parallel to more compute, and so on. A Plan gets a task for each of these
// (policies/lowering/step_tasks.hpp). On an idle network the steps take the action's closed-form
// time (action_cost.hpp), because both come from the same rounds (models/cost/op/inner_round.hpp).
#pragma once

#include <array>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "policies/lowering/action_cost.hpp"

namespace windtunnel {

// Which categories of collectives inside a replica become tasks of the Plan.
struct InnerTasks {
  bool tp = false;
  bool cp = false;
  bool ep = false;
  // If ranks of a group begin an action together, they stay together, so an action's rounds of one
  // kind are merged, unless the action is cut into segments or overlaps another action.
  bool together = false;

  bool any() const { return tp || cp || ep; }
  bool of(Category category) const;
  void add(Category category);
  void add(const InnerTasks& other);
};

// Returns the categories of collectives that become tasks, by communication.inner. Automatic: those
// that leave a node or share links inside it. Inside an NVSwitch domain each GPU has a separate
// port, so the closed form is exact, with two exceptions: slow nodes, whose longer kernels hide
// more, and ranks of a group that get their input at different times. There collectives are tasks
// of ranks that stay together. `units`: unit_rounds().
InnerTasks inner_tasks(const Job& job, const std::vector<ChunkRounds>& units);

struct ActionStep {
  double compute_s = 0;  // runs first
  Category category = Category::tp;
  std::vector<InnerCollective> collectives = {};  // then run one after another
  // Collectives that start at the same time, but are awaited only when the rank's next action ends,
  // because other passes hide them.
  std::vector<InnerCollective> later = {};
  // What runs in parallel to them: compute of the action, or steps of the action paired with it.
  double beside_s = 0;
  std::vector<ActionStep> beside = {};
};

// Returns how long the steps take on an idle network.
double seconds_of(const ActionStep& step);
double seconds_of(std::span<const ActionStep> steps);

// Returns the steps between two fractions of their total time. Steps at the ends may be cut.
std::vector<ActionStep> part_of(std::span<const ActionStep> steps, double from, double to);

struct SteppedAction {
  // The compute of all steps, including collectives that do not become tasks.
  std::vector<CostPart> compute;
  std::vector<ActionStep> steps;
};

class ActionSteps {
 public:
  // Keeps references. `units`: unit_rounds(), [stage of the model * slices + slice].
  ActionSteps(const Schedule& schedule, const ActionCosts& costs,
              const std::vector<ChunkRounds>& units, InnerTasks tasks);

  bool active() const { return tasks_.any(); }
  // `cut`: the action has segments whose gradients or parameters are ready at different times.
  SteppedAction of(const Action& action, bool cut = false) const;
  // Returns the steps of a forward and the following full backward that run as one: each hides its
  // exchange with experts behind the kernels of the other (Schedule, Action::with_next).
  SteppedAction of_pair(const Action& forward, const Action& backward) const;

 private:
  // The rounds of an action that become tasks.
  struct Rounds {
    std::vector<InnerRound> repeated;  // of recomputation; overlapped pairs do not hide them
    std::vector<InnerRound> own;
  };
  Rounds rounds_of(const Action& action) const;
  static std::vector<InnerRound> joined(Rounds rounds);

  const Schedule& schedule_;
  const ActionCosts& costs_;
  const std::vector<ChunkRounds>& units_;
  const InnerTasks tasks_;
};

}  // namespace windtunnel
