#include "models/cost/offload/chunk_eviction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

// Uses `layers` chunks forward, then backward, with room for `room` of them.
std::vector<ChunkUse> there_and_back(int layers, int room) {
  std::vector<ChunkUse> uses;
  for (int i = 0; i < layers; ++i) uses.push_back({i, i + 1, room});
  for (int i = layers; i-- > 0;) uses.push_back({i, i + 1, room});
  return uses;
}

struct Sums {
  int fetched = 0;
  int evicted = 0;
  int done = 0;
};

Sums sums_of(const std::vector<ChunkMoves>& moves) {
  Sums sums;
  for (const ChunkMoves& at : moves) {
    sums.fetched += at.fetched;
    sums.evicted += at.evicted;
    sums.done += at.done;
  }
  return sums;
}

// Each chunk is fetched once. Chunks that do not fit when the passes turn are evicted once more,
// and fetched twice.
TEST(ChunkEviction, OfPassesThereAndBackIsWhatHasNoRoomAtTheTurn) {
  for (int layers = 2; layers <= 12; ++layers) {
    for (int room = 2; room <= 14; ++room) {
      const Sums sums = sums_of(chunk_moves(there_and_back(layers, room)));
      const int away = std::max(0, layers - room);
      EXPECT_EQ(sums.fetched, layers + away);
      EXPECT_EQ(sums.evicted, away);
      EXPECT_EQ(sums.done, layers);
    }
  }
}

// The chunks of the first layers are evicted, because the backward pass uses them last.
TEST(ChunkEviction, FirstLayersLeaveFirst) {
  const std::vector<ChunkMoves> moves = chunk_moves(there_and_back(5, 3));
  for (int at = 0; at < 5; ++at) EXPECT_EQ(moves[at].evicted, at >= 3 ? 1 : 0) << at;
  for (int at = 5; at < 8; ++at) EXPECT_EQ(moves[at].fetched, 0) << at;
  for (int at = 8; at < 10; ++at) EXPECT_EQ(moves[at].fetched, 1) << at;
}

// Growing activations of the forward pass evict chunks whose room they need.
TEST(ChunkEviction, FollowsTheRoom) {
  std::vector<ChunkUse> uses = there_and_back(6, 6);
  for (int at = 0; at < 12; ++at) uses[at].room = at < 6 ? 6 - at / 2 : 6 - (11 - at) / 2;
  const Sums sums = sums_of(chunk_moves(uses));
  EXPECT_EQ(sums.evicted, 2);  // four fit when the passes turn
  EXPECT_EQ(sums.fetched, 8);
}

// Finds the fewest possible fetches by trying every eviction.
class Exhaustive {
 public:
  explicit Exhaustive(const std::vector<ChunkUse>& uses) : uses_(uses) {}

  int fewest(int at = 0, const std::set<int>& here = {}) {
    if (at == std::ssize(uses_)) return 0;
    const auto known = known_.find({at, here});
    if (known != known_.end()) return known->second;
    const ChunkUse& use = uses_[at];
    std::set<int> with = here;
    int fetched = 0;
    for (int chunk = use.first; chunk < use.end; ++chunk) fetched += with.insert(chunk).second;
    const int least = leaving(at, with);
    return known_[{at, here}] = fetched + least;
  }

 private:
  int leaving(int at, const std::set<int>& with) {
    const auto in_use = [&](int chunk) {
      const auto of = [&](const ChunkUse& use) { return use.first <= chunk && chunk < use.end; };
      return of(uses_[at]) || (at > 0 && of(uses_[at - 1]));
    };
    if (std::ssize(with) <= uses_[at].room) return fewest(at + 1, with);
    int least = -1;
    for (const int chunk : with) {
      if (in_use(chunk)) continue;
      std::set<int> rest = with;
      rest.erase(chunk);
      const int fetched = leaving(at, rest);
      if (least < 0 || fetched < least) least = fetched;
    }
    return least >= 0 ? least : fewest(at + 1, with);
  }

  const std::vector<ChunkUse>& uses_;
  std::map<std::pair<int, std::set<int>>, int> known_;
};

TEST(ChunkEviction, NoOtherOrderFetchesLess) {
  for (std::uint64_t i = 0; i < 300; ++i) {
    RandomStream random(5, RandomPurpose::test, i);
    std::vector<ChunkUse> uses;
    for (int at = 0; at < 9; ++at) {
      const int first = static_cast<int>(random.below(5));
      const int end = first + 1 + static_cast<int>(random.below(2));
      uses.push_back({first, end, 2 + static_cast<int>(random.below(4))});
    }
    EXPECT_EQ(sums_of(chunk_moves(uses)).fetched, Exhaustive(uses).fewest()) << i;
  }
}

}  // namespace
}  // namespace windtunnel
