// Processes connected by TCP, each with each: forked from this one over the loopback, or started by
// a launcher on this and other hosts. They replace GPUs and their network where there are none, and
// distribute what NCCL needs to start where there are GPUs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>  // Boost.Asio 1.74 forgets it

#include "models/base/error.hpp"
#include "validate/harness/ranks/rank_place.hpp"
#include "validate/harness/ranks/rank_sockets.hpp"

namespace windtunnel {

// A collective runs among these ranks: all processes of a group, or one group of a Plan.
class Peers {
 public:
  virtual ~Peers() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  // Sends and receives at the same time; either may be empty. Throws Error if a connection breaks.
  virtual void exchange(int to, std::span<const std::byte> out, int from,
                        std::span<std::byte> in) = 0;
  // Memory of the group for data in transit; the next call overwrites it. Allocating memory for
  // each message would cost more than the message.
  virtual std::span<std::byte> scratch(std::size_t size_bytes) = 0;

  void send(int to, std::span<const std::byte> out) { exchange(to, out, to, {}); }
  void receive(int from, std::span<std::byte> in) { exchange(from, {}, from, in); }
};

// Thrown by all ranks of a group together, so that each knows that the others throw it.
class AgreedFault : public Error {
 public:
  using Error::Error;
};

// A consequence of another rank's fault, whose message says more.
class ConnectionLost : public Error {
 public:
  using Error::Error;
};

class RankWatch;

class TcpGroup : public Peers {
 public:
  ~TcpGroup() override;
  TcpGroup(TcpGroup&&) noexcept;

  int rank() const override;
  int ranks() const override;
  void exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in) override;
  void barrier();
  // Set on rank 0 of forked ranks, for FailureHook; otherwise nullptr.
  RankWatch* watch() const;
  std::span<std::byte> scratch(std::size_t size_bytes) override;

 private:
  friend void run_ranks(int ranks, const std::function<void(TcpGroup&)>& body);
  friend void run_place(const RankPlace& place, double timeout_s,
                        const std::function<void(TcpGroup&)>& body);
  friend TcpGroup joined_group(int rank, const RankSockets& sockets);
  struct Connections;
  explicit TcpGroup(std::unique_ptr<Connections> connections);
  std::unique_ptr<Connections> connections_;
};

// Makes a group of processes that are already connected (rank_sockets.hpp) and that others watch.
TcpGroup joined_group(int rank, const RankSockets& sockets);

// Runs `body` in every process; rank 0 is the calling one, and the others end afterwards. The
// calling process must have no other thread. If a rank fails, throws its message as Error on rank 0
// once all have ended.
void run_ranks(int ranks, const std::function<void(TcpGroup&)>& body);

// Runs `body` in the calling process, which a launcher started together with others. They connect
// where rank 0 listens. Throws Error if ranks are missing at the timeout, or do not belong
// together: two jobs at one port, or ranks with different sizes.
void run_place(const RankPlace& place, double timeout_s,
               const std::function<void(TcpGroup&)>& body);

}  // namespace windtunnel
