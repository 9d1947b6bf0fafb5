#include "validate/harness/execute/rank_wire.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "validate/harness/execute/run_clock.hpp"
#include "validate/harness/ranks/tcp_group.hpp"

namespace windtunnel {
namespace {

[[noreturn]] void lose(int rank, int other, const char* why) {
  throw ConnectionLost(fmt::format("rank {}: connection to rank {}: {}", rank, other, why),
                       ExitCode::failed);
}

}  // namespace

RankWire::RankWire(int rank, MetRanks met, bool network)
    : rank_(rank),
      network_(network),
      met_(std::move(met)),
      incoming_(sockets_.size()),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(wake_ >= 0, "{}", std::strerror(errno));
  const int buffer_bytes = network ? kNetworkBuffer : kLoopbackBuffer;
  for (const int socket : sockets_) {
    send_.push_back(std::make_unique<std::mutex>());
    if (socket < 0) continue;
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK);
    setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
    windtunnel::send_at_once(socket);
  }
}

RankWire::~RankWire() {
  for (const int socket : sockets_) {
    if (socket >= 0) close(socket);
  }
  if (met_.listener >= 0) close(met_.listener);
  close(wake_);
}

void RankWire::send(int to, FrameHead head, std::span<const std::byte> payload) {
  head.size_bytes = payload.size();
  const std::lock_guard lock(*send_[to]);
  std::array<iovec, 2> parts = {
      iovec{&head, sizeof head},
      iovec{const_cast<std::byte*>(payload.data()), payload.size()}};  // sendmsg() only reads
  std::size_t left = sizeof head + payload.size();
  while (left > 0) {
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = sendmsg(sockets_[to], &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) lose(rank_, to, std::strerror(errno));
    auto done = static_cast<std::size_t>(sent);
    left -= done;
    for (iovec& part : parts) {
      const std::size_t of_part = std::min(done, part.iov_len);
      part.iov_base = static_cast<std::byte*>(part.iov_base) + of_part;
      part.iov_len -= of_part;
      done -= of_part;
    }
  }
}

bool RankWire::send_at_once(int to, const FrameHead& head) {
  const std::unique_lock lock(*send_[to], std::try_to_lock);
  // A socket that is writable has room for far more than a head.
  pollfd room = {sockets_[to], POLLOUT, 0};
  if (!lock || poll(&room, 1, 0) <= 0) return false;
  const ssize_t sent = ::send(sockets_[to], &head, sizeof head, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) lose(rank_, to, std::strerror(errno));
  CHECK(sent <= 0 || sent == sizeof head, "{} bytes of a frame's head are sent", sent);
  return sent > 0;
}

void RankWire::wait_until_sent(int to) const {
  constexpr timespec kLookAgain = {0, 200'000};
  for (int bytes = 1; ioctl(sockets_[to], SIOCOUTQ, &bytes) == 0 && bytes > 0;) {
    nanosleep(&kLookAgain, nullptr);
  }
}

void RankWire::wake() {
  eventfd_write(wake_, 1);
}

bool RankWire::receive_until(std::int64_t until_ns, const OnFrame& on_frame) {
  // poll() ignores negative descriptors.
  std::vector<pollfd> waits = {{wake_, POLLIN, 0}, {met_.listener, POLLIN, 0}};
  std::vector<int> ranks = {-1, -1};
  for (std::size_t other = 0; other < sockets_.size(); ++other) {
    if (sockets_[other] < 0) continue;
    waits.push_back({sockets_[other], POLLIN, 0});
    ranks.push_back(static_cast<int>(other));
  }
  const std::int64_t left = std::max<std::int64_t>(0, until_ns - RunClock::monotonic_ns());
  const timespec timeout = {left / 1'000'000'000, left % 1'000'000'000};
  const int ready = ppoll(waits.data(), waits.size(), &timeout, nullptr);
  CHECK(ready >= 0 || errno == EINTR, "{}", std::strerror(errno));
  if (ready <= 0) return false;
  if (waits[0].revents != 0) {
    eventfd_t count = 0;
    eventfd_read(wake_, &count);
  }
  if (waits[1].revents != 0) send_strangers_away();
  bool any = false;
  for (std::size_t i = 2; i < waits.size(); ++i) {
    if (waits[i].revents == 0) continue;
    drain(ranks[i], on_frame);
    constexpr int kNow = 1;
    if (network_) setsockopt(waits[i].fd, IPPROTO_TCP, TCP_QUICKACK, &kNow, sizeof kNow);
    any = true;
  }
  return any;
}

void RankWire::send_strangers_away() {
  // Further processes wait for the next call, so that they do not delay the run's own data.
  for (int left = kStrangersAtOnce; left > 0; --left) {
    const int stranger = accept(met_.listener, nullptr, nullptr);
    if (stranger < 0) return;
    close(stranger);
    ++met_.strangers;
  }
}

bool RankWire::fill(int from, std::byte* to, std::size_t size_bytes, std::size_t& got) {
  while (got < size_bytes) {
    const ssize_t count = recv(sockets_[from], to + got, size_bytes - got, MSG_DONTWAIT);
    if (count > 0) {
      got += static_cast<std::size_t>(count);
    } else if (count == 0) {
      lose(rank_, from, "closed by the other side");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return false;
    } else if (errno != EINTR) {
      lose(rank_, from, std::strerror(errno));
    }
  }
  return true;
}

void RankWire::drain(int from, const OnFrame& on_frame) {
  Incoming& in = incoming_[from];
  for (;;) {
    if (!fill(from, reinterpret_cast<std::byte*>(&in.head), sizeof in.head, in.head_bytes)) return;
    in.payload.resize(in.head.size_bytes);
    if (!fill(from, in.payload.data(), in.payload.size(), in.payload_bytes)) return;
    on_frame(from, in.head, std::exchange(in.payload, {}));
    in.head_bytes = 0;
    in.payload_bytes = 0;
  }
}

}  // namespace windtunnel
