#include "sim/volunteers/attendance.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace windtunnel {
namespace {

Volunteers two_kinds() {
  Volunteers volunteers;
  volunteers.length_s = 1e5;
  volunteers.peers = {{.name = "a", .count = 30, .leave_per_s = 1e-4, .join_per_s = 2e-3},
                      {.name = "b", .count = 10, .leave_per_s = 1e-3, .join_per_s = 5e-3}};
  return volunteers;
}

// Returns the peers that are present after the changes, and expects that the changes are possible.
std::vector<int> present(const Volunteers& volunteers,
                         const std::vector<AttendanceChange>& changes) {
  std::vector<int> kinds = first_peers(volunteers);
  double before_s = 0;
  for (const AttendanceChange& change : changes) {
    EXPECT_GE(change.at_s, before_s);
    EXPECT_LT(change.at_s, volunteers.length_s);
    before_s = change.at_s;
    if (change.joins) {
      kinds.push_back(change.kind);
      continue;
    }
    EXPECT_EQ(kinds.at(change.place), change.kind);
    kinds[change.place] = kinds.back();
    kinds.pop_back();
  }
  return kinds;
}

// Peers join and leave like customers of a queue with unlimited servers: in the long run a kind has
// join / leave peers, by a Poisson law.
TEST(Attendance, KindsSettleAtJoinsOverLeaves) {
  const Volunteers volunteers = two_kinds();
  constexpr int kTrials = 400;
  double sums[2] = {};
  double squares = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::vector<int> kinds = present(volunteers, attendance_changes(volunteers, trial));
    const auto a = static_cast<double>(std::ranges::count(kinds, 0));
    sums[0] += a;
    sums[1] += static_cast<double>(std::ranges::count(kinds, 1));
    squares += (a - 20) * (a - 20);
  }
  EXPECT_NEAR(sums[0] / kTrials, 20, 4 * std::sqrt(20.0 / kTrials));
  EXPECT_NEAR(sums[1] / kTrials, 5, 4 * std::sqrt(5.0 / kTrials));
  EXPECT_NEAR(squares / kTrials, 20, 8);
}

TEST(Attendance, TrialsDifferAndRepeat) {
  const Volunteers volunteers = two_kinds();
  const auto times = [&](std::uint64_t trial) {
    std::vector<double> at;
    for (const auto& change : attendance_changes(volunteers, trial)) at.push_back(change.at_s);
    return at;
  };
  EXPECT_EQ(times(3), times(3));
  EXPECT_NE(times(3), times(4));
}

TEST(Attendance, ATraceSaysHowManyThereAre) {
  Volunteers volunteers = two_kinds();
  volunteers.trace = {{0, 40}, {100, 35}, {200, 50}, {300, 0}, {400, 7}, {2e5, 1}};
  for (int trial = 0; trial < 20; ++trial) {
    const std::vector<AttendanceChange> changes = attendance_changes(volunteers, trial);
    EXPECT_EQ(changes.size(), 5U + 15 + 50 + 7);
    EXPECT_EQ(present(volunteers, changes).size(), 7U);
  }
}

TEST(Attendance, NobodyComesOrGoesWithoutRates) {
  Volunteers volunteers = two_kinds();
  for (PeerKind& kind : volunteers.peers) kind.leave_per_s = kind.join_per_s = 0;
  EXPECT_TRUE(attendance_changes(volunteers, 0).empty());
}

}  // namespace
}  // namespace windtunnel
