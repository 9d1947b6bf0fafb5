#include "validate/harness/tcp_group.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "validate/harness/rank_sockets.hpp"

namespace windtunnel {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

using Clock = std::chrono::steady_clock;

constexpr int kFailed = 1;
constexpr double kForkedS = 60;               // within which forked ranks connect
constexpr std::size_t kLongestMessage = 500;  // of a rank that fails

}  // namespace

struct TcpGroup::Connections {
  int rank = 0;
  asio::io_context context;
  std::vector<tcp::socket> sockets;  // by rank; its own is closed

  Connections(int own_rank, const RankSockets& descriptors) : rank(own_rank) {
    for (const int descriptor : descriptors) {
      tcp::socket& socket = sockets.emplace_back(context);
      if (descriptor < 0) continue;
      // Which version of addresses it was opened for tells nothing once it is connected.
      socket.assign(tcp::v4(), descriptor);
      socket.set_option(tcp::no_delay(true));
    }
  }
};

TcpGroup::TcpGroup(std::unique_ptr<Connections> connections)
    : connections_(std::move(connections)) {}
TcpGroup::~TcpGroup() = default;
TcpGroup::TcpGroup(TcpGroup&&) noexcept = default;

int TcpGroup::rank() const {
  return connections_->rank;
}
int TcpGroup::ranks() const {
  return static_cast<int>(connections_->sockets.size());
}

void TcpGroup::exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in) {
  boost::system::error_code fault;
  const auto note = [&fault](boost::system::error_code error, std::size_t /*bytes*/) {
    if (error && !fault) fault = error;
  };
  asio::io_context& context = connections_->context;
  context.restart();
  if (!out.empty()) {
    asio::async_write(connections_->sockets[static_cast<size_t>(to)],
                      asio::buffer(out.data(), out.size()), note);
  }
  if (!in.empty()) {
    asio::async_read(connections_->sockets[static_cast<size_t>(from)],
                     asio::buffer(in.data(), in.size()), note);
  }
  context.run();
  if (fault) {
    throw Error(fmt::format("rank {}: exchange with ranks {} and {}: {}", rank(), to, from,
                            fault.message()),
                ExitCode::failed);
  }
}

// To rank 0 and back.
void TcpGroup::barrier() {
  std::array<std::byte, 1> token = {};
  if (rank() != 0) {
    send(0, token);
    receive(0, token);
    return;
  }
  for (int other = 1; other < ranks(); ++other) receive(other, token);
  for (int other = 1; other < ranks(); ++other) send(other, token);
}

namespace {

// What the process says in a pipe before it ends: nothing where all went well.
[[noreturn]] void end_child(int pipe, const std::string& message) {
  const ssize_t written = write(pipe, message.data(), std::min(message.size(), kLongestMessage));
  // No destructors or buffers of the parent's.
  _exit(message.empty() && written == 0 ? 0 : kFailed);
}

struct Child {
  pid_t process = 0;
  int pipe = -1;
};

std::string ended(const Child& child) {
  std::string message(kLongestMessage, '\0');
  const ssize_t length = read(child.pipe, message.data(), message.size());
  close(child.pipe);
  int status = 0;
  waitpid(child.process, &status, 0);
  if (length > 0) return message.substr(0, static_cast<size_t>(length));
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {}", WTERMSIG(status));
  return status == 0 ? "" : "ended without a word";
}

}  // namespace

void run_ranks(int ranks, const std::function<void(TcpGroup&)>& body) {
  CHECK(ranks >= 1, "{} ranks", ranks);
  const ForkedRanks ports(ranks);
  const auto run = [&](int rank) -> std::string {
    try {
      TcpGroup group(std::make_unique<TcpGroup::Connections>(rank, ports.connect(rank)));
      body(group);
      group.barrier();  // nobody leaves while another still sends
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  };
  // What is not written yet would be written once by each.
  std::fflush(nullptr);
  std::vector<Child> children;
  for (int rank = 1; rank < ranks; ++rank) {
    std::array<int, 2> ends = {};
    if (pipe(ends.data()) != 0) throw Error("no pipe for another process", ExitCode::failed);
    const pid_t process = fork();
    if (process < 0) throw Error("no further process", ExitCode::failed);
    if (process == 0) {
      close(ends[0]);
      end_child(ends[1], run(rank));
    }
    close(ends[1]);
    children.push_back({process, ends[0]});
  }
  std::string fault = run(0);
  for (size_t i = 0; i < children.size(); ++i) {
    const std::string message = ended(children[i]);
    if (!message.empty()) fault = fmt::format("rank {}: {}", i + 1, message);
  }
  if (!fault.empty()) throw Error(fault, ExitCode::failed);
}

void run_place(const RankPlace& place, double timeout_s,
               const std::function<void(TcpGroup&)>& body) {
  try {
    TcpGroup group(
        std::make_unique<TcpGroup::Connections>(place.rank, find_ranks(place, timeout_s)));
    body(group);
    group.barrier();
  } catch (const Error& error) {
    if (place.rank == 0) throw;
    throw Error(fmt::format("rank {}: {}", place.rank, error.what()), error.code());
  }
}

}  // namespace windtunnel
