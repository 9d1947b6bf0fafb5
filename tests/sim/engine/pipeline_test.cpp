// On an ideal network the engine agrees with the plain arithmetic of policies/schedule_evaluator.
#include <gtest/gtest.h>

#include <optional>

#include "models/base/error.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "sim/engine/engine.hpp"
#include "tests/sim/engine/plan_maker.hpp"
#include "tests/support/random_schedule.hpp"

namespace windtunnel {
namespace {

// If `sends` is empty, every message is a pure delay and none waits for another.
class PipelinePlan {
 public:
  PipelinePlan(const ScheduleSample& sample, std::optional<Sends> sends)
      : sample_(sample), schedule_(sample.schedule), sends_(sends) {}

  Plan make() {
    Plan plan;
    plan.ranks = schedule_.ranks;
    for (RankId r = 0; r < schedule_.ranks; ++r) {
      class_ = {};
      class_.name = std::to_string(r);
      class_.members = {r};
      for (RankId peer = 0; peer < schedule_.ranks; ++peer) class_.peers.push_back({peer});
      class_.streams = {
          {"compute", {}}, {"recv", StreamOrder::unordered}, {"send", {}}, {"send back", {}}};
      before_.clear();
      last_ = -1;
      const auto& actions = schedule_.actions[r];
      for (std::size_t i = 0; i < actions.size(); ++i) {
        if (!is_compute(actions[i].kind)) continue;
        const Action* second = actions[i].with_next ? &actions[i + 1] : nullptr;
        add(r, actions[i], second);
        if (second != nullptr) ++i;
      }
      plan.classes.push_back(class_);
    }
    return plan;
  }

 private:
  std::int64_t tag(const Action& action, int source) const {
    const bool forward = action.kind == ActionKind::forward;
    return (std::int64_t{source} * schedule_.units() + action.unit) * 2 + forward;
  }

  TaskIndex append(Task task) {
    class_.tasks.push_back(std::move(task));
    return static_cast<TaskIndex>(class_.tasks.size()) - 1;
  }

  void add(RankId rank, const Action& action, const Action* second) {
    double seconds = sample_.seconds(action);
    std::vector<TaskIndex> after = std::exchange(before_, {});
    receive(rank, action, after);
    if (second != nullptr) {
      receive(rank, *second, after);
      seconds = overlapped_s(sample_.cost(action), sample_.cost(*second),
                             !sample_.schedule.explicit_recompute);
    }
    last_ = append(compute(to_string(action), 0, seconds, after));
    post(rank, action, 2);
    if (second != nullptr) post(rank, *second, sends_ == Sends::synchronous ? 3 : 2);
  }

  void receive(RankId rank, const Action& action, std::vector<TaskIndex>& after) {
    const int source = sample_.other_stage(action, -1);
    if (source < 0 || schedule_.rank_of_stage[source] == rank) return;
    std::vector<TaskIndex> posted;
    if (sends_ == Sends::synchronous && last_ >= 0) posted = {last_};
    after.push_back(
        append(recv("r", 1, schedule_.rank_of_stage[source], tag(action, source), 0, posted)));
  }

  void post(RankId rank, const Action& action, int stream) {
    const int target = sample_.other_stage(action, 1);
    if (target < 0 || schedule_.rank_of_stage[target] == rank) return;
    if (!sends_) {
      stream = static_cast<int>(class_.streams.size());
      class_.streams.push_back({"send", {}});
    }
    Task message =
        send("s", stream, schedule_.rank_of_stage[target], tag(action, action.stage), 0, {last_});
    if (sample_.message_s > 0) {
      message.cost = {{Category::pp, Origin::assumed, sample_.message_s}};
    }
    message.synchronous = sends_ == Sends::synchronous;
    const TaskIndex sent = append(message);
    if (sends_ && *sends_ != Sends::asynchronous) before_.push_back(sent);
  }

  const ScheduleSample& sample_;
  const Schedule& schedule_;
  const std::optional<Sends> sends_;
  RankClass class_;
  std::vector<TaskIndex> before_;
  TaskIndex last_ = -1;
};

double engine_s(const ScheduleSample& sample, std::optional<Sends> sends) {
  const Plan plan = PipelinePlan(sample, sends).make();
  validate_plan(plan);
  return execute(plan, small_cluster(sample.schedule.ranks / 2)).makespan_s;
}

TEST(Pipeline, EqualsScheduleArithmeticUnderEverySchedule) {
  int deadlocks = 0;
  int compared = 0;
  for (std::size_t k = 0; k < schedule_kinds().size(); ++k) {
    const ScheduleKind& kind = schedule_kinds()[k];
    for (int seed = 0; seed < 6; ++seed) {
      RandomStream random(100 * k + seed, RandomPurpose::test, 2);
      const auto sample = random_schedule(kind, random);
      if (!sample) continue;
      SCOPED_TRACE(fmt::format("{} seed {}", kind.name, seed));
      const double pure_s =
          evaluate_schedule(sample->schedule, sample->costs, sample->message_s).makespan_s;
      EXPECT_NEAR(engine_s(*sample, std::nullopt), pure_s, 1e-9 * pure_s);
      for (const Sends sends : {Sends::asynchronous, Sends::blocking, Sends::synchronous}) {
        const SideStreams beside{.messages = {{{sample->message_s}, {sample->message_s}}, sends}};
        double expected_s = 0;
        try {
          expected_s = evaluate_schedule(sample->schedule, sample->costs, beside).makespan_s;
        } catch (const Error&) {
          ++deadlocks;
          EXPECT_EQ(sends, Sends::synchronous);
          EXPECT_THROW(engine_s(*sample, sends), InternalError);
          continue;
        }
        EXPECT_NEAR(engine_s(*sample, sends), expected_s, 1e-9 * expected_s) << int(sends);
        ++compared;
      }
    }
  }
  fmt::print("{} compared, {} deadlock alike\n", compared, deadlocks);
  EXPECT_GT(compared, 200);
  EXPECT_GT(deadlocks, 10);
}

}  // namespace
}  // namespace windtunnel
