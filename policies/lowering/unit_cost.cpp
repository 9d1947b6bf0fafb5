#include "policies/lowering/unit_cost.hpp"

#include <algorithm>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// [stage of the model] Whether it has recompute actions.
std::vector<bool> recomputed_stages(const Schedule& schedule) {
  std::vector<bool> recomputed(schedule.model_stages(), false);
  for (const auto& actions : schedule.actions) {
    for (const Action& action : actions) {
      if (action.kind != ActionKind::recompute) continue;
      recomputed[schedule.model_stage(action.stage)] = true;
    }
  }
  return recomputed;
}

// Returns for each stage of the model the share of its layers that is recomputed; empty:
// Job::recompute holds for every stage.
std::vector<double> recompute_shares(const Job& job, const Schedule& schedule) {
  const double first = job.schedule.recompute_share;
  if (job.recompute == Recompute::none || (first == 1 && !schedule.explicit_recompute)) return {};
  std::vector<double> shares;
  for (int stage = 0; stage < schedule.model_stages(); ++stage) {
    shares.push_back(recompute_share(first, schedule.rank_of_stage[stage], schedule.ranks));
  }
  if (schedule.explicit_recompute) {
    const std::vector<bool> recomputed = recomputed_stages(schedule);
    for (std::size_t stage = 0; stage < shares.size(); ++stage) {
      if (!recomputed[stage]) shares[stage] = 0;
    }
  }
  return shares;
}

// Returns for each slice the unit that a stage runs at once.
std::vector<ChunkUnit> chunk_units(const Job& job, const Schedule& schedule) {
  ChunkUnit unit;
  unit.recompute_shares = recompute_shares(job, schedule);
  unit.recomputes_ahead = schedule.explicit_recompute;
  std::vector<ChunkUnit> units;
  for (int slice = 0; slice < schedule.slices; ++slice) {
    const bool equal = schedule.slice_shares.empty();
    const double share = equal ? 1.0 / schedule.slices : schedule.slice_shares[slice];
    const bool last = slice + 1 == schedule.slices;
    unit.slice.end = last ? 1 : unit.slice.begin + share;
    units.push_back(unit);
    unit.slice.begin = unit.slice.end;
  }
  return units;
}

}  // namespace

std::vector<ChunkCost> memory_chunks(std::vector<ChunkCost> chunks,
                                     const std::vector<ChunkCost>& units) {
  CHECK(units.size() % chunks.size() == 0, "{} units of {} chunks", units.size(), chunks.size());
  const std::size_t slices = units.size() / chunks.size();
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    ChunkCost& chunk = chunks[stage];
    chunk.activation_bytes = chunk.transient_bytes = 0;
    for (std::size_t slice = 0; slice < slices; ++slice) {
      const ChunkCost& unit = units[stage * slices + slice];
      chunk.activation_bytes += unit.activation_bytes;
      chunk.transient_bytes = std::max(chunk.transient_bytes, unit.transient_bytes);
    }
  }
  return chunks;
}

double recompute_share(double first_share, int rank, int ranks) {
  if (first_share == 1 || ranks == 1) return first_share;
  if (rank == ranks - 1) return 0;
  return std::max(0.0, 1 - (1 - first_share) * (ranks - 1) / (ranks - 1 - rank));
}

std::vector<ChunkCost> unit_costs(const Job& job, const Schedule& schedule,
                                  const std::vector<ChunkCost>& chunks) {
  const auto stages = static_cast<std::size_t>(schedule.model_stages());
  const auto slices = static_cast<std::size_t>(schedule.slices);
  CHECK(chunks.size() == stages, "{} chunks for {} stages", chunks.size(), stages);
  const std::vector<ChunkUnit> of_slices = chunk_units(job, schedule);
  const ChunkUnit& only = of_slices.front();
  if (slices == 1 && only.recompute_shares.empty() && !only.recomputes_ahead) return chunks;
  std::vector<ChunkCost> costs(stages * slices);
  for (std::size_t slice = 0; slice < slices; ++slice) {
    const std::vector<ChunkCost> of_slice = chunk_costs(job, of_slices[slice]);
    for (std::size_t stage = 0; stage < stages; ++stage) {
      ChunkCost& cost = costs[stage * slices + slice];
      cost = of_slice[stage];
      cost.parameters = chunks[stage].parameters;
      cost.expert_parameters = chunks[stage].expert_parameters;
      cost.frozen_parameters = chunks[stage].frozen_parameters;
      cost.frozen_experts = chunks[stage].frozen_experts;
    }
  }
  return costs;
}

std::vector<ChunkRounds> unit_rounds(const Job& job, const Schedule& schedule) {
  const auto stages = static_cast<std::size_t>(schedule.model_stages());
  const auto slices = static_cast<std::size_t>(schedule.slices);
  const std::vector<ChunkUnit> of_slices = chunk_units(job, schedule);
  std::vector<ChunkRounds> rounds(stages * slices);
  for (std::size_t slice = 0; slice < slices; ++slice) {
    std::vector<ChunkRounds> of_slice = chunk_rounds(job, of_slices[slice]);
    for (std::size_t stage = 0; stage < stages; ++stage) {
      rounds[stage * slices + slice] = std::move(of_slice[stage]);
    }
  }
  return rounds;
}

}  // namespace windtunnel
