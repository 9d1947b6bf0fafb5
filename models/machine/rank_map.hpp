// Which GPU of the job each rank runs on: by default rank r on GPU r. Other maps result from the
// order in which a layout's axes fill the nodes (rank_map() in models/workload/layout.hpp).
#pragma once

#include <vector>

namespace windtunnel {

class RankMap {
 public:
  RankMap() = default;
  // `gpus` has the GPU of each rank: a permutation of the first GPUs.
  explicit RankMap(std::vector<int> gpus);

  // Whether each rank runs on the GPU with its own number.
  bool in_order() const { return gpus_.empty(); }
  // Beyond the map, rank and GPU have the same number.
  int gpu_of(int rank) const { return rank < std::ssize(gpus_) ? gpus_[rank] : rank; }
  int rank_on(int gpu) const { return gpu < std::ssize(ranks_) ? ranks_[gpu] : gpu; }
  const std::vector<int>& gpus() const { return gpus_; }  // [rank]; empty: in order
  bool operator==(const RankMap&) const = default;

 private:
  std::vector<int> gpus_;
  std::vector<int> ranks_;  // [GPU]
};

}  // namespace windtunnel
