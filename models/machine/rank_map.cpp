#include "models/machine/rank_map.hpp"

#include <algorithm>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {

RankMap::RankMap(std::vector<int> gpus) {
  std::vector<int> ranks(gpus.size(), -1);
  for (int rank = 0; rank < std::ssize(gpus); ++rank) {
    CHECK(gpus[rank] >= 0 && gpus[rank] < std::ssize(gpus) && ranks[gpus[rank]] < 0,
          "rank {} on GPU {} of {}", rank, gpus[rank], gpus.size());
    ranks[gpus[rank]] = rank;
  }
  if (std::ranges::is_sorted(gpus)) return;
  ranks_ = std::move(ranks);
  gpus_ = std::move(gpus);
}

}  // namespace windtunnel
