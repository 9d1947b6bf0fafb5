// Pipeline schedules by name: one table with a generator each (policies/schedules/).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/plan/schedule.hpp"
#include "policies/evaluation/stage_cost.hpp"

namespace windtunnel {

// Input of a schedule generator. Generators whose order depends only on the numbers ignore costs,
// message and limit.
struct ScheduleRequest {
  int ranks = 1;         // p
  int microbatches = 1;  // m, over all directions
  int chunks = 1;        // v, stages of the model per rank
  int group = 0;         // micro-batches that pass through a chunk together; 0: the ranks
  int slices = 1;        // of a micro-batch's sequence
  // [stage of the model], or [stage * slices + slice]; empty: T_F = T_I = T_W = 1/v, and
  // activations of 1/v, half of which are kept until W.
  std::vector<StageCost> costs = {};
  double message_s = 0;
  // The part of message_s that the sender's next message waits for. A search includes it, so that
  // messages compete for their port; generators treat messages as delays. 0: no competition.
  double port_s = 0;
  // Activations of a rank, in the unit of the costs; 0: the schedule's own limit.
  double memory_limit = 0;
};

struct Job;
// Ranks, micro-batches and chunks of the job's pipeline. Throws Error as microbatches().
ScheduleRequest request_of(const Job& job);

// Parameters of a request that only some schedules use.
enum ScheduleKnobs : unsigned {
  kNoKnobs = 0,
  kGroup = 1,
  kSlices = 2,
  kMemoryLimit = 4,
  kChunks = 8,        // every number of chunks gives an order worth trying
  kUnlikeUnits = 16,  // one pipeline, with an order that does not depend on unit costs
};

struct ScheduleKind {
  std::string name;  // "interleaved-1f1b"
  std::string_view help = {};
  std::string_view source = {};  // paper, or code with commit; mentions what it leaves open
  int usual_chunks = 1;          // default v
  // Throws Error that says why when the theory forbids (p, m, v).
  std::function<Schedule(const ScheduleRequest& request)> generate = nullptr;
  unsigned knobs = kNoKnobs;  // parameters that it uses; all others must keep their defaults
  int usual_slices = 1;       // default number of slices of a micro-batch's sequence
  bool asynchronous = false;  // changes training semantics: iterations without a flush between them
  int usual_group = 0;        // default of kGroup; 0: the ranks
};

const std::vector<ScheduleKind>& schedule_kinds();

// Throws Error with the nearest name.
const ScheduleKind& schedule_kind(std::string_view name);
// Prefers a schedule of this name that the calling program supplies.
const ScheduleKind& schedule_kind(const ScheduleChoice& choice);

// Throws Error for numbers below 1 or absurdly large (more than 1e6 stages or 2e6 forwards). Call
// it before computing costs of that many stages.
void check_request(const ScheduleRequest& request);

// Also throws Error as check_request, and if a group, slices or memory limit is set that the
// schedule does not use.
Schedule generate_schedule(const ScheduleKind& kind, const ScheduleRequest& request);
Schedule generate_schedule(std::string_view name, const ScheduleRequest& request);
Schedule generate_schedule(std::string_view name, int ranks, int microbatches, int chunks);

// 2BP (arXiv 2405.18047): splits every backward, and places a rank's weight gradients at its end,
// in the order of their inputs, followed by reductions. Backwards that are already split, or run as
// one with a forward, are unchanged. Throws Error for an asynchronous schedule, which has no such
// end.
Schedule with_deferred_weights(Schedule schedule);

}  // namespace windtunnel
