#include "models/volunteers/peer_work.hpp"

#include <algorithm>

#include "models/cost/memory/memory.hpp"

namespace windtunnel {
namespace {

double link_s(const PeerKind& peer, const StageWork& work) {
  return std::max(work.bytes / peer.up_Bps, work.bytes / peer.down_Bps);
}

}  // namespace

std::vector<StageWork> stage_works(const Job& job, const std::vector<ChunkCost>& chunks) {
  const double ranks = double(job.layout.tp) * job.layout.cp;  // of a stage, on one peer
  std::vector<StageWork> works;
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    const ChunkCost& chunk = chunks[stage];
    StageWork work;
    for (const auto* pass :
         {&chunk.forward, &chunk.backward_input, &chunk.backward_weight, &chunk.recompute}) {
      work.compute_s += total_seconds(*pass);
    }
    if (stage > 0) {  // an activation arrives, its gradient goes back
      work.bytes += chunks[stage - 1].boundary_bytes * ranks;
      ++work.messages;
    }
    if (stage + 1 < chunks.size()) {
      work.bytes += chunk.boundary_bytes * ranks;
      ++work.messages;
    }
    // Ranks of cp hold the same parameters.
    const double parameters = chunk.parameters * job.layout.tp;
    work.state_bytes =
        parameters * (weight_bytes_per_parameter(job) + optimizer_bytes_per_parameter(job));
    work.gradient_bytes = parameters * reduce_bytes_per_parameter(job);
    works.push_back(work);
  }
  return works;
}

double peer_rate(const PeerKind& peer, const StageWork& work) {
  if (peer.speed <= 0) return 0;
  return 1 / std::max(work.compute_s / peer.speed, link_s(peer, work));
}

double utilisation(const PeerKind& peer, const StageWork& work) {
  return peer.speed <= 0 ? 0 : work.compute_s / peer.speed * peer_rate(peer, work);
}

double unhidden_utilisation(const PeerKind& peer, const StageWork& work) {
  if (peer.speed <= 0) return 0;
  const double compute_s = work.compute_s / peer.speed;
  return compute_s / (compute_s + link_s(peer, work) + work.messages * peer.latency_s);
}

double takeover_s(const Volunteers& volunteers, const PeerKind& peer, const StageWork& work) {
  return volunteers.move_s >= 0 ? volunteers.move_s : work.state_bytes / peer.down_Bps;
}

}  // namespace windtunnel
