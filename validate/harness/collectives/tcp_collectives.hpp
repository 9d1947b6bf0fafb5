// Collectives between ranks with the simulator's algorithms
// (models/network/groups/collective_steps.hpp): rings in 2 (P-1) or P-1 steps with 1/P of the data
// each, a tree up and down, pairwise exchange in P-1 steps.
#pragma once

#include <span>

#include "validate/harness/collectives/collectives.hpp"
#include "validate/harness/ranks/tcp_group.hpp"

namespace windtunnel {

// Element range of a rank's part; parts differ by at most one element.
struct Part {
  size_t begin = 0;
  size_t end = 0;
};
Part part_of(size_t elements, int rank, int ranks);

void all_reduce_ring(Peers& group, std::span<float> values);
void all_reduce_tree(Peers& group, std::span<float> values);  // binary
// `part` becomes the sum of the rank's part of `values`; it has the same length and may be that
// part.
void reduce_scatter_ring(Peers& group, std::span<const float> values, std::span<float> part);
// Sends the rank's part of `values` to all ranks.
void all_gather_ring(Peers& group, std::span<std::byte> values, size_t element_bytes);
void all_to_all_pairwise(Peers& group, std::span<const std::byte> out, std::span<std::byte> in);
void broadcast_tree(Peers& group, std::span<std::byte> values, int root);  // binary

// Uses rings, pairwise exchange, and a tree for broadcasts.
class TcpCollectives : public Collectives {
 public:
  explicit TcpCollectives(TcpGroup& group) : group_(&group) {}
  TcpGroup& group() { return *group_; }

  int rank() const override { return group_->rank(); }
  int ranks() const override { return group_->ranks(); }
  void all_reduce(float* values, size_t elements) override;
  void reduce_scatter(const float* values, float* part, size_t part_elements) override;
  void all_gather(const std::byte* part, std::byte* all, size_t part_bytes) override;
  void all_to_all(const std::byte* out, std::byte* in, size_t part_bytes) override;
  void broadcast(std::byte* values, size_t size_bytes, int root) override;
  void exchange(int to, const std::byte* out, size_t out_bytes, int from, std::byte* in,
                size_t in_bytes) override;

 private:
  TcpGroup* group_;
};

}  // namespace windtunnel
