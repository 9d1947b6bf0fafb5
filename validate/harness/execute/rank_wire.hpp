// Sends and receives frames over one TCP connection per pair of ranks. Any thread of the rank may
// send. One thread, its event loop, always receives, so that no sender waits for a reader that
// itself waits. A frame states when its bytes have passed the scenario's links; they may not be
// used before. Unknown processes that connect are rejected and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "validate/harness/ranks/rank_sockets.hpp"

namespace windtunnel {

// Size of a socket's buffer in each direction: on the loopback, and on a rate-limited network,
// where it is only large enough to keep the network busy, so that a send ends about when its bytes
// have left.
inline constexpr int kLoopbackBuffer = 1 << 20;
inline constexpr int kNetworkBuffer = 1 << 19;

// Channels besides the groups of the Plan, which are numbered from 0.
inline constexpr std::int32_t kMessageChannel = -1;  // pieces of a send
inline constexpr std::int32_t kPaddingChannel = -3;  // bytes that only occupy the links
// Tells a synchronous send that its receive is posted.
inline constexpr std::int32_t kPostedChannel = -2;

struct FrameHead {
  std::int32_t channel = kMessageChannel;
  std::int32_t sequence = 0;  // for a collective
  std::int64_t tag = 0;       // for a message
  double due_s = 0;           // in the scenario
  std::uint64_t size_bytes = 0;
  std::uint64_t last = 1;  // 1: the last piece of the message
};

class RankWire {
 public:
  using OnFrame = std::function<void(int from, const FrameHead& head, std::vector<std::byte>)>;

  // With `network`, a network limits the rates itself, and a send ends when its bytes are
  // acknowledged. Data is then acknowledged at once; otherwise TCP would wait 40 ms for data with
  // which to combine the acknowledgement.
  RankWire(int rank, MetRanks met, bool network = false);
  ~RankWire();
  RankWire(const RankWire&) = delete;
  RankWire& operator=(const RankWire&) = delete;

  int rank() const { return rank_; }
  // Throws Error (failed) if the connection breaks.
  void send(int to, FrameHead head, std::span<const std::byte> payload);
  // Sends a head without payload, without ever blocking: returns false if it would block, and sends
  // nothing.
  bool send_at_once(int to, const FrameHead& head);
  // Waits until the other side's system has received all that was sent to it.
  void wait_until_sent(int to) const;
  // Waits for frames until the time on CLOCK_MONOTONIC, or until wake(), and passes complete ones
  // to `on_frame`. Returns whether any bytes came. Throws ConnectionLost if another rank has left.
  bool receive_until(std::int64_t until_ns, const OnFrame& on_frame);
  void wake();
  int strangers() const { return met_.strangers; }  // so far

 private:
  struct Incoming {
    FrameHead head;
    std::size_t head_bytes = 0;  // received bytes of `head`
    std::vector<std::byte> payload;
    std::size_t payload_bytes = 0;
  };

  void send_strangers_away();
  void drain(int from, const OnFrame& on_frame);
  bool fill(int from, std::byte* to, std::size_t size_bytes, std::size_t& got);

  int rank_;
  bool network_;
  MetRanks met_;
  const RankSockets& sockets_ = met_.sockets;
  std::vector<Incoming> incoming_;                 // [rank]
  std::vector<std::unique_ptr<std::mutex>> send_;  // [rank]
  int wake_ = -1;                                  // eventfd
};

}  // namespace windtunnel
