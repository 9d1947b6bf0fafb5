// Ranks die, stop or never come while a plan is executed, and strangers connect to its ports. The
// faulty rank must be named in time, and no process or port may be left.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>

#include "tests/sim/engine/plan_maker.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"
#include "tests/validate/harness/execute/run_processes.hpp"
#include "validate/harness/execute/execute_plan.hpp"
#include "validate/harness/execute/testbed.hpp"

namespace windtunnel {
namespace {

constexpr int kRanks = 3;
constexpr int kStreams = 3;  // more than the threads of a rank during setup

Plan waiting_plan(double seconds) {
  Plan plan;
  plan.ranks = kRanks;
  for (RankId rank = 0; rank < kRanks; ++rank) {
    RankClass rank_class;
    rank_class.name = fmt::format("rank {}", rank);
    rank_class.members = {rank};
    for (int stream = 0; stream < kStreams; ++stream) {
      rank_class.streams.push_back({fmt::format("stream {}", stream)});
      rank_class.tasks.push_back(plain(TaskKind::compute, "c", stream, seconds));
    }
    plan.classes.push_back(rank_class);
  }
  return plan;
}

ExecuteOptions waiting_options(bool testbed) {
  ExecuteOptions options;
  options.scale = {1, 1e4};
  options.calibration = ideal_calibration();
  options.testbed = testbed;
  return options;
}

// Returns whether all ranks run; a running rank has a thread for each stream.
bool run_their_streams(const std::vector<pid_t>& ranks) {
  return std::ranges::all_of(ranks, [](pid_t rank) { return threads_of(rank) > kStreams; });
}

struct Fault {
  int signal;
  bool at_once;  // before the rank has come
  const char* words;
};

void expect_named_and_nothing_left(bool testbed, const Fault& fault) {
  SCOPED_TRACE(fmt::format("signal {}, testbed {}", fault.signal, testbed));
  Runner runner([&] {
    return error_of(
        [&] {
          execute_plan(waiting_plan(600), small_cluster(kRanks, 1), waiting_options(testbed));
        },
        ExitCode::failed);
  });
  // In a testbed each node and the fabric have a process that holds the namespace.
  std::vector<pid_t> ranks = runner.ranks(testbed ? 2 * kRanks + 1 : kRanks);
  ranks.erase(ranks.begin(), ranks.end() - kRanks);
  if (!fault.at_once) {
    EXPECT_TRUE(comes_true([&] { return run_their_streams(ranks); }));
  }
  std::vector<std::unique_ptr<NetworkHold>> holds;
  std::set<ino_t> networks, ports;
  for (const pid_t rank : ranks) {
    holds.push_back(std::make_unique<NetworkHold>(rank));
    networks.insert(holds.back()->network());
    for (const ListeningPort& port : ports_of(rank)) ports.insert(port.inode);
  }
  if (testbed && !fault.at_once) {
    EXPECT_EQ(networks.size(), std::size_t{kRanks});
  }
  if (!fault.at_once) {
    EXPECT_EQ(ports.size(), std::size_t{kRanks});
  }
  networks.erase(NetworkHold(getpid()).network());
  const auto struck = std::chrono::steady_clock::now();
  kill(ranks[1], fault.signal);
  const std::string said = runner.said();
  EXPECT_LT(std::chrono::steady_clock::now() - struck, kLongestWait);
  EXPECT_TRUE(said.starts_with(std::string("rank 1 ") + fault.words)) << said;
  // No process is left, not even an orphan, and no port and no network.
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  const std::set<ino_t> listening = listening_in_network(), used = networks_in_use();
  for (const ino_t port : ports) EXPECT_FALSE(listening.contains(port));
  for (const ino_t network : networks) EXPECT_FALSE(used.contains(network));
}

const std::vector<Fault> kFaults = {{SIGKILL, false, "ended by signal 9"},
                                    {SIGSTOP, false, "has stopped: it gave no sign for 3.5 s"},
                                    {SIGSTOP, true, ""}};

TEST(ExecutePlanFaults, TheRankIsNamedAndNothingIsLeft) {
  for (const Fault& fault : kFaults) expect_named_and_nothing_left(false, fault);
}

TEST(ExecutePlanFaults, NorInATestbed) {
  const std::string why_not = why_no_testbed();
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  for (const Fault& fault : kFaults) expect_named_and_nothing_left(true, fault);
}

// Connects to the loopback address, sends the words, and waits until it is disconnected.
bool is_sent_away(int port, const std::string& words) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int stranger = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(stranger, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return false;
  ::send(stranger, words.data(), words.size(), MSG_NOSIGNAL);
  const timeval limit = {kLongestWait.count(), 0};
  setsockopt(stranger, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char answer = 0;
  const ssize_t count = ::recv(stranger, &answer, 1, 0);
  const bool away = count == 0 || (count < 0 && errno == ECONNRESET);
  close(stranger);
  return away;
}

// Returns the output of a run of this many seconds to which strangers connect, or nothing if the
// run is too short for them.
std::optional<std::string> said_of_strangers(double seconds) {
  Runner runner([seconds] {
    const PlanRun execution =
        execute_plan(waiting_plan(seconds), small_cluster(1, kRanks), waiting_options(false));
    return fmt::format("{} strangers", execution.strangers);
  });
  const std::vector<pid_t> ranks = runner.ranks(kRanks);
  comes_true([&] { return run_their_streams(ranks) || runner.has_spoken(); });
  const std::set<ListeningPort> ports = ports_of(ranks[0]);
  bool away = true;
  for (const ListeningPort& port : ports) {
    EXPECT_EQ(port.address, "0100007F");  // 127.0.0.1, as the kernel prints it
    away = is_sent_away(port.port, "GET / HTTP/1.0\r\n\r\n") && away;
    away = is_sent_away(port.port, "") && away;
    away = is_sent_away(port.port, std::string(100'000, '\xff')) && away;
  }
  const bool in_time = !runner.has_spoken();
  const std::string said = runner.said();
  if (!in_time) return {};
  EXPECT_TRUE(away);
  EXPECT_EQ(ports.size(), std::size_t{kRanks});
  return said;
}

// Ranks listen on the loopback address only, and bytes that strangers send there do no harm.
TEST(ExecutePlanFaults, StrangersAreSentAwayAndCounted) {
  std::optional<std::string> said;
  for (const double seconds : {1.0, 5.0, 60.0}) {
    said = said_of_strangers(seconds);
    if (said) break;
  }
  EXPECT_EQ(said, "9 strangers");
}

}  // namespace
}  // namespace windtunnel
