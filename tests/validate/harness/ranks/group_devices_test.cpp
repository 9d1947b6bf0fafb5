#include "validate/harness/ranks/group_devices.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "validate/harness/collectives/nccl_collectives.hpp"
#include "validate/harness/ranks/own_core.hpp"

namespace windtunnel {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw Error(what);
}

TEST(GroupDevices, EveryRankHearsAll) {
  for (const int ranks : {1, 2, 4}) {
    run_ranks(ranks, [](TcpGroup& group) {
      const auto own = std::string(static_cast<size_t>(1000 * group.rank()), 'x');
      const std::vector<std::string> told = told_by_all(group, own);
      require(told.size() == static_cast<size_t>(group.ranks()), "as many as ranks");
      for (size_t rank = 0; rank < told.size(); ++rank) {
        require(told[rank] == std::string(1000 * rank, 'x'), "in their order");
      }
    });
  }
}

// If one rank cannot take part, the others stop instead of waiting for it.
TEST(GroupDevices, AllStopWhereOneCannotTakePart) {
  run_ranks(3, [](TcpGroup& group) {
    agree(group, "");
    try {
      agree(group, group.rank() == 1 ? "no hands" : "");
    } catch (const Error& error) {
      require(std::string(error.what()) == "rank 1: no hands", "the same words everywhere");
      return;
    }
    throw Error("went on");
  });
}

TEST(GroupDevices, CountsTheMostAlike) {
  EXPECT_EQ(most_alike({}), 0);
  EXPECT_EQ(most_alike({"a", "b", "c"}), 1);
  EXPECT_EQ(most_alike({"a", "b", "a", "b", "a"}), 3);
}

// Ranks on a CPU are time-sliced if they outnumber the cores that they may run on.
TEST(GroupDevices, RanksOfACpuShareItsCores) {
  const int cores = usable_cores();
  run_ranks(3, [&](TcpGroup& group) {
    const DeviceShare share = take_devices(group, device(DeviceKind::cpu));
    require(share.index == 0 && share.hosts == 1, "one host");
    require(share.local_rank == group.rank() && share.local_ranks == 3, "all on it");
    require(share.ranks_per_device == (3 + cores - 1) / cores, "cores");
  });
}

TEST(GroupDevices, LaunchersMayHaveGivenEachRankCoresOfItsOwn) {
  if (usable_cores() < 2) GTEST_SKIP() << "one core";
  for (const bool apart : {true, false}) {
    run_ranks(2, [&](TcpGroup& group) {
      const OwnCore core(apart ? group.rank() : 0, 2);
      require(usable_cores() == 1, "bound");
      const DeviceShare share = take_devices(group, device(DeviceKind::cpu));
      require(share.ranks_per_device == (apart ? 1 : 2), apart ? "apart" : "on the same core");
    });
  }
}

TEST(GroupDevices, AreCountedInAProcessOfItsOwn) {
  EXPECT_EQ(usable_devices(DeviceKind::cpu).count, 1);
  EXPECT_EQ(usable_devices(DeviceKind::cpu).why_none, "");
  const UsableDevices cuda = usable_devices(DeviceKind::cuda);
  EXPECT_EQ(cuda.count == 0, !cuda.why_none.empty()) << cuda.why_none;
}

TEST(NcclCollectives, SayWhyTheyAreNotThere) {
  EXPECT_EQ(nccl_version().empty(), !why_no_nccl().empty()) << why_no_nccl();
}

// Every rank gets the message, and none waits in NCCL for the others.
TEST(NcclCollectives, RefuseWithoutAGpu) {
  if (usable_devices(DeviceKind::cuda).count > 0) GTEST_SKIP() << "this machine has a CUDA device";
  run_ranks(2, [](TcpGroup& group) {
    try {
      nccl_collectives(group, {});
    } catch (const Error& error) {
      require(std::string(error.what()).substr(0, 8) == "rank 0: ", error.what());
      return;
    }
    throw Error("NCCL without a GPU");
  });
}

}  // namespace
}  // namespace windtunnel
