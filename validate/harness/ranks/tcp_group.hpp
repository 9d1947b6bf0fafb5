// Processes that are joined by TCP, each with each: forked from this one, over the loopback, or
// started by a launcher on this and other hosts. What stands for GPUs and their network where there
// are none, and hands out what NCCL needs to begin where there are some.
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

// Ranks that talk to each other, as a collective sees them: all processes of a group, or the
// members of one group of a Plan.

class Peers {
 public:
  virtual ~Peers() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  // Both at once; either may be empty. Throws Error when a connection breaks.
  virtual void exchange(int to, std::span<const std::byte> out, int from,
                        std::span<std::byte> in) = 0;
  // Memory of the group's, for what is on its way; its content is gone with the next call. Fresh
  // memory for each message would cost more than the message.
  virtual std::span<std::byte> scratch(std::size_t size_bytes) = 0;

  void send(int to, std::span<const std::byte> out) { exchange(to, out, to, {}); }
  void receive(int from, std::span<std::byte> in) { exchange(from, {}, from, in); }
};

// What all ranks of a group throw alike, so that each knows that the others do.
class AgreedFault : public Error {
 public:
  using Error::Error;
};

// Follows from the fault of another rank, which has more to say.
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
  // On rank 0 of forked ranks, for FailureHook; else nullptr.
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

// Of processes that have met (rank_sockets.hpp), which are watched by others.
TcpGroup joined_group(int rank, const RankSockets& sockets);

// `body` runs in every process, rank 0 being the calling one, and each other ends with it; no other
// thread may run when they begin. Throws Error when one of them fails: its own message, on rank 0's
// side, once all have ended or been ended.
void run_ranks(int ranks, const std::function<void(TcpGroup&)>& body);

// `body` runs in the calling process, which is one of those that a launcher started. They find each
// other where rank 0 listens. Throws Error when they are not all there in time, or do not belong
// together: two jobs at one port, ranks that are told different sizes.
void run_place(const RankPlace& place, double timeout_s,
               const std::function<void(TcpGroup&)>& body);

}  // namespace windtunnel
