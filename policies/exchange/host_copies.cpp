#include "policies/exchange/host_copies.hpp"

#include <algorithm>

#include "models/base/error.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/workload/layer_table.hpp"

namespace windtunnel {
namespace {

// Returns for each layer of the stage the bytes of its activations that leave the GPU.
std::vector<double> moved_bytes(const Job& job, const ChunkCost& chunk, int layers) {
  const Offload& offload = offload_of(job);
  if (job.network) {
    const std::vector<NetworkLayer>& all = job.network->layers;
    std::vector<double> bytes(all.size(), 0);
    const double of_element = bytes_of(job.precision) * job.batch.micro;
    for (std::size_t i = 0; i < offload.layers.size(); ++i) {
      if (offload.layers[i] == ActivationRule::swap) bytes[i] = of_element * all[i].kept;
    }
    return bytes;
  }
  std::vector<double> bytes = chunk.offloaded_of_layers;
  bytes.resize(layers, 0);
  return bytes;
}

// The bytes that this GPU fetches from the host, or sends to it, for a piece.
class CopiedBytes {
 public:
  explicit CopiedBytes(const Job& job)
      : offload_(offload_of(job)),
        dense_(state_shards(job, false)),
        experts_(state_shards(job, true)),
        second_copy_(job.layout.secondary_ranks > 0),
        weight_bytes_(weight_bytes_per_parameter(job)),
        gradient_bytes_(reduce_bytes_per_parameter(job)) {}

  // Backward passes gather from the second copy of weights if there is one; experts have none.
  double weights(const StagePiece& piece, bool backward) const {
    if (offload_.weights == MemoryTier::gpu) return 0;
    const double dense = backward && second_copy_ ? 0 : piece.dense + piece.frozen;
    return weight_bytes_ *
           (dense / dense_.weights + (piece.experts + piece.frozen_experts) / experts_.weights);
  }
  // Gradients leave once in a step, or after each micro-batch.
  double gradients(const StagePiece& piece, bool last) const {
    if (offload_.gradients != MemoryTier::gpu) {
      return gradient_bytes_ *
             (piece.dense / dense_.gradients + piece.experts / experts_.gradients);
    }
    if (!offload_.updates_on_host() || !last) return 0;
    return offload_.optimizer_share * gradient_bytes_ *
           (piece.dense / dense_.optimizer + piece.experts / experts_.optimizer);
  }

 private:
  const Offload& offload_;
  const StateShards dense_;
  const StateShards experts_;
  const bool second_copy_;
  const double weight_bytes_;
  const double gradient_bytes_;
};

// The bytes of a piece's state that are fetched or evicted beside each pass.
struct PieceCopies {
  double forward_in = 0;
  double forward_out = 0;
  double backward_in = 0;
  double backward_out = 0;
  double gradients = 0;  // after the last micro-batch; `summed` is for the others
  double summed = 0;
};

std::vector<PieceCopies> shared_copies(const Job& job, const std::vector<StagePiece>& pieces) {
  const CopiedBytes bytes(job);
  std::vector<PieceCopies> copies;
  for (const StagePiece& piece : pieces) {
    PieceCopies own;
    own.forward_in = bytes.weights(piece, false);
    own.backward_in = bytes.weights(piece, true);
    own.gradients = bytes.gradients(piece, true);
    own.summed = bytes.gradients(piece, false);
    copies.push_back(own);
  }
  return copies;
}

// Chunks that make room for a piece leave two pieces earlier, so that the fetch overlaps the
// computation of the piece in between.
std::vector<PieceCopies> chunk_copies(const Job& job, const std::vector<StagePiece>& pieces) {
  std::vector<ChunkRange> ranges;
  for (const StagePiece& piece : pieces) ranges.push_back(piece.chunks);
  const std::vector<ChunkMoves> moves = chunk_moves(chunk_uses(job, ranges));
  const double bytes = offload_of(job).chunks.bytes;
  const std::size_t count = pieces.size();
  std::vector<PieceCopies> copies(count);
  for (std::size_t at = 0; at < moves.size(); ++at) {
    const bool forward = at < count;
    PieceCopies& own = copies[forward ? count - 1 - at : at - count];
    (forward ? own.forward_in : own.backward_in) += moves[at].fetched * bytes;
    own.gradients += moves[at].done * bytes;
    if (at < 2) continue;
    const std::size_t behind = at - 2;
    if (behind < count) {
      copies[count - 1 - behind].forward_out += moves[at].evicted * bytes;
    } else {
      copies[behind - count].backward_out += moves[at].evicted * bytes;
    }
  }
  return copies;
}

// Finds the segments that begin or end where a piece begins or ends in the action.
class Placed {
 public:
  explicit Placed(Segments& segments) : segments_(segments) {
    double end = 0;
    for (const Segment& segment : segments) ends_.push_back(end += segment.share);
  }

  Segment& that_begins(double share) {
    std::size_t i = 0;
    while (i + 1 < segments_.size() && ends_[i] < share + kSameShare) ++i;
    return segments_[i];
  }
  Segment& that_ends(double share) { return segments_[index_of_end(share)]; }
  // Returns the segment after which a piece's gradients are reduced and then leave the GPU.
  Segment& that_reduces(double share) {
    const auto reduces = [](const Segment& segment) { return !segment.reductions.empty(); };
    const auto from = segments_.begin() + static_cast<std::ptrdiff_t>(index_of_end(share));
    const auto next = std::find_if(from, segments_.end(), reduces);
    if (next != segments_.end()) return *next;
    const auto last = std::find_if(segments_.rbegin(), segments_.rend(), reduces);
    return last != segments_.rend() ? *last : *from;
  }

 private:
  std::size_t index_of_end(double share) const {
    std::size_t i = 0;
    while (i + 1 < segments_.size() && ends_[i] < share - kSameShare) ++i;
    return i;
  }

  Segments& segments_;
  std::vector<double> ends_;
};

}  // namespace

std::vector<StagePiece> stage_pieces(const Job& job, const std::vector<StageTensor>& tensors,
                                     const ChunkCost& chunk, int first_layer, int layers) {
  std::vector<StagePiece> pieces;
  std::vector<int> piece_of;  // [tensor]
  const std::vector<double> moved = moved_bytes(job, chunk, layers);
  int end = static_cast<int>(moved.size());  // layers from here on already belong to pieces
  int layer = -2;
  double left = 1;
  for (const StageTensor& tensor : tensors) {
    if (tensor.layer != layer && (pieces.empty() || tensor.work > 0)) pieces.emplace_back();
    layer = tensor.layer;
    StagePiece& piece = pieces.back();
    piece_of.push_back(static_cast<int>(pieces.size()) - 1);
    piece.share += tensor.work;
    left -= tensor.work;
    (tensor.expert ? piece.experts : piece.dense) += tensor.parameters;
    (tensor.expert ? piece.frozen_experts : piece.frozen) += tensor.frozen;
    const int place = job.network ? layer : layer - first_layer;
    for (; layer >= 0 && place < end; --end) piece.activation_bytes += moved[end - 1];
  }
  CHECK(!pieces.empty(), "a stage without weights has nothing to offload");
  for (; end > 0; --end) pieces.back().activation_bytes += moved[end - 1];
  pieces.back().share += left;  // an error of rounding, or everything if no tensor takes time
  if (offload_of(job).in_chunks()) {
    const std::vector<ChunkRange> packed = packed_chunks(job, tensors, piece_of);
    for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i].chunks = packed[i];
  }
  return pieces;
}

HostCopies add_host_copies(const Job& job, const std::vector<StagePiece>& pieces,
                           GradientArrival arrival, ByAction<Segments>& traffic) {
  const bool in_chunks = offload_of(job).in_chunks() && offload_of(job).chunks.count > 0;
  std::vector<PieceCopies> copies =
      in_chunks ? chunk_copies(job, pieces) : shared_copies(job, pieces);
  if (arrival.in_next_step) {
    for (PieceCopies& piece : copies) piece.gradients = piece.summed = 0;
  }
  std::vector<double> begins = {0};  // [piece] in the backward pass; last: its end
  for (const StagePiece& piece : pieces) begins.push_back(begins.back() + piece.share);
  std::vector<double> inner(begins.begin() + 1, begins.end() - 1);
  std::vector<double> inner_forward;
  for (std::size_t i = inner.size(); i-- > 0;) inner_forward.push_back(1 - inner[i]);
  for (Segments* segments : {&traffic.first_forward, &traffic.forward}) {
    *segments = cut_at(*segments, inner_forward);
    Placed placed(*segments);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      placed.that_begins(1 - begins[i + 1]).fetched.weights += copies[i].forward_in;
      HostCopies& evicted = placed.that_ends(1 - begins[i]).evicted;
      evicted.activations += pieces[i].activation_bytes;
      evicted.weights += copies[i].forward_out;
    }
  }
  const auto add_backward = [&](Segments& segments, bool inputs, bool gradients, bool last) {
    segments = cut_at(segments, inner);
    Placed placed(segments);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (inputs) {
        HostCopies& fetched = placed.that_begins(begins[i]).fetched;
        fetched.weights += copies[i].backward_in;
        fetched.activations += pieces[i].activation_bytes;
        placed.that_ends(begins[i + 1]).evicted.weights += copies[i].backward_out;
      }
      if (!gradients || (last && arrival.at_end)) continue;
      placed.that_reduces(begins[i + 1]).evicted.gradients +=
          last ? copies[i].gradients : copies[i].summed;
    }
  };
  add_backward(traffic.backward, true, true, false);
  add_backward(traffic.backward_input, true, false, false);
  add_backward(traffic.backward_weight, false, true, false);
  add_backward(traffic.last_backward, true, true, true);
  add_backward(traffic.last_backward_weight, false, true, true);
  HostCopies end;
  for (const PieceCopies& piece : copies) {
    if (arrival.at_end) end.gradients += piece.gradients;
  }
  return end;
}

}  // namespace windtunnel
