#include "validate/harness/ranks/tcp_group.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "models/base/error.hpp"
#include "validate/harness/ranks/rank_watch.hpp"
#include "validate/harness/ranks/rank_welcome.hpp"

namespace windtunnel {
namespace {

// Returns a port that is free now: it was bound and released.
int free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(descriptor, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(descriptor);
  return ntohs(address.sin_port);
}

RankPlace place(int rank, int ranks, int port, const std::string& job = "") {
  return {rank, ranks, "127.0.0.1", port, job};
}

// Returns the final message of each process, "" if it succeeded. Processes know only their places,
// as if a launcher had started them.
std::vector<std::string> told(const std::vector<RankPlace>& places, double timeout_s,
                              const std::function<void(TcpGroup&)>& body) {
  std::vector<std::array<int, 2>> pipes(places.size());
  std::vector<pid_t> processes;
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(pipe(pipes[i].data()), 0);
    processes.push_back(fork());
    if (processes.back() != 0) continue;
    std::string said;
    try {
      run_place(places[i], timeout_s, body);
    } catch (const std::exception& error) {
      said = error.what();
    }
    const ssize_t written = write(pipes[i][1], said.data(), said.size());
    _exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  std::vector<std::string> all;
  for (size_t i = 0; i < places.size(); ++i) {
    close(pipes[i][1]);
    std::string said(1000, '\0');
    const ssize_t length = read(pipes[i][0], said.data(), said.size());
    close(pipes[i][0]);
    int status = 0;
    waitpid(processes[i], &status, 0);
    EXPECT_EQ(status, 0);
    all.push_back(said.substr(0, static_cast<size_t>(std::max<ssize_t>(length, 0))));
  }
  return all;
}

// Each rank sends its number to each other rank.
void greet_all(TcpGroup& group) {
  for (int other = 0; other < group.ranks(); ++other) {
    if (other == group.rank()) continue;
    const std::array out = {static_cast<std::byte>(group.rank())};
    std::array in = {std::byte{255}};
    group.exchange(other, out, other, in);
    if (in[0] != static_cast<std::byte>(other)) throw Error("another rank's word");
  }
}

void expect_says(const std::string& said, const std::string& words) {
  EXPECT_NE(said.find(words), std::string::npos) << "'" << said << "'";
}

TEST(TcpGroup, LaunchedRanksFindEachOther) {
  for (const int ranks : {1, 2, 5}) {
    std::vector<RankPlace> places;
    const int port = free_port();
    // Rank 0 comes last.
    for (int rank = ranks - 1; rank >= 0; --rank) places.push_back(place(rank, ranks, port, "j"));
    for (const std::string& said : told(places, 20, greet_all)) EXPECT_EQ(said, "");
  }
}

// Messages are sent in pieces; a long one in one direction meets a short one in the other.
TEST(TcpGroup, LongAndShortMessagesMeet) {
  run_ranks(3, [](TcpGroup& group) {
    const int right = (group.rank() + 1) % 3;
    const int left = (group.rank() + 2) % 3;
    for (const std::size_t size : {std::size_t{1}, std::size_t{131072}, std::size_t{1000003}}) {
      const auto of = [&](int rank) {
        return std::vector<std::byte>(rank == 0 ? size : 5, std::byte(rank + 1));
      };
      std::vector<std::byte> in(of(left).size());
      group.exchange(right, of(group.rank()), left, in);
      if (in != of(left)) throw Error("another message came");
      if (group.scratch(size).size() != size) throw Error("no scratch");
    }
  });
}

TEST(TcpGroup, MissingRanksAreNamed) {
  const int port = free_port();
  const auto said = told({place(0, 4, port), place(2, 4, port)}, 0.5, greet_all);
  expect_says(said[0], "ranks 1, 3 of 4 did not connect to 127.0.0.1");
  expect_says(said[1], "rank 2: ranks 1, 3 of 4 did not connect");
}

TEST(TcpGroup, NobodyListens) {
  const auto said = told({place(1, 2, free_port())}, 0.3, greet_all);
  expect_says(said[0], "rank 1: rank 0 did not answer at 127.0.0.1");
  RankPlace nowhere = place(1, 2, 29500);
  nowhere.host = "no-such-host.invalid";
  expect_says(told({nowhere}, 0.3, greet_all)[0], "'no-such-host.invalid' of rank 0 is unknown");
}

TEST(TcpGroup, RanksThatDisagreeAboutTheSize) {
  const int port = free_port();
  const auto said = told({place(0, 2, port), place(1, 3, port)}, 10, greet_all);
  for (const std::string& each : said)
    expect_says(each, "was started with 3 ranks, but rank 0 with 2");
}

TEST(TcpGroup, TwoJobsAtOnePort) {
  const int port = free_port();
  // Rank 0 of the second job cannot listen.
  const int taken = free_port();
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(taken));
  ASSERT_EQ(bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(descriptor, 1), 0);
  expect_says(told({place(0, 2, taken)}, 1, greet_all)[0], "of this host is taken");
  close(descriptor);
  // Rank 1 of the second job is turned away, and the first job continues.
  const auto said = told({place(0, 2, port, "first"), place(1, 2, port, "second")}, 1, greet_all);
  expect_says(said[0], "rank 1 of 2 did not connect");
  expect_says(said[1], "rank 0 of another job listens");
  const auto all =
      told({place(1, 2, port, "second"), place(0, 2, port, "first"), place(1, 2, port, "first")},
           10, greet_all);
  EXPECT_EQ(all[1], "");
  EXPECT_EQ(all[2], "");
  // Jobs without names are distinguished because a rank comes twice.
  const auto twice = told({place(0, 3, port), place(1, 3, port), place(1, 3, port)}, 10, greet_all);
  expect_says(twice[0], "rank 1 connected twice");
}

// A stranger that sends other bytes delays no rank.
TEST(TcpGroup, StrangersAreIgnored) {
  const int port = free_port();
  const pid_t stranger = fork();
  if (stranger == 0) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int tries = 0; tries < 200; ++tries) {
      const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
      if (connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
        const std::string request = "GET / HTTP/1.0\r\nHost: everything that is asked for\r\n\r\n";
        _exit(send(descriptor, request.data(), request.size(), MSG_NOSIGNAL) > 0 ? 0 : 2);
      }
      close(descriptor);
      usleep(10000);
    }
    _exit(1);
  }
  RankPlace late = place(1, 2, port);
  const auto said = told({place(0, 2, port), late}, 20, greet_all);
  EXPECT_EQ(said, std::vector<std::string>(2));
  int status = 0;
  waitpid(stranger, &status, 0);
}

// Returns a connected socket, which waits up to a minute for an answer.
int knock_at(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const timeval limit = {60, 0};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return descriptor;
}

// If too many strangers stay silent, the first of them is disconnected long before its time is
// over.
TEST(RankWelcome, HearsAFewStrangersAtOnce) {
  const int port = free_port();
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listening, 128), 0);
  Hello own;
  own.job = 7;
  MetRanks met;
  met.sockets = {-1, -1};
  const auto begin = std::chrono::steady_clock::now();
  std::jthread welcome(
      [&] { welcome_ranks(own, listening, begin + std::chrono::minutes(1), met); });
  std::vector<int> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(knock_at(port));
  char answer = 0;
  EXPECT_EQ(recv(strangers.front(), &answer, 1, 0), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::duration<double>(kHelloS));
  Hello hello = own;
  hello.rank = 1;
  const int rank = knock_at(port);
  EXPECT_EQ(send(rank, &hello, sizeof hello, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof hello));
  welcome.join();
  EXPECT_GE(met.sockets[1], 0);
  EXPECT_EQ(met.strangers, 100);
  for (const int each : strangers) close(each);
  for (const int each : {rank, met.sockets[1], listening}) close(each);
}

// The pipe closes when the last process that holds it ends: rank 1, which no broken connection
// ends.
TEST(TcpGroup, ForkedRanksEndWithRankZero) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t first = fork();
  if (first == 0) {
    run_ranks(2, [](TcpGroup& group) {
      group.barrier();
      if (group.rank() == 0) std::raise(SIGKILL);
      sleep(30);
    });
    _exit(0);
  }
  close(ends[1]);
  pollfd end = {ends[0], POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 10000), 1);
  EXPECT_NE(end.revents & POLLHUP, 0);
  close(ends[0]);
  int status = 0;
  waitpid(first, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

// Behaves like an NCCL kernel: only the hook ends it, not a broken connection.
class Wait {
 public:
  explicit Wait(RankWatch* watch) : hook_(watch, [this] { end(); }) {}
  bool ended_within(double seconds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return ended_; });
  }

 private:
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  FailureHook hook_;
};

// Returns the message of the Error that run_ranks() throws, and expects it within `seconds`.
std::string fault_of(int ranks, double seconds, const std::function<void(TcpGroup&)>& body) {
  const auto start = std::chrono::steady_clock::now();
  std::string said;
  try {
    run_ranks(ranks, body);
  } catch (const Error& error) {
    said = error.what();
  }
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
            seconds);
  return said;
}

[[noreturn]] void wait_for_ever() {
  while (true) pause();
}

TEST(TcpGroup, AFailedRankEndsWhatRankZeroWaitsIn) {
  for (const bool killed : {false, true}) {
    const std::string said = fault_of(2, 4, [&](TcpGroup& group) {
      group.barrier();
      if (group.rank() == 1) {
        if (killed) std::raise(SIGKILL);
        throw Error("out of cheese");
      }
      if (!Wait(group.watch()).ended_within(10)) throw Error("nobody ended it");
      throw Error("ended");
    });
    EXPECT_EQ(said, killed ? "rank 1: ended by signal 9" : "rank 1: out of cheese");
  }
}

// No connection tells rank 2 of the failure.
TEST(TcpGroup, RanksThatDoNotNoticeAFailureAreEnded) {
  const std::string said = fault_of(3, 9, [](TcpGroup& group) {
    group.barrier();
    if (group.rank() == 1) throw Error("out of cheese");
    if (group.rank() == 2) wait_for_ever();
    if (!Wait(group.watch()).ended_within(20)) throw Error("nobody ended it");
    std::array<std::byte, 1> word = {};
    group.receive(2, word);
  });
  EXPECT_EQ(said, "rank 1: out of cheese");
  EXPECT_EQ(fault_of(2, 9,
                     [](TcpGroup& group) {
                       if (group.rank() == 1) wait_for_ever();
                       throw Error("out of wine");
                     }),
            "out of wine");
}

ForkedRank forked(const std::function<void()>& body) {
  std::array<int, 2> ends = {};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    body();
    _exit(0);
  }
  close(ends[1]);
  return {process, ends[0]};
}

TEST(RankWatch, ARankThatEndsWellIsNoFailure) {
  const ForkedRank well = forked([] {});
  const ForkedRank other = forked(wait_for_ever);
  RankWatch watch({well, other});
  Wait wait(&watch);
  EXPECT_FALSE(wait.ended_within(0.3));
  kill(other.process, SIGTERM);
  EXPECT_TRUE(wait.ended_within(10));
  EXPECT_TRUE(Wait(&watch).ended_within(0));  // a later hook ends at once
  watch.end(false);
  for (const ForkedRank& rank : {well, other}) {
    EXPECT_FALSE(watch.killed(rank.process));
    EXPECT_EQ(waitpid(rank.process, nullptr, 0), rank.process);  // not yet waited for
    close(rank.pipe);
  }
}

TEST(TcpGroup, ALaunchedRanksFailureIsItsOwn) {
  const int port = free_port();
  const auto said = told({place(0, 2, port), place(1, 2, port)}, 10, [](TcpGroup& group) {
    if (group.rank() == 1) throw Error("out of cheese");
    group.barrier();
  });
  EXPECT_EQ(said[1], "rank 1: out of cheese");
  expect_says(said[0], "exchange with rank");
}

}  // namespace
}  // namespace windtunnel
