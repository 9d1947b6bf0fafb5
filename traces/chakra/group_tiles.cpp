#include "traces/chakra/group_tiles.hpp"

#include <algorithm>

namespace windtunnel {

std::vector<std::vector<RankId>> group_tiles(const std::vector<RankId>& members, int ranks) {
  if (members.empty()) return {};
  const RankId first = *std::ranges::min_element(members);
  std::vector<bool> covered(static_cast<std::size_t>(std::max(ranks, 0)));
  std::vector<std::vector<RankId>> tiles;
  bool found = false;
  for (RankId rank = 0; rank < ranks; ++rank) {
    if (covered[rank]) continue;
    std::vector<RankId>& tile = tiles.emplace_back();
    for (const RankId member : members) {
      const RankId moved = member - first + rank;
      if (moved < 0 || moved >= ranks || covered[moved]) return {};
      covered[moved] = true;
      tile.push_back(moved);
    }
    found = found || tile == members;
  }
  return found ? tiles : std::vector<std::vector<RankId>>{};
}

}  // namespace windtunnel
