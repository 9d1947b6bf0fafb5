// Pipeline schedules by name: one table, one generator each (policies/schedules/).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/plan/schedule.hpp"
#include "policies/evaluation/stage_cost.hpp"

namespace windtunnel {

// What a schedule is made for. Generators whose order depends on nothing but the numbers ignore
// costs, message and limit.
struct ScheduleRequest {
  int ranks = 1;         // p
  int microbatches = 1;  // m, of all directions
  int chunks = 1;        // v, stages of the model per rank
  int group = 0;         // micro-batches that pass through a chunk together; 0: the ranks
  int slices = 1;        // of a micro-batch's sequence
  // [stage of the model], or of [stage * slices + slice]; empty: T_F = T_I = T_W = 1/v, activations
  // of 1/v, half of which wait for W.
  std::vector<StageCost> costs = {};
  double message_s = 0;
  // How much of that the sender's next message waits for. A search counts it, so that no message is
  // free of its port; generators take messages as delays. 0: they are delays.
  double port_s = 0;
  // Activations of a rank, in the unit of the costs; 0: the schedule's own bound.
  double memory_limit = 0;
};

struct Job;
// Ranks, micro-batches and chunks of the job's pipeline. Throws Error as microbatches().
ScheduleRequest request_of(const Job& job);

// The numbers of a request that only some schedules know.
enum ScheduleKnobs : unsigned {
  kNoKnobs = 0,
  kGroup = 1,
  kSlices = 2,
  kMemoryLimit = 4,
  kChunks = 8,        // all take some; of these every number is an order worth trying
  kUnlikeUnits = 16,  // one pipeline, and an order that asks nothing of what units cost
};

struct ScheduleKind {
  std::string name;  // "interleaved-1f1b"
  std::string_view help = {};
  std::string_view source = {};  // paper, or code with commit; says what it leaves open
  int usual_chunks = 1;          // v where the user says nothing
  // Throws Error that says why when the theory forbids (p, m, v).
  std::function<Schedule(const ScheduleRequest& request)> generate = nullptr;
  unsigned knobs = kNoKnobs;  // any other must be left alone
  int usual_slices = 1;       // of a micro-batch's sequence, likewise
  bool asynchronous = false;  // trains something else: iterations without a flush between them
  int usual_group = 0;        // of kGroup; 0: the ranks
};

const std::vector<ScheduleKind>& schedule_kinds();

// Throws Error with the nearest name.
const ScheduleKind& schedule_kind(std::string_view name);
// The program's own where it brings one of this name.
const ScheduleKind& schedule_kind(const ScheduleChoice& choice);

// Throws Error for numbers below 1 or absurdly large (more than 1e6 stages or 2e6 forwards): before
// costs of so many stages are made.
void check_request(const ScheduleRequest& request);

// Also throws Error as check_request, and for a group, slices or memory limit that the schedule
// does not know.
Schedule generate_schedule(const ScheduleKind& kind, const ScheduleRequest& request);
Schedule generate_schedule(std::string_view name, const ScheduleRequest& request);
Schedule generate_schedule(std::string_view name, int ranks, int microbatches, int chunks);

// 2BP (arXiv 2405.18047): every backward split, the weight gradients of a rank at its end in the
// order of their inputs, and reductions behind them. Backwards that are split already or run as one
// with a forward are left alone. Throws Error for an asynchronous schedule, which has no such end.
Schedule with_deferred_weights(Schedule schedule);

}  // namespace windtunnel
