// Pipeline messages contend at ports: tests cover the note of `run` and the order that avoids it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "policies/evaluation/stage_cost.hpp"
#include "policies/exchange/stage_message.hpp"
#include "policies/iteration.hpp"
#include "policies/search/schedule_search.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/notes/note_makers.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

// Returns fusionai.yaml with eight stages behind links of this bandwidth.
Case stages_behind(const char* link, const char* flops) {
  Case the_case =
      load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/volunteers/fusionai.yaml",
                {{"layout.pp", "8"},
                 {"model.layers", "7"},
                 {"model.tied_embeddings", "false"},
                 {"cluster.nodes", "8"},
                 {"cluster.node.nic", link},
                 {"cluster.node.gpu",
                  fmt::format("{{base: rtx3080, bf16: {} TFLOP/s, memory: 24 GB}}", flops)},
                 {"batch.global", "64"},
                 {"snapshots", "[]"},
                 {"failures", "[]"}});
  the_case.job.campaign.length_s = 0;
  return the_case;
}

double step_s(const Case& the_case) {
  return measure_iteration(the_case).report.time_s;
}

std::vector<Note> notes_of(const Case& the_case) {
  return message_order_notes(the_case.job, *the_case.prepared, measure_iteration(the_case).report);
}

TEST(MessageOrder, ANoteWhereMessagesMeet) {
  const std::vector<Note> notes = notes_of(stages_behind("1 Gb/s", "150"));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].key, "software.sends");
  EXPECT_THAT(notes[0].figures, testing::HasSubstr("with synchronous"));
  EXPECT_TRUE(notes_of(stages_behind("400 Gb/s", "45")).empty());
}

// A search finds rounds of micro-batches, one direction at a time, within the same memory. They
// take less time than 1F1B, and than sending one message at a time.
TEST(MessageOrder, ASearchFindsAnOrderInWhichTheyDoNot) {
  Case the_case = stages_behind("1 Gb/s", "150");
  const Job& job = the_case.job;
  const double plain_s = step_s(the_case);
  ScheduleRequest request = request_of(job);
  request.costs = stage_costs(the_case.prepared->units);
  request.message_s = boundary_s(job, 0, the_case.prepared->units.front().boundary_bytes);
  request.port_s = request.message_s - boundary_latency_s(job, 0);
  request.memory_limit = 14e9;
  const SearchResult found =
      search_schedule(request, {.objective = SearchObjective::makespan, .effort = 0});
  double best_s = plain_s;
  std::string best;
  for (const FoundOrder& order : found.orders) {
    if (!order.name.starts_with("rounds") && order.name != "1f1b") continue;
    Case played = the_case;
    played.job.schedule = {};
    played.job.schedule.imported = std::make_shared<const Schedule>(order.schedule);
    played.prepared = std::make_shared<const PreparedIteration>(prepare_iteration(played.job));
    const double own_s = step_s(played);
    if (own_s >= best_s) continue;
    best_s = own_s;
    best = order.name;
  }
  EXPECT_THAT(best, testing::StartsWith("rounds of"));
  EXPECT_LT(best_s, 0.9 * plain_s);
  the_case.job.software.sends = Sends::synchronous;
  the_case.prepared = std::make_shared<const PreparedIteration>(prepare_iteration(the_case.job));
  EXPECT_LT(best_s, step_s(the_case));
}

}  // namespace
}  // namespace windtunnel
