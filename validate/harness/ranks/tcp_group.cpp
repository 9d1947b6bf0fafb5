#include "validate/harness/ranks/tcp_group.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "validate/harness/ranks/own_core.hpp"
#include "validate/harness/ranks/rank_sockets.hpp"
#include "validate/harness/ranks/rank_watch.hpp"

namespace windtunnel {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using asio::ip::tcp;

constexpr int kFailed = 1;
// A rank with a core of its own spins before it sleeps, as ranks of MPI and NCCL do: on a virtual
// machine a sleeper takes 30 us to wake, most of the time of a short message.
constexpr std::chrono::microseconds kLook{200};
// Size of the pieces in which a message is written, so that one rank reads while caches still hold
// what the other wrote. The system's buffers hold several pieces, and their size does not depend on
// earlier traffic.
constexpr std::size_t kPiece = std::size_t{128} << 10;
constexpr int kBuffer = 1 << 20;
constexpr std::size_t kLongestMessage = 500;  // of the message of a failing rank

// Tunes a connection between processes of this machine, at any of its addresses. Connections to
// other machines keep the system's settings.
void tune(tcp::socket& socket) {
  boost::system::error_code unknown;
  const auto peer = socket.remote_endpoint(unknown);
  if (unknown || peer.address() != socket.local_endpoint(unknown).address() || unknown) return;
  socket.set_option(tcp::socket::send_buffer_size(kBuffer), unknown);
  socket.set_option(tcp::socket::receive_buffer_size(kBuffer), unknown);
  send_unpaced(socket.native_handle());
}

}  // namespace

struct TcpGroup::Connections {
  int rank = 0;
  asio::io_context context;
  std::vector<tcp::socket> sockets;  // [rank] the own one is closed
  std::vector<std::byte> scratch;
  bool own_core = false;
  RankWatch* watch = nullptr;

  void exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in);

  Connections(int own_rank, const RankSockets& descriptors)
      : rank(own_rank), own_core(static_cast<int>(descriptors.size()) <= usable_cores()) {
    for (const int descriptor : descriptors) {
      tcp::socket& socket = sockets.emplace_back(context);
      if (descriptor < 0) continue;
      // The protocol version does not matter for a connected socket.
      socket.assign(tcp::v4(), descriptor);
      socket.set_option(tcp::no_delay(true));
      tune(socket);
    }
  }
};

void TcpGroup::Connections::exchange(int to, std::span<const std::byte> out, int from,
                                     std::span<std::byte> in) {
  boost::system::error_code fault;
  const auto note = [&](boost::system::error_code error, std::size_t /*bytes*/) {
    if (!error || fault) return;
    fault = error;
    // The other half may wait for a rank that waits for this one.
    for (tcp::socket& socket : sockets) socket.close(error);
  };
  const auto rest = [](boost::system::error_code error, std::size_t /*done*/) {
    return error ? 0 : kPiece;
  };
  context.restart();
  if (!out.empty()) {
    asio::async_write(sockets[static_cast<size_t>(to)], asio::buffer(out.data(), out.size()), rest,
                      note);
  }
  if (!in.empty()) {
    asio::async_read(sockets[static_cast<size_t>(from)], asio::buffer(in.data(), in.size()), rest,
                     note);
  }
  const auto look = own_core ? kLook : kLook.zero();
  for (auto until = Clock::now() + look; !context.stopped() && Clock::now() < until;) {
    if (context.poll() > 0) until = Clock::now() + look;
  }
  context.run();
  if (fault) {
    throw ConnectionLost(
        fmt::format("rank {}: exchange with ranks {} and {}: {}", rank, to, from, fault.message()),
        ExitCode::failed);
  }
}

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
RankWatch* TcpGroup::watch() const {
  return connections_->watch;
}

void TcpGroup::exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in) {
  while (out.size() > kPiece || in.size() > kPiece) {
    const std::size_t sent = std::min(out.size(), kPiece);
    const std::size_t got = std::min(in.size(), kPiece);
    connections_->exchange(to, out.first(sent), from, in.first(got));
    out = out.subspan(sent);
    in = in.subspan(got);
  }
  connections_->exchange(to, out, from, in);
}

std::span<std::byte> TcpGroup::scratch(std::size_t size_bytes) {
  std::vector<std::byte>& memory = connections_->scratch;
  if (memory.size() < size_bytes) memory.resize(size_bytes);
  return {memory.data(), size_bytes};
}

// A round trip to rank 0.
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

// How a rank ended.
struct Ending {
  bool failed = false;
  bool follows = false;  // because of another rank's fault
  std::string message = {};
  std::exception_ptr thrown = {};  // in this process
};

constexpr char kOwn = 'o';
constexpr char kFollows = 'f';

// Writes the ending to a pipe and ends the process; writes nothing on success.
[[noreturn]] void end_child(int pipe, const Ending& ending) {
  if (!ending.failed) _exit(0);
  const std::string told =
      (ending.follows ? kFollows : kOwn) + ending.message.substr(0, kLongestMessage);
  const ssize_t written = write(pipe, told.data(), told.size());
  // _exit() avoids the parent's destructors and buffers.
  _exit(written < 0 ? kFailed + 1 : kFailed);
}

[[noreturn]] void refuse_process(int rank, int ranks) {
  throw Error(fmt::format("cannot start a process for rank {} of {}: {}; take fewer ranks", rank,
                          ranks, std::strerror(errno)),
              ExitCode::failed);
}

Ending ended(const ForkedRank& child, bool killed) {
  std::string told(kLongestMessage + 1, '\0');
  const ssize_t length = read(child.pipe, told.data(), told.size());
  close(child.pipe);
  int status = 0;
  waitpid(child.process, &status, 0);
  Ending ending;
  ending.failed = status != 0;
  if (length > 0) {
    ending.message = told.substr(1, static_cast<size_t>(length) - 1);
    ending.follows = told[0] == kFollows;
  } else if (WIFSIGNALED(status)) {
    ending.message = fmt::format("ended by signal {}", WTERMSIG(status));
    ending.follows = killed;
  } else if (status != 0) {
    ending.message = "ended without a message";
  }
  return ending;
}

}  // namespace

TcpGroup joined_group(int rank, const RankSockets& sockets) {
  return TcpGroup(std::make_unique<TcpGroup::Connections>(rank, sockets));
}

void run_ranks(int ranks, const std::function<void(TcpGroup&)>& body) {
  CHECK(ranks >= 1, "{} ranks", ranks);
  const ForkedRanks ports(ranks);
  const auto run = [&](int rank, RankWatch* watch) -> Ending {
    try {
      const MetRanks met = ports.connect(rank);
      close(met.listener);
      TcpGroup group(std::make_unique<TcpGroup::Connections>(rank, met.sockets));
      group.connections_->watch = watch;
      body(group);
      group.barrier();  // no rank leaves while another still sends
      return {};
    } catch (const AgreedFault& error) {
      return {true, true, error.what(), std::current_exception()};
    } catch (const ConnectionLost& error) {
      return {true, true, error.what(), std::current_exception()};
    } catch (const std::exception& error) {
      return {true, false, error.what(), std::current_exception()};
    }
  };
  // Each process would write the unwritten output again.
  std::fflush(nullptr);
  std::vector<ForkedRank> children;
  for (int rank = 1; rank < ranks; ++rank) {
    std::array<int, 2> ends = {};
    if (pipe(ends.data()) != 0) refuse_process(rank, ranks);
    // If the child waits for rank 0 on a device, no broken connection tells it that rank 0 is gone,
    // so the child is killed with its parent.
    const pid_t process = fork_child();
    if (process < 0) refuse_process(rank, ranks);
    if (process == 0) {
      close(ends[0]);
      end_child(ends[1], run(rank, nullptr));
    }
    close(ends[1]);
    children.push_back({process, ends[0]});
  }
  RankWatch watch(children);
  std::exception_ptr told = run(0, &watch).thrown;
  watch.end(told != nullptr);
  bool own = false;  // some other rank failed by itself
  for (size_t i = 0; i < children.size(); ++i) {
    const Ending ending = ended(children[i], watch.killed(children[i].process));
    if (!ending.failed || own) continue;
    own = !ending.follows;
    // Prefers rank 0's original exception, unless another rank's fault may have caused it.
    if (!own && told != nullptr) continue;
    told = std::make_exception_ptr(
        Error(fmt::format("rank {}: {}", i + 1, ending.message), ExitCode::failed));
  }
  if (told != nullptr) std::rethrow_exception(told);
}

void run_place(const RankPlace& place, double timeout_s,
               const std::function<void(TcpGroup&)>& body) {
  try {
    TcpGroup group(
        std::make_unique<TcpGroup::Connections>(place.rank, find_ranks(place, timeout_s)));
    body(group);
    group.barrier();
  } catch (const AgreedFault&) {
    throw;
  } catch (const ConnectionLost&) {
    throw;
  } catch (const Error& error) {
    if (place.rank == 0) throw;
    throw Error(fmt::format("rank {}: {}", place.rank, error.what()), error.code());
  }
}

}  // namespace windtunnel
