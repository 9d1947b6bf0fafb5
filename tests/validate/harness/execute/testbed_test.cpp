#include "validate/harness/execute/testbed.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string>

#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"
#include "validate/harness/execute/forked_run.hpp"
#include "validate/harness/ranks/rank_sockets.hpp"

namespace windtunnel {
namespace {

ino_t network_of_this_process() {
  struct stat status = {};
  EXPECT_EQ(stat("/proc/self/ns/net", &status), 0);
  return status.st_ino;
}

// If namespaces cannot be used, the message says in one line why not.
TEST(Testbed, NodesAreNetworksOfTheirOwnThatReachEachOther) {
  const std::string fault = why_no_testbed();
  EXPECT_EQ(fault.find('\n'), std::string::npos) << fault;
  if (!fault.empty()) GTEST_SKIP() << fault;
  const ino_t own = network_of_this_process();
  Cluster cluster = small_cluster(4, 1);
  cluster.fabric.nodes_per_pod = 2;
  cluster.fabric.pod_oversubscription = 2;
  const SharedMemory networks(4 * sizeof(ino_t));
  {
    const Testbed testbed(cluster, {1, 1e3});
    std::vector<RankAddress> addresses;
    for (int node = 0; node < 4; ++node) addresses.push_back({testbed.address(node), 20000});
    const std::uint64_t secret = run_secret();
    run_forked(4, "rank", [&](int rank, const ForkedProcess& process) {
      const SignsOfLife signs(process);
      testbed.enter(rank);
      reinterpret_cast<ino_t*>(networks.data())[rank] = network_of_this_process();
      const MetRanks met = meet_ranks(rank, addresses, secret, 60);
      process.wait_for_start();
      while (!process.all_through(true)) usleep(5000);
    });
  }
  std::set<ino_t> different = {own};
  for (int node = 0; node < 4; ++node) {
    different.insert(reinterpret_cast<ino_t*>(networks.data())[node]);
  }
  EXPECT_EQ(different.size(), 5u);
  // A namespace without a name ends with the last process in it.
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  EXPECT_EQ(network_of_this_process(), own);
}

// Strangers do not know the secret of the run, and no rank waits for them.
TEST(Testbed, RanksMeetOnlyWhoKnowsTheirSecret) {
  // No other process uses this loopback address.
  const std::string host = fmt::format("127.77.{}.{}", getpid() / 250 % 250, getpid() % 250 + 1);
  const std::vector<RankAddress> addresses = {{host, 20000}, {host, 20001}};
  const std::string fault = error_of(
      [&] {
        // Rank 1 may come late: it tries to connect as long as rank 0 is there.
        run_forked(2, "rank", [&](int rank, const ForkedProcess& process) {
          const SignsOfLife signs(process);
          meet_ranks(rank, addresses, rank == 0 ? 1 : 2, rank == 0 ? 1 : 60);
          process.wait_for_start();
        });
      },
      ExitCode::failed);
  EXPECT_EQ(fault, "rank 0: 1 of the ranks above did not connect");
}

}  // namespace
}  // namespace windtunnel
