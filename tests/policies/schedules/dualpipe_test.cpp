#include <fmt/format.h>
#include <gmock/gmock.h>

#include "models/cost/chunk/chunk_cost.hpp"
#include "tests/models/cost/cost_fixtures.hpp"
#include "tests/policies/schedules/generated_schedule.hpp"

namespace windtunnel {
namespace {

TEST(DualPipe, ByHand) {
  const Schedule schedule = generate_schedule("dualpipe", 2, 4, 1);
  EXPECT_EQ(schedule.rank_of_stage, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(listing(schedule, 0), "0F0 3F2 0F1 3B2 3F3 0B0 3B3 0I1 0W1");
  EXPECT_EQ(listing(schedule, 1), "2F2 1F0 2F3 1B0 1F1 2B2 1B1 2I3 2W3");
  for (const auto& actions : schedule.actions) {
    for (size_t i = 0; i < actions.size(); ++i) EXPECT_EQ(actions[i].with_next, i == 4);
  }
}

// The bubble is (p/2 - 1) (T_FB + T_B+W - 3 T_W), as in the test of DualPipeV. Weights are held
// twice, and every rank holds p + 1 activations.
TEST(DualPipe, Bubble) {
  for (const auto& [p, m] : even_sizes(false)) {
    if (m < 2 * p) continue;
    const Schedule schedule = generate_schedule("dualpipe", p, m, 1);
    for (const StageCost& whole :
         {kUsual, StageCost{1, 1.3, 0.7, 1, 0.5}, StageCost{2, 3, 2, 1, 0.5}}) {
      for (const double hideable : {0.0, 0.1, 0.3}) {
        SCOPED_TRACE(fmt::format("{} {} {} {}", p, m, whole.backward_input_s, hideable));
        StageCost cost = whole;
        cost.forward_hideable_s = hideable * cost.forward_s;
        cost.backward_hideable_s = hideable * cost.backward_s();
        const double pair_s = overlapped_s(cost, cost, false);
        const double bubble_s =
            (p / 2.0 - 1) * (pair_s + cost.backward_s() - 3 * cost.backward_weight_s);
        const ScheduleEvaluation evaluation = evaluate_equal(schedule, cost);
        const double against_least_s = evaluation.makespan_s - least(evaluation.busy_s);
        EXPECT_LE(against_least_s, bubble_s + kTolerance);
        if (cost.forward_s == cost.backward_input_s) {
          EXPECT_NEAR(against_least_s, bubble_s, kTolerance);
        }
        EXPECT_NEAR(worst(evaluation.peak_activation), p + 1, kTolerance);
        EXPECT_NEAR(least(evaluation.peak_activation), p + 1, kTolerance);
      }
    }
  }
}

// The formula is no bound if weight gradients take longer than input gradients, because the drain
// waits for them.
TEST(DualPipe, WithLongWeightGradients) {
  const StageCost cost{1, 0.6, 1.3, 1, 0.5};
  const ScheduleEvaluation evaluation =
      evaluate_equal(generate_schedule("dualpipe", 8, 32, 1), cost);
  EXPECT_GT(evaluation.bubble_makespan_s(), 3 * (1 + 1.9 + 1.9 - 3 * 1.3));
}

// The share of forward time that the schedule does not pair with a backward pass of another
// micro-batch.
double alone_share(const Schedule& schedule) {
  double forward = 0;
  double alone = 0;
  for (const auto& actions : schedule.actions) {
    for (const Action& action : actions) {
      if (action.kind != ActionKind::forward) continue;
      ++forward;
      alone += action.with_next ? 0 : 1;
    }
  }
  return alone / forward;
}

double exchange_s(const Job& job) {
  const ChunkCost chunk = chunk_costs(job)[1];
  double seconds = 0;
  for (const CostPart& part : chunk.forward) {
    seconds += part.category == Category::ep ? part.seconds : 0;
  }
  return seconds;
}

// The costs know the schedule only by its name: the part of an exchange that they leave exposed
// must be that of passes which run alone in the list of actions.
TEST(DualPipe, ExchangesAreBareWhereAPassRunsAlone) {
  TransformerSpec model = llama3_8b();
  model.layers = 16;
  model.moe = {.experts = 16, .per_token = 2, .ffn_hidden = 14336};
  for (const std::string name : {"dualpipe", "dualpipev"}) {
    const int chunks = name == "dualpipev" ? 2 : 1;
    for (const int ranks : {2, 4, 8}) {
      for (const int microbatches : {2 * ranks, 6 * ranks}) {
        Job job = test_job(model, {.pp = ranks, .vpp = chunks, .dp = 16, .ep = 16},
                           {.global = 16 * microbatches, .micro = 1, .sequence = 8192});
        job.cluster = test_cluster(2 * ranks);
        job.cluster.node.nic_Bps = parameter(400e9);
        job.schedule.name = name;
        const double bare_s = exchange_s(job);
        job.software.ep_overlap = true;
        job.calibration.overlap_slowdown = parameter(0);
        EXPECT_NEAR(exchange_s(job) / bare_s,
                    alone_share(generate_schedule(name, ranks, microbatches, chunks)), 1e-9)
            << name << " " << ranks << " " << microbatches;
      }
    }
  }
}

}  // namespace
}  // namespace windtunnel
