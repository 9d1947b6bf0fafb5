#include "policies/outer/outer_period.hpp"

#include "policies/outer/outer_exchange.hpp"

namespace windtunnel {
namespace {

// Returns the times of one rank's exchange when nothing runs beside it.
SyncSeconds seconds_alone(const std::vector<Transfer>& row, Origin network) {
  SyncSeconds seconds{.origin = row.empty() ? Origin::assumed : network};
  for (const Transfer& transfer : row) {
    seconds.exchange_s += total_seconds(transfer.kernels) + transfer.seconds;
    for (const CostPart& part : transfer.kernels) {
      seconds.origin = weakest(seconds.origin, part.origin);
    }
  }
  return seconds;
}

}  // namespace

std::vector<SyncSeconds> sync_seconds(const Job& job, const Schedule& schedule,
                                      const std::vector<ChunkCost>& chunks,
                                      const ReplicaNetwork& network, double step_s) {
  std::vector<SyncSeconds> levels;
  if (job.sync.empty()) return levels;
  const OuterExchange exchange(job, schedule, chunks, network);
  for (int level = 0; level < std::ssize(job.sync); ++level) {
    SyncSeconds longest;
    for (int pp = 0; pp < job.layout.pp; ++pp) {
      const SyncSeconds own = seconds_alone(exchange.row(level, pp), exchange.origin(level, pp));
      if (own.exchange_s > longest.exchange_s) longest = own;
    }
    longest.exposed_s = exposed_seconds(job.sync[level], longest.exchange_s, step_s);
    levels.push_back(longest);
  }
  return levels;
}

}  // namespace windtunnel
