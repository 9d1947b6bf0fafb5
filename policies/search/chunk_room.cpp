#include "policies/search/chunk_room.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "models/cost/memory/tiers.hpp"
#include "policies/exchange/data_parallel.hpp"
#include "policies/exchange/host_copies.hpp"
#include "policies/iteration.hpp"

namespace windtunnel {
namespace {

// Returns the most chunks on the GPU at once: of a piece that is computed, and the next one.
int most_at_once(const std::vector<StagePiece>& pieces) {
  int most = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const ChunkRange& own = pieces[i].chunks;
    const ChunkRange& next = pieces[std::min(i + 1, pieces.size() - 1)].chunks;
    most = std::max(most, std::max(own.end, next.end) - std::min(own.first, next.first));
  }
  return most;
}

}  // namespace

Job with_chunks_found(const Job& job, const SharedGeometry& geometry) {
  Job result = job;
  auto offload = std::make_shared<Offload>(offload_of(job));
  Offload::Chunks& chunks = offload->chunks = {};
  offload->searched.chunks = true;
  result.offload = offload;
  const PreparedIteration prepared = prepare_checked(result, geometry);
  const ChunkCost& chunk = prepared.chunks.front();
  const std::vector<StageTensor> tensors = stage_tensors(
      job, 0, 0, job.model.all_layers(), chunk, embeddings_together(job, prepared.schedule));
  const std::vector<StagePiece> pieces =
      stage_pieces(result, tensors, prepared.units.front(), 0, job.model.all_layers());
  chunks.bytes = chunk_bytes(job, tensors);
  for (const StagePiece& piece : pieces) chunks.count = std::max(chunks.count, piece.chunks.end);
  chunks.at_once = most_at_once(pieces);
  const GpuMemory& at = prepared.memory.front();
  const double spread = at.allocated() > 0 ? 1 + at.fragmentation / at.allocated() : 1;
  chunks.room_bytes = (usable_bytes(job, at) - at.framework) / spread - at.allocated();
  chunks.activation_bytes = at.activations;
  const double spare =
      (chunks.room_bytes - chunks.count * chunks.bytes) / optimizer_chunk_bytes(result);
  chunks.with_optimizer =
      static_cast<int>(std::clamp(std::floor(spare), 0.0, double(chunks.count)));
  offload->optimizer_share = 1 - double(chunks.with_optimizer) / chunks.count;
  return result;
}

}  // namespace windtunnel
