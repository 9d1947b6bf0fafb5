#include "sim/study/iterations/island_times.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "models/base/error.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/plan/job_collective.hpp"
#include "policies/exchange/job_geometry.hpp"
#include "policies/outer/island_nodes.hpp"
#include "policies/outer/outer_exchange.hpp"
#include "sim/study/iterations/smaller_jobs.hpp"

namespace windtunnel {
namespace {

double stream_s(const Job& job, const PreparedIteration& prepared, int level) {
  std::vector<double> bytes =
      snapshot_bytes_per_gpu(job, prepared.chunks, held_stages(prepared.schedule));
  const double share = job.recovery.stream == PeerStream::weights ? weight_share(job) : 1;
  const SharedGeometry geometry = geometry_of(job, prepared.geometry);
  double longest_s = 0;
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    longest_s = std::max(longest_s, collective_cost(job, Category::dp, CollectiveKind::broadcast,
                                                    geometry->network().shape(pp, sync_axis(level)),
                                                    share * bytes[pp])
                                        .seconds);
  }
  return longest_s;
}

}  // namespace

IslandTable island_table(const Job& job, const PreparedIteration& prepared,
                         const std::vector<SyncSeconds>& seconds) {
  IslandTable table;
  if (job.sync.empty() || !goes_on_by_islands(job)) return table;
  std::vector<int> of_node = first_islands(job);
  std::map<int, int> number;  // by first island
  for (const int island : of_node) number.try_emplace(island, 0);
  table.count = 0;
  for (auto& [island, own] : number) own = table.count++;
  for (int& island : of_node) island = number.at(island);
  const int merged = job.layout.islands() / table.count;
  int members = 1;
  for (int level = 0; level < std::ssize(job.sync); ++level) {
    members *= job.layout.sync_groups[level];
    // Islands that share nodes count as one, so exchanges among them are left out.
    if (members % merged != 0 || members <= merged) continue;
    const SyncLevel& of_level = job.sync[level];
    // Islands that never exchange have only their start in common. This interval is longer than any
    // campaign.
    constexpr double kNever_steps = 1e15;
    const bool never = of_level.pattern == SyncPattern::none;
    const bool together = of_level.events != SyncEvents::poisson;
    // An exchange does not wait for a slow island anyway, so it is one of those left out.
    const auto always_late = job.cluster.slow_nodes.empty()
                                 ? 0
                                 : static_cast<int>(std::lround(seconds[level].late * members));
    table.levels.push_back(
        {.members = members / merged,
         .cycle_steps = never ? kNever_steps : of_level.cycle_steps(),
         .delay_steps = together ? of_level.hiding_steps() : 0,
         .exchange_s = seconds[level].exchange_s,
         .missing = together ? std::max(0, seconds[level].left_out - always_late) / merged
                             : members / merged - 1,
         .stream_s = stream_s(job, prepared, level),
         .together = together});
    if (table.levels.size() == 1) table.fragments = of_level.fragments;
    table.own_parts |= of_level.parameters == SyncParameters::dense;
  }
  if (!job.layout.path_modules.empty()) table.far_modules = job.layout.path_modules.back();
  CHECK(table.levels.back().members == table.count &&
            table.levels.front().missing < table.levels.front().members,
        "{} islands, {} left out of {}", table.count, table.levels.front().missing,
        table.levels.front().members);
  table.of_node = std::move(of_node);
  return table;
}

Job one_island(const Job& job, int islands) {
  std::vector<int> first(job.layout.dp / islands);
  std::iota(first.begin(), first.end(), 0);
  Job island = with_replicas(job, first);
  island.layout.sync_groups.clear();
  island.sync.clear();
  island.cluster.nodes = std::max(1, job.cluster.nodes / islands);
  return island;
}

}  // namespace windtunnel
