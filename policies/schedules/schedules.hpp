// Pipeline schedules by name: one table, with a generator for each (policies/schedules/).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/plan/schedule.hpp"
#include "policies/evaluation/stage_cost.hpp"

namespace windtunnel {

// What a schedule generator gets. If an order depends only on the numbers, its generator ignores
// costs, message time and memory limit.
struct ScheduleRequest {
  int ranks = 1;         // p
  int microbatches = 1;  // m, over all directions
  int chunks = 1;        // v, stages of the model on each rank
  int group = 0;         // micro-batches that pass through a chunk together; 0: the ranks
  int slices = 1;        // pieces of a micro-batch's sequence
  // [stage of the model], or [stage * slices + slice]. Empty: T_F = T_I = T_W = 1/v, and
  // activations of 1/v, half of which are kept until W.
  std::vector<StageCost> costs = {};
  double message_s = 0;
  // The part of message_s for which the sender's next message waits. With it, messages of a rank
  // compete for its port in a search; generators treat messages as delays. 0: no competition.
  double port_s = 0;
  // Activations of a rank, in the unit of the costs; 0: the limit that the schedule has by itself.
  double memory_limit = 0;
};

struct Job;
// Returns ranks, micro-batches and chunks of the job's pipeline. Throws Error as microbatches().
ScheduleRequest request_of(const Job& job);

// Parameters of a request that only some schedules use.
enum ScheduleKnobs : unsigned {
  kNoKnobs = 0,
  kGroup = 1,
  kSlices = 2,
  kMemoryLimit = 4,
  kChunks = 8,        // every number of chunks gives an order that is worth trying
  kUnlikeUnits = 16,  // one pipeline, whose order does not depend on the costs of units
};

struct ScheduleKind {
  std::string name;  // "interleaved-1f1b"
  std::string_view help = {};
  std::string_view source = {};  // paper, or code with commit; says what the source leaves open
  int usual_chunks = 1;          // default of v
  // Throws Error with the reason if the schedule does not exist for these p, m and v.
  std::function<Schedule(const ScheduleRequest& request)> generate = nullptr;
  unsigned knobs = kNoKnobs;  // parameters that it uses; the others must keep their defaults
  int usual_slices = 1;       // default number of slices of a micro-batch's sequence
  bool asynchronous = false;  // changes what is trained: iterations follow without a flush
  int usual_group = 0;        // default of kGroup; 0: the ranks
};

const std::vector<ScheduleKind>& schedule_kinds();

// Throws Error with the nearest name if there is none of this name.
const ScheduleKind& schedule_kind(std::string_view name);
// Prefers a schedule of this name that the calling program supplies.
const ScheduleKind& schedule_kind(const ScheduleChoice& choice);

// Throws Error for numbers below 1 or absurdly large (more than 1e6 stages or 2e6 forwards). Must
// be called before costs of that many stages are computed.
void check_request(const ScheduleRequest& request);

// Also throws Error as check_request does, and if a group, slices or memory limit is set that the
// schedule does not use.
Schedule generate_schedule(const ScheduleKind& kind, const ScheduleRequest& request);
Schedule generate_schedule(std::string_view name, const ScheduleRequest& request);
Schedule generate_schedule(std::string_view name, int ranks, int microbatches, int chunks);

// 2BP (arXiv 2405.18047): splits every backward, and moves a rank's weight gradients to its end, in
// the order of their input gradients, followed by reductions. Backwards that are already split, or
// run as one with a forward, do not change. Throws Error for an asynchronous schedule, which has no
// such end.
Schedule with_deferred_weights(Schedule schedule);

}  // namespace windtunnel
