#include "policies/lowering/job_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/compression/compressors.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"
#include "policies/conflicts/offload_conflicts.hpp"
#include "policies/exchange/stage_message.hpp"
#include "policies/lowering/unit_cost.hpp"
#include "policies/schedules/schedules.hpp"

namespace windtunnel {
namespace {

// The stages as generators see them: looped, in equal slices, recomputing within backwards.
Schedule plain_stages(const Job& job) {
  Schedule plain;
  plain.name = job.schedule.name;
  plain.ranks = job.layout.pp;
  plain.chunks = job.layout.vpp;
  plain.slices = job.schedule.slices;
  for (int stage = 0; stage < plain.stages(); ++stage) {
    plain.rank_of_stage.push_back(stage % plain.ranks);
  }
  return plain;
}

void check_recomputation(const Job& job, bool explicit_recompute) {
  if (job.recompute != Recompute::none) return;
  if (explicit_recompute) {
    throw Error::of_key("schedule",
                        "'{}' is about when to recompute, but nothing is recomputed; set "
                        "recompute: full or selective",
                        job.schedule.name);
  }
  if (job.schedule.recompute_share != 1) {
    throw Error::of_key("schedule.recompute_share",
                        "divides a recomputation, but nothing is recomputed; set "
                        "recompute: full or selective");
  }
}

// Where weights and gradients are in parts, they are gathered and reduced by version, and by level
// at the first forward and the last backward of an iteration.
void check_sharding(const Layout& layout, const Schedule& schedule) {
  if (layout.sharding != Sharding::zero3) return;
  if (!schedule.weight_copies.empty()) {
    throw Error::of_key(
        "layout.sharding",
        ": zero3 does not go with schedule '{}', which keeps a version of the weights for each "
        "micro-batch under way: no rank gathers old versions; take zero2, or a schedule that "
        "flushes",
        schedule.name);
  }
  if (layout.weight_ranks == 0 && layout.gradient_ranks == 0) return;
  for (const auto& actions : schedule.actions) {
    for (const Action& action : actions) {
      if (action.kind != ActionKind::unshard && action.kind != ActionKind::reduce_grad) continue;
      const char* key = layout.weight_ranks > 0 ? "layout.weight_ranks" : "layout.gradient_ranks";
      throw Error::of_key(key,
                          "goes with schedules that leave gathers and reductions to ZeRO-3; '{}' "
                          "says itself when stages are gathered or reduced",
                          schedule.name);
    }
  }
}

// Layers' weights come, and their activations go, within passes; a schedule that gathers stages or
// recomputes them in actions of its own has other times for that.
void check_offload(const Job& job, const Schedule& schedule) {
  const Offload& offload = offload_of(job);
  const std::string why = why_not(offload, job);
  if (!why.empty()) throw Error::of_key("offload", ": {}", why);
  if (offload.activations != MemoryTier::gpu && schedule.explicit_recompute) {
    throw Error::of_key("offload.activations",
                        "goes with schedules whose backward passes recompute; '{}' recomputes in "
                        "actions of its own",
                        schedule.name);
  }
  if (offload.weights == MemoryTier::gpu && offload.gradients == MemoryTier::gpu) return;
  for (const auto& actions : schedule.actions) {
    for (const Action& action : actions) {
      if (action.kind != ActionKind::unshard && action.kind != ActionKind::reduce_grad) continue;
      throw Error::of_key(
          offload.weights != MemoryTier::gpu ? "offload.weights" : "offload.gradients",
          "goes with schedules that leave gathers and reductions to ZeRO-3; '{}' says itself when "
          "stages are gathered or reduced",
          schedule.name);
    }
  }
}

// A slice sees the keys of those before it, which only a causal mask leaves to them.
void check_slices(const Job& job, const Schedule& schedule) {
  if (job.model.masked() || schedule.slices == 1) return;
  const std::string which = job.model.frames > 0
                                ? fmt::format("with frames (model.frames {})", job.model.frames)
                                : "that is bidirectional";
  throw Error::of_key("schedule.slices",
                      ": schedule '{}' cuts sequences into {} slices, but layers of a "
                      "model {} attend without a mask",
                      schedule.name, schedule.slices, which);
}

// Neighbouring stages on one rank send each other nothing: to compress or gather there would only
// cost.
void check_cuts(const Job& job, const Schedule& schedule) {
  const bool packed = compresses(job.communication.compressors.pp);
  const bool scattered = job.software.scatter_sends;
  if (job.communication.boundary_rank == 0 && !packed && !scattered) return;
  const std::string_view what = packed      ? "compress: axis pp"
                                : scattered ? "software.scatter_sends"
                                            : "communication.boundary_rank";
  for (int stage = 1; stage < schedule.model_stages(); ++stage) {
    if (schedule.rank_of_stage[stage - 1] != schedule.rank_of_stage[stage]) continue;
    throw Error::about(
        {"communication.boundary_rank", "compress", "software.scatter_sends"},
        "{}: schedule '{}' has stages {} and {} on one pipeline rank, "
        "where nothing is sent; take one whose neighbours are on different ranks, as 1f1b or "
        "interleaved-1f1b",
        what, schedule.name, stage - 1, stage);
  }
}

// A file is of one pipeline; what it does not say, the numbers of a generator, does not apply.
Schedule imported_schedule(const Job& job) {
  const Schedule& schedule = *job.schedule.imported;
  const auto check = [&](int has, int due, std::string_view what, std::string_view key,
                         std::string_view stated_as) {
    if (has == due) return;
    throw Error::about({"schedule.file", key}, "schedule.file: {} is of {} {}, {} is {}",
                       job.schedule.file, has, what, stated_as, due);
  };
  check(schedule.ranks, job.layout.pp, "pipeline ranks", "layout.pp", "layout.pp");
  check(schedule.chunks / schedule.directions, job.layout.vpp, "model chunks per rank",
        "layout.vpp", "layout.vpp");
  const int count = microbatches(job.layout, job.batch);
  check(schedule.microbatches, count, "micro-batches", "batch.global",
        "batch.global / (batch.micro x dp)");
  check_recomputation(job, schedule.explicit_recompute);
  return job.schedule.defer_weights ? with_deferred_weights(schedule) : schedule;
}

// Generators know no units, so theirs would be a message about bare numbers.
void check_memory_limit(const ScheduleKind& kind, const ScheduleRequest& request) {
  if ((kind.knobs & kMemoryLimit) == 0 || request.memory_limit == 0) return;
  constexpr double kSlack = 1 + 1e-9;
  for (int rank = 0; rank < request.ranks; ++rank) {
    const double least = request.costs[rank].activation;
    if (least <= request.memory_limit * kSlack) continue;
    throw Error::about(
        {"schedule.memory_limit", "batch.micro", "batch.sequence", "recompute", "schedule"},
        "schedule '{}': one micro-batch keeps {} of activations on rank {}, the "
        "memory limit is {}",
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
    throw Error::of_key("schedule.recompute_share", "is a share of 0 to 1, not {}",
                        choice.recompute_share);
  }
  ScheduleRequest request;
  request.ranks = job.layout.pp;
  request.microbatches = microbatches(job.layout, job.batch);
  request.chunks = job.layout.vpp;
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
  check_recomputation(job, schedule.explicit_recompute);
  return choice.defer_weights ? with_deferred_weights(std::move(schedule)) : schedule;
}

}  // namespace

double activation_room_bytes(const Job& job, const std::vector<ChunkCost>& chunks) {
  double room = std::numeric_limits<double>::infinity();
  const std::vector<double> none(static_cast<std::size_t>(job.layout.pp), 0);
  for (const GpuMemory& memory : gpu_memory(job, chunks, none)) {
    // Fragmentation is a share of what is allocated, activations among it.
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
  check_sharding(job.layout, schedule);
  check_offload(job, schedule);
  check_slices(job, schedule);
  check_cuts(job, schedule);
  return schedule;
}

}  // namespace windtunnel
