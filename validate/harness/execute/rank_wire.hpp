// What a rank sends to the others and gets from them: frames over one TCP connection for each pair.
// Any thread of the rank may send; one, its event loop, receives, always, so that nobody waits for
// a reader that itself waits. A frame says when its bytes have passed the scenario's links; nobody
// may use them before. Strangers that come to its port are sent away and counted.
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

// What a rank's sockets hold each way, on the loopback; on a network with rates as little as keeps
// it busy, so that a send ends about when its bytes have left.
inline constexpr int kLoopbackBuffer = 1 << 20;
inline constexpr int kNetworkBuffer = 1 << 19;

// Beside groups of the Plan, which are numbered from 0.
inline constexpr std::int32_t kMessageChannel = -1;  // pieces of a send
inline constexpr std::int32_t kPaddingChannel = -3;  // bytes that only occupy the links
inline constexpr std::int32_t kPostedChannel = -2;   // to a synchronous send: its receive is posted

struct FrameHead {
  std::int32_t channel = kMessageChannel;
  std::int32_t sequence = 0;  // of a collective
  std::int64_t tag = 0;       // of a message
  double due_s = 0;           // of the scenario
  std::uint64_t size_bytes = 0;
  std::uint64_t last = 1;  // of the message
};

class RankWire {
 public:
  using OnFrame = std::function<void(int from, const FrameHead& head, std::vector<std::byte>)>;

  // `network`: it has rates of its own. Then what comes is acknowledged at once: TCP would wait
  // 40 ms for something to send along, and a send ends when its bytes are acknowledged.
  RankWire(int rank, MetRanks met, bool network = false);
  ~RankWire();
  RankWire(const RankWire&) = delete;
  RankWire& operator=(const RankWire&) = delete;

  int rank() const { return rank_; }
  // Throws Error (failed) when the connection breaks.
  void send(int to, FrameHead head, std::span<const std::byte> payload);
  // Without a wait, ever: false where it would take one, and nothing is sent. Of no payload.
  bool send_at_once(int to, const FrameHead& head);
  // Until the other side's system has all that was sent to it.
  void wait_until_sent(int to) const;
  // Waits for frames until the time on CLOCK_MONOTONIC, or until wake(), and hands over those that
  // are complete. Whether any bytes came. Throws ConnectionLost when one of the others has left.
  bool receive_until(std::int64_t until_ns, const OnFrame& on_frame);
  void wake();
  int strangers() const { return met_.strangers; }  // so far

 private:
  struct Incoming {
    FrameHead head;
    std::size_t head_bytes = 0;  // of `head` that are there
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
