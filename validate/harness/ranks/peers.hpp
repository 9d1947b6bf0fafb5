// The ranks with which a collective communicates: all processes of a group, or the members of one
// group of a Plan.
#pragma once

#include <cstddef>
#include <span>

namespace windtunnel {

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

}  // namespace windtunnel
