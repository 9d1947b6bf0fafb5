// Collectives between ranks, each on the memory of its own device: over TCP between processes
// without GPUs, or through NCCL. All ranks call the same collectives in the same order with the
// same sizes. On a CPU they return when they are done; on a GPU they run in the order of its work
// stream, after the kernels started before, until Device::synchronize.
#pragma once

#include <cstddef>

namespace windtunnel {

class Collectives {
 public:
  virtual ~Collectives() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  // Sums fp32 in place. The order of additions differs by element, but all ranks get the same bits.
  virtual void all_reduce(float* values, std::size_t elements) = 0;
  // `values` has ranks() parts of `part_elements`; `part` becomes the sum of this rank's part.
  virtual void reduce_scatter(const float* values, float* part, std::size_t part_elements) = 0;
  // `all` receives the parts of all ranks in order.
  virtual void all_gather(const std::byte* part, std::byte* all, std::size_t part_bytes) = 0;
  // Part j of `out` on rank i becomes part i of `in` on rank j.
  virtual void all_to_all(const std::byte* out, std::byte* in, std::size_t part_bytes) = 0;
  virtual void broadcast(std::byte* values, std::size_t size_bytes, int root) = 0;
  // Sends and receives at the same time; 0 bytes: not in that direction.
  virtual void exchange(int to, const std::byte* out, std::size_t out_bytes, int from,
                        std::byte* in, std::size_t in_bytes) = 0;
};

}  // namespace windtunnel
