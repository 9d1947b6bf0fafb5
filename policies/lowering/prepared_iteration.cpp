#include "policies/lowering/prepared_iteration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/cost/parallel/tensor_ops.hpp"
#include "models/cost/parallel/tensor_rules.hpp"
#include "models/workload/training.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/evaluation/dispatch.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/stage_cost.hpp"
#include "policies/exchange/compressed_reductions.hpp"
#include "policies/exchange/data_parallel.hpp"
#include "policies/exchange/gradient_partners.hpp"
#include "policies/exchange/gradient_tensors.hpp"
#include "policies/lowering/job_schedule.hpp"
#include "policies/lowering/kind_cost.hpp"
#include "policies/lowering/unit_cost.hpp"
#include "policies/outer/outer_exchange.hpp"
#include "policies/shares/stage_balance.hpp"

namespace windtunnel {
namespace {

// Repeats the iteration several times without a flush, if ranks do not wait for one another. Four
// iterations precede steady_window().
Schedule in_a_row(Schedule schedule) {
  const auto holding = [&](int units) {
    return (units + schedule.microbatches - 1) / schedule.microbatches;
  };
  const int times = 5 + holding(schedule.ranks - 1) + holding(schedule.ranks);
  const int units = schedule.units();
  for (auto& actions : schedule.actions) {
    const std::vector<Action> once = actions;
    for (int i = 1; i < times; ++i) {
      for (Action action : once) {
        if (is_compute(action.kind)) action.unit += i * units;
        actions.push_back(action);
      }
    }
  }
  schedule.iterations = times;
  return schedule;
}

// Some orders of actions deadlock if ranks wait for their receivers, or between iterations for the
// gradients of a partner.
void check_waits(const Job& job, const PreparedIteration& prepared) {
  const Schedule& schedule = prepared.schedule;
  const bool synchronous = job.software.sends == Sends::synchronous;
  if (!synchronous && schedule.iterations == 1) return;
  const DataParallel data(job, schedule, prepared.units, 0, prepared.geometry);
  const std::vector<double> none(schedule.ranks, 0);
  IterationEnd end{none, {}, none, none, 0};
  for (const GradientPartner& partner : gradient_partners(job, schedule, data)) {
    end.partner.push_back(partner.rank);
  }
  const SideStreams beside{.messages = {{{0}, {0}}, job.software.sends}, .end = &end};
  try {
    evaluate_schedule(schedule, std::vector<StageCost>(prepared.units.size()), beside);
  } catch (const Error& error) {
    if (!synchronous) throw;
    throw Error::about({"software.sends"}, "with software.sends: synchronous, {}", error.what());
  }
}

// A rank that has the embedding does not also hold the head's tied copy.
void hold_tied_once(const Job& job, const Schedule& schedule, std::vector<ChunkCost>& chunks) {
  if (!embeddings_together(job, schedule)) return;
  const bool trained = part_training(job.training.get(), kEmbeddingPart, job.model.layers).weights;
  double& held = trained ? chunks.back().parameters : chunks.back().frozen_parameters;
  held -= double(padded_vocabulary(job.model.vocabulary, job.layout.tp)) * job.model.hidden /
          job.layout.tp;
}

// A compressor's state counts as gradients, its temporary data as buffers. The buffers are for all
// gradients at once, or for the bucket in flight and the next one.
void add_compressor(const Job& job, const PreparedIteration& prepared,
                    std::vector<GpuMemory>& memory) {
  if (!has_recipe(job)) return;
  const SharedGeometry geometry = geometry_of(job, prepared.geometry);
  const ReplicaNetwork& network = geometry->network();
  if (!network.active()) return;
  const GradientExchange exchange(job, network);
  const std::vector<int> layers = layers_per_stage(job.model, job.layout);
  const bool together = embeddings_together(job, prepared.schedule);
  const HeldStages held = held_stages(prepared.schedule);
  for (std::size_t rank = 0; rank < held.size(); ++rank) {
    CompressorMemory sum;
    double gradient_bytes = 0;
    for (const int stage : held[rank]) {
      const int first_layer = std::accumulate(layers.begin(), layers.begin() + stage, 0);
      const ChunkCost& chunk = prepared.chunks[stage];
      const CompressorMemory own = exchange.memory(
          stage_tensors(job, stage, first_layer, layers[stage], chunk, together), int(rank));
      sum.state += own.state;
      sum.buffers += own.buffers;
      gradient_bytes += chunk.parameters * reduce_bytes_per_parameter(job);
    }
    const bool at_once = job.communication.overlap == GradientOverlap::none;
    const double under_way = 2 * bucket_bytes(job) / std::max(1.0, gradient_bytes);
    memory[rank].gradients += sum.state;
    memory[rank].buffers += sum.buffers * (at_once ? 1 : std::min(1.0, under_way));
  }
}

// Adds the compressor state of outer exchanges. The weights at the last exchange are counted
// elsewhere.
void add_outer_compressors(const Job& job, const PreparedIteration& prepared,
                           std::vector<GpuMemory>& memory) {
  const auto compressed = [](const SyncLevel& level) { return compresses(level.compressor); };
  if (std::ranges::none_of(job.sync, compressed)) return;
  const SharedGeometry geometry = geometry_of(job, prepared.geometry);
  const OuterExchange exchange(job, prepared.schedule, prepared.chunks, geometry->network());
  for (std::size_t rank = 0; rank < memory.size(); ++rank) {
    for (int level = 0; level < std::ssize(job.sync); ++level) {
      memory[rank].optimizer += exchange.state_bytes(level, static_cast<int>(rank));
    }
  }
}

// Returns the peak bytes of each pipeline rank's activations in a tier outside the GPU.
std::vector<double> offloaded_peaks(const PreparedIteration& prepared) {
  std::vector<StageCost> costs;
  for (const ChunkCost& unit : prepared.units)
    costs.push_back({.activation = unit.offloaded_bytes});
  return peak_activations(prepared.schedule, costs);
}

double kernels_s(const std::vector<CostPart>& parts) {
  double seconds = 0;
  for (const CostPart& part : parts) {
    if (part.category == Category::forward || part.category == Category::backward) {
      seconds += part.seconds;
    }
  }
  return seconds;
}

// A single rank waits for no other, so its steps do not overlap.
bool overlaps_next_step(const Job& job) {
  return crosses_iterations(job.communication.overlap) && job.layout.dp * job.layout.cp > 1;
}

bool without_flush(const Job& job) {
  return job.software.post_validation || overlaps_next_step(job);
}

std::vector<ChunkCost> pass_costs(const Job& job, const Schedule& schedule,
                                  const std::vector<ChunkCost>& chunks) {
  std::vector<ChunkCost> units = unit_costs(job, schedule, chunks);
  add_dispatch_of_passes(job, schedule, units);
  return units;
}

void check_order(const Job& job, PreparedIteration& prepared) {
  if (without_flush(job) && prepared.schedule.iterations == 1 && job.layout.pp > 1) {
    prepared.schedule = in_a_row(std::move(prepared.schedule));
  }
  check_waits(job, prepared);
}

ScheduleEvaluation evaluated(const PreparedIteration& prepared) {
  return evaluate_schedule(prepared.schedule, stage_costs(prepared.units), 0);
}

// The project's own orders never deadlock; those of a file or of the calling program may.
bool is_generated(const ScheduleChoice& choice) {
  return choice.imported == nullptr && choice.own == nullptr;
}

// ---- unlike nodes ----

double slowest_stage_s(const Job& job, const ReplicaKind& kind) {
  double slowest_s = 0;
  for (const ChunkCost& chunk : chunk_costs(job, kind, pools_of_stages(job, kind))) {
    slowest_s = std::max(slowest_s, pass_s(chunk));
  }
  return slowest_s;
}

PreparedIteration prepare_kind(const Job& job, const ReplicaKind& kind,
                               const SharedGeometry& geometry) {
  PreparedIteration own;
  own.geometry = geometry;
  // Memory is computed from the properties that all nodes share, times from those of each pool.
  const Job shared = job_of_kind(job, kind, -1);
  check_layout(shared.model, shared.layout, shared.batch, shared.layout.ranks(),
               shared.cluster.node.gpus);
  check_pattern_layout(shared.model, shared.layout);
  check_tensor_overlap(shared);
  own.schedule = job_schedule(shared, chunk_costs(job, kind, pools_of_stages(job, kind)));
  own.chunks = chunk_costs(job, kind, pools_of_stages(job, kind, own.schedule));
  hold_tied_once(job, own.schedule, own.chunks);
  own.units = unit_costs(job, kind, own.schedule, own.chunks);
  add_dispatch_of_passes(job, own.schedule, own.units);
  return own;
}

std::string name_of_replicas(const ReplicaKind& kind) {
  const int last = kind.first + kind.replicas - 1;
  return kind.first == last ? fmt::format("replica {}", last)
                            : fmt::format("replicas {} to {}", kind.first, last);
}

std::vector<int> members_of(const Job& job, const ReplicaKind& kind) {
  const int width = job.layout.tp * job.layout.cp;
  std::vector<int> members(std::size_t(kind.replicas) * width);
  std::iota(members.begin(), members.end(), kind.first * width);
  return members;
}

void prepare_kinds(const Job& job, PreparedIteration& prepared) {
  std::vector<ReplicaKind> kinds = replica_kinds(job);
  std::vector<double> microbatch_s;
  for (const ReplicaKind& kind : kinds) microbatch_s.push_back(slowest_stage_s(job, kind));
  share_batch(job, microbatch_s, kinds);
  const bool uneven = std::ranges::any_of(kinds, [&](const ReplicaKind& kind) {
    return kind.microbatches != kinds.front().microbatches;
  });
  if (uneven) check_conflicts(share_conflicts(), job);
  double longest_s = -1;
  for (const ReplicaKind& kind : kinds) {
    PreparedIteration own = prepare_kind(job, kind, prepared.geometry);
    const ScheduleEvaluation alone = evaluated(own);
    own.peak_activation_bytes = alone.peak_activation;
    std::vector<GpuMemory> memory = memory_of_kind(job, kind, own);
    keep_tightest(job, memory, prepared.memory);
    check_order(job, own);
    prepared.kinds.push_back({.name = name_of_replicas(kind),
                              .kind = kind,
                              .schedule = own.schedule,
                              .chunks = own.chunks,
                              .units = own.units,
                              .members = members_of(job, kind),
                              .memory = std::move(memory)});
    if (alone.makespan_s <= longest_s) continue;
    longest_s = alone.makespan_s;
    prepared.schedule = std::move(own.schedule);
    prepared.chunks = std::move(own.chunks);
    prepared.units = std::move(own.units);
    prepared.peak_activation_bytes = std::move(own.peak_activation_bytes);
  }
}

}  // namespace

std::vector<GpuMemory> memory_of_kind(const Job& job, const ReplicaKind& kind,
                                      const PreparedIteration& own) {
  return costs_by_stage(kind.pools, [&](int pool) {
    std::vector<GpuMemory> memory = iteration_memory(job_of_kind(job, kind, pool), own);
    for (GpuMemory& rank : memory) rank.pool = pool;
    return memory;
  });
}

void keep_tightest(const Job& job, const std::vector<GpuMemory>& own,
                   std::vector<GpuMemory>& memory) {
  if (memory.empty()) memory = own;
  for (std::size_t rank = 0; rank < own.size(); ++rank) {
    GpuMemory kept = memory[rank];
    if (room_bytes(job, own[rank]) < room_bytes(job, kept)) kept = own[rank];
    for (TierMemory GpuMemory::*tier : {&GpuMemory::host, &GpuMemory::disk}) {
      const bool fuller = (own[rank].*tier).total() > (memory[rank].*tier).total();
      kept.*tier = (fuller ? own : memory)[rank].*tier;
    }
    memory[rank] = kept;
  }
}

LeastIteration least_microbatches(const Job& job) {
  if (!job.cluster.pools.empty()) return {};  // how nodes share the work is not known yet
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  double unit_s = 0;
  std::vector<double> activations(job.layout.pp, 0.0);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const ChunkCost& chunk = chunks[i];
    unit_s += kernels_s(chunk.forward) + kernels_s(chunk.backward_input) +
              kernels_s(chunk.backward_weight);
    activations[i % activations.size()] += chunk.activation_bytes;
  }
  return {unit_s * microbatches(job.layout, job.batch) / job.layout.pp,
          gpu_memory(job, chunks, activations)};
}

PreparedIteration prepare_microbatches(const Job& job, SharedGeometry geometry) {
  PreparedIteration prepared;
  prepared.geometry = geometry_of(job, std::move(geometry));
  if (!job.cluster.pools.empty()) {
    prepare_kinds(job, prepared);
    return prepared;
  }
  prepared.chunks = chunk_costs(job);
  prepared.schedule = job_schedule(job, prepared.chunks);
  hold_tied_once(job, prepared.schedule, prepared.chunks);
  prepared.units = pass_costs(job, prepared.schedule, prepared.chunks);
  prepared.peak_activation_bytes =
      is_generated(job.schedule) ? peak_activations(prepared.schedule, stage_costs(prepared.units))
                                 : evaluated(prepared).peak_activation;
  prepared.memory = iteration_memory(job, prepared);
  check_order(job, prepared);
  return prepared;
}

void reprice_microbatches(const Job& job, PreparedIteration& prepared) {
  if (!prepared.kinds.empty()) {
    prepared = prepare_microbatches(job, prepared.geometry);
    return;
  }
  prepared.chunks = chunk_costs(job);
  hold_tied_once(job, prepared.schedule, prepared.chunks);
  prepared.units = pass_costs(job, prepared.schedule, prepared.chunks);
}

HardwareFlops hardware_flops(const Job& job, const PreparedIteration& prepared) {
  HardwareFlops flops;
  const auto add = [&](const std::vector<ChunkCost>& units, double microbatches, double ranks) {
    for (const ChunkCost& unit : units) {
      flops.full += microbatches * ranks * unit.hardware_flops;
      flops.causal += microbatches * ranks * (unit.hardware_flops - unit.masked_flops);
    }
  };
  const Layout& layout = job.layout;
  if (prepared.kinds.empty()) {
    add(prepared.units, double(microbatches(layout, job.batch)) * layout.dp,
        double(layout.tp) * layout.cp);
  }
  for (const ReplicaCosts& own : prepared.kinds) {
    const int times = own.packed() ? 1 : own.kind.microbatches;
    add(own.units, times, static_cast<double>(own.members.size()));
  }
  return flops;
}

std::vector<GpuMemory> iteration_memory(const Job& job, const PreparedIteration& prepared) {
  const Schedule& schedule = prepared.schedule;
  std::vector<GpuMemory> memory = gpu_memory(
      job, memory_chunks(prepared.chunks, prepared.units), prepared.peak_activation_bytes,
      held_stages(schedule), schedule.weight_copies, whole_parameters(schedule, prepared.chunks));
  add_compressor(job, prepared, memory);
  add_outer_compressors(job, prepared, memory);
  if (offload_of(job).activations != MemoryTier::gpu) {
    add_offloaded_activations(job, offloaded_peaks(prepared), memory);
  }
  return memory;
}

}  // namespace windtunnel
