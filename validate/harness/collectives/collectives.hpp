// Collectives between ranks, each on the memory of a device of its own: over TCP between processes
// where there is no GPU, through NCCL where there are some. All ranks call the same ones in the
// same order with the same sizes. Of a CPU they return when they are done; of a GPU they run in the
// order of its work stream, after the kernels started before, until Device::synchronize.
#pragma once

#include <cstddef>

namespace windtunnel {

class Collectives {
 public:
  virtual ~Collectives() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  // Sums of fp32, in place. The order of the additions differs by element, but all ranks end with
  // the same bits.
  virtual void all_reduce(float* values, std::size_t elements) = 0;
  // `values`: ranks() parts of `part_elements`, of which `part` becomes the sum of the own one.
  virtual void reduce_scatter(const float* values, float* part, std::size_t part_elements) = 0;
  // `all`: the parts of all ranks in their order.
  virtual void all_gather(const std::byte* part, std::byte* all, std::size_t part_bytes) = 0;
  // Part j of `out` on rank i becomes part i of `in` on rank j.
  virtual void all_to_all(const std::byte* out, std::byte* in, std::size_t part_bytes) = 0;
  virtual void broadcast(std::byte* values, std::size_t size_bytes, int root) = 0;
  // Sends and receives at once; 0 bytes: not that one.
  virtual void exchange(int to, const std::byte* out, std::size_t out_bytes, int from,
                        std::byte* in, std::size_t in_bytes) = 0;
};

}  // namespace windtunnel
