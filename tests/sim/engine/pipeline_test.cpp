// On an ideal network the engine agrees with the plain arithmetic of policies/schedule_evaluator.
#include <gtest/gtest.h>

#include <array>

#include "models/base/random.hpp"
#include "policies/schedule_evaluator.hpp"
#include "policies/schedules.hpp"
#include "sim/engine/engine.hpp"
#include "tests/sim/engine/plan_maker.hpp"

namespace windtunnel {
namespace {

using testing::compute;
using testing::recv;
using testing::send;

class PipelinePlan {
 public:
  PipelinePlan(const Schedule& schedule, const std::vector<StageCost>& stages, double message_s)
      : schedule_(schedule), stages_(stages), message_s_(message_s) {}

  Plan make() const {
    Plan plan;
    plan.ranks = schedule_.ranks;
    for (RankId r = 0; r < schedule_.ranks; ++r) {
      RankClass rank_class;
      rank_class.name = std::to_string(r);
      rank_class.members = {r};
      for (RankId peer = 0; peer < schedule_.ranks; ++peer) rank_class.peers.push_back({peer});
      rank_class.streams = {{"compute", {}}, {"recv", StreamOrder::unordered}};
      for (const Action& action : schedule_.actions[r]) add(rank_class, r, action);
      plan.classes.push_back(rank_class);
    }
    return plan;
  }

 private:
  std::int64_t tag(bool forward, int stage, int microbatch) const {
    return (std::int64_t{stage} * schedule_.microbatches + microbatch) * 2 + forward;
  }

  void add(RankClass& rank_class, RankId rank, const Action& action) const {
    const bool forward = action.kind == ActionKind::forward;
    const StageCost& cost = stages_[action.stage];
    const double seconds =
        forward ? cost.forward_s : cost.backward_input_s + cost.backward_weight_s;
    const int step = forward ? 1 : -1;
    const int before = action.stage - step;
    const int behind = action.stage + step;
    std::vector<TaskIndex> after;
    if (before >= 0 && before < schedule_.stages() && schedule_.rank_of_stage[before] != rank) {
      after = {static_cast<TaskIndex>(rank_class.tasks.size())};
      rank_class.tasks.push_back(
          recv("r", 1, schedule_.rank_of_stage[before], tag(forward, before, action.unit), 0));
    }
    const auto index = static_cast<TaskIndex>(rank_class.tasks.size());
    rank_class.tasks.push_back(compute(to_string(action), 0, seconds, after));
    if (behind < 0 || behind >= schedule_.stages() || schedule_.rank_of_stage[behind] == rank) {
      return;
    }
    // A pure delay: every message on a stream of its own.
    Task message =
        send("s", static_cast<int>(rank_class.streams.size()), schedule_.rank_of_stage[behind],
             tag(forward, action.stage, action.unit), 0, {index});
    if (message_s_ > 0) message.cost = {{Category::pp, Origin::assumed, message_s_}};
    rank_class.streams.push_back({"send", {}});
    rank_class.tasks.push_back(message);
  }

  const Schedule& schedule_;
  const std::vector<StageCost>& stages_;
  double message_s_;
};

TEST(Pipeline, EqualsScheduleArithmetic) {
  for (int seed = 0; seed < 30; ++seed) {
    RandomStream random(seed, RandomPurpose::test, 2);
    const auto pick = [&random](int bound) { return static_cast<int>(random.below(bound)); };
    const ScheduleKind& kind =
        schedule_kind(std::array{"gpipe", "1f1b", "interleaved-1f1b"}[seed % 3]);
    const bool interleaved = kind.name == "interleaved-1f1b";
    const int ranks = 2 + pick(4);
    const int microbatches = interleaved ? ranks * (1 + pick(3)) : 1 + pick(10);
    const Schedule schedule = kind.generate(
        {.ranks = ranks, .microbatches = microbatches, .chunks = interleaved ? 2 + pick(2) : 1});
    std::vector<StageCost> stages;
    for (int s = 0; s < schedule.stages(); ++s) {
      stages.push_back({0.5 + random.uniform(), random.uniform(), random.uniform(), 1, 0});
    }
    const double message_s = pick(3) * 0.1 * random.uniform();
    const ScheduleEvaluation expected = evaluate_schedule(schedule, stages, message_s);
    const Plan plan = PipelinePlan(schedule, stages, message_s).make();
    validate_plan(plan);
    const Timeline timeline = execute(plan, testing::small_cluster((ranks + 1) / 2));
    EXPECT_NEAR(timeline.makespan_s, expected.makespan_s, 1e-9 * expected.makespan_s)
        << kind.name << " seed " << seed;
  }
}

}  // namespace
}  // namespace windtunnel
