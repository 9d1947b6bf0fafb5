// Processes of one machine that are joined by TCP over the loopback: what stands for GPUs and their
// network where there are none. Rank 0 is the calling process, the others are forked from it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>  // Boost.Asio 1.74 forgets it

namespace windtunnel {

class TcpGroup {
 public:
  ~TcpGroup();
  TcpGroup(TcpGroup&&) noexcept;

  int rank() const;
  int ranks() const;
  // Both at once; either may be empty. Throws Error when a connection breaks.
  void exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in);
  void send(int to, std::span<const std::byte> out) { exchange(to, out, to, {}); }
  void receive(int from, std::span<std::byte> in) { exchange(from, {}, from, in); }
  void barrier();

 private:
  friend void run_ranks(int ranks, const std::function<void(TcpGroup&)>& body);
  struct Connections;
  explicit TcpGroup(std::unique_ptr<Connections> connections);
  std::unique_ptr<Connections> connections_;
};

// `body` runs in every process, and each ends with it; no other thread may run meanwhile. Throws
// Error when one of them fails: its own message, on rank 0's side.
void run_ranks(int ranks, const std::function<void(TcpGroup&)>& body);

}  // namespace windtunnel
