#include "policies/lowering/job_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/plan/pipeline_stages.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/exchange/stage_message.hpp"
#include "policies/lowering/unit_cost.hpp"
#include "policies/schedules/schedules.hpp"

namespace windtunnel {
namespace {

// Returns stages as generators see them: in a loop, equal slices, recomputing within backwards.
Schedule plain_stages(const Job& job) {
  Schedule plain;
  plain.name = job.schedule.name;
  plain.ranks = job.layout.pp;
  plain.chunks = job.layout.vpp;
  plain.slices = job.schedule.slices;
  plain.rank_of_stage = looped_ranks(job.layout);
  return plain;
}

// A file describes one pipeline, so parameters of generators do not apply to it.
Schedule imported_schedule(const Job& job) {
  const Schedule& schedule = *job.schedule.imported;
  const auto check = [&](int has, int due, std::string_view what, std::string_view key,
                         std::string_view stated_as) {
    if (has == due) return;
    throw Error::about({"schedule.file", key}, "schedule.file: {} has {} {}, but {} is {}",
                       job.schedule.file, has, what, stated_as, due);
  };
  check(schedule.ranks, job.layout.pp, "pipeline ranks", "layout.pp", "layout.pp");
  check(schedule.chunks / schedule.directions, job.layout.vpp, "model chunks per rank",
        "layout.vpp", "layout.vpp");
  const int count = microbatches(job.layout, job.batch);
  check(schedule.microbatches, count, "micro-batches", "batch.global",
        "batch.global / (batch.micro x dp)");
  return job.schedule.defer_weights ? with_deferred_weights(schedule) : schedule;
}

// Generators do not check this, because they do not know units and could name only bare numbers.
void check_memory_limit(const ScheduleKind& kind, const ScheduleRequest& request) {
  if ((kind.knobs & kMemoryLimit) == 0 || request.memory_limit == 0) return;
  constexpr double kSlack = 1 + 1e-9;
  for (int rank = 0; rank < request.ranks; ++rank) {
    const double least = request.costs[rank].activation;
    if (least <= request.memory_limit * kSlack) continue;
    throw Error::about(
        {"schedule.memory_limit", "batch.micro", "batch.sequence", "recompute", "schedule"},
        "schedule '{}': one micro-batch keeps {} of activations on rank {}, but the memory limit "
        "is {}",
        kind.name, format_bytes(least), rank, format_bytes(request.memory_limit));
  }
}

Schedule named_schedule(const Job& job, const std::vector<ChunkCost>& chunks) {
  const ScheduleChoice& choice = job.schedule;
  if (choice.slices < 1 || choice.slices > job.batch.sequence) {
    throw Error::about({"schedule.slices"}, "a sequence of {} tokens cannot be cut into {} slices",
                       job.batch.sequence, choice.slices);
  }
  if (!(choice.recompute_share >= 0 && choice.recompute_share <= 1)) {
    throw Error::of_key("schedule.recompute_share", "must be from 0 to 1, not {}",
                        choice.recompute_share);
  }
  ScheduleRequest request = request_of(job);
  request.group = choice.group;
  request.slices = choice.slices;
  request.costs = stage_costs(unit_costs(job, plain_stages(job), chunks));
  if (job.layout.pp > 1) {
    request.message_s = boundary_s(job, 0, chunks.front().boundary_bytes / choice.slices);
  }
  request.memory_limit = choice.memory_limit;
  const ScheduleKind& kind = schedule_kind(choice);
  if (request.memory_limit == 0 && (kind.knobs & kMemoryLimit) != 0) {
    request.memory_limit = std::max(0.0, activation_room_bytes(job, chunks));
  }
  check_memory_limit(kind, request);
  Schedule schedule = generate_schedule(kind, request);
  if (choice.defer_weights) return with_deferred_weights(std::move(schedule));
  return schedule;
}

}  // namespace

double activation_room_bytes(const Job& job, const std::vector<ChunkCost>& chunks) {
  double room = std::numeric_limits<double>::infinity();
  const std::vector<double> none(static_cast<std::size_t>(job.layout.pp), 0);
  for (const GpuMemory& memory : gpu_memory(job, chunks, none)) {
    // Fragmentation is a share of the allocated memory, which includes activations.
    const double fragments = memory.allocated() > 0 ? memory.fragmentation / memory.allocated() : 0;
    const double allocatable =
        (usable_bytes(job.cluster.node.gpu) - memory.framework) / (1 + fragments);
    room = std::min(room, allocatable - memory.allocated());
  }
  return room;
}

Schedule job_schedule(const Job& job, const std::vector<ChunkCost>& chunks) {
  Schedule schedule =
      job.schedule.imported != nullptr ? imported_schedule(job) : named_schedule(job, chunks);
  check_conflicts(offload_conflicts(), job);
  Asked asked(job);
  asked.schedule = &schedule;
  check_conflicts(schedule_conflicts(), asked);
  return schedule;
}

}  // namespace windtunnel
