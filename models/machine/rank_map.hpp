// Which GPU of the job each rank runs on: by default rank r on GPU r. Other maps come of the order
// in which a layout's axes fill the nodes (rank_map() in models/workload/layout.hpp).
#pragma once

#include <vector>

namespace windtunnel {

class RankMap {
 public:
  RankMap() = default;
  // Takes [rank] its GPU; each of the first GPUs stands once.
  explicit RankMap(std::vector<int> gpus);

  // Whether each rank runs on the GPU of its number.
  bool in_order() const { return gpus_.empty(); }
  // Beyond the ranks of the map both are the same.
  int gpu_of(int rank) const { return rank < std::ssize(gpus_) ? gpus_[rank] : rank; }
  int rank_on(int gpu) const { return gpu < std::ssize(ranks_) ? ranks_[gpu] : gpu; }
  const std::vector<int>& gpus() const { return gpus_; }  // [rank]; empty: in order
  bool operator==(const RankMap&) const = default;

 private:
  std::vector<int> gpus_;
  std::vector<int> ranks_;  // [GPU]
};

}  // namespace windtunnel
