#include "validate/harness/tcp_collectives.hpp"

#include <algorithm>
#include <vector>

namespace windtunnel {
namespace {

std::span<float> part(std::span<float> values, int rank, int ranks) {
  const Part at = part_of(values.size(), rank, ranks);
  return values.subspan(at.begin, at.end - at.begin);
}

void add(std::span<float> sum, std::span<const float> values) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
}

int wrapped(int rank, int ranks) {
  return (rank % ranks + ranks) % ranks;
}

}  // namespace

Part part_of(size_t elements, int rank, int ranks) {
  const auto r = static_cast<size_t>(rank);
  const auto p = static_cast<size_t>(ranks);
  return {elements * r / p, elements * (r + 1) / p};
}

void reduce_scatter_ring(TcpGroup& group, std::span<float> values) {
  const int ranks = group.ranks();
  const int rank = group.rank();
  std::vector<float> received(values.size() / static_cast<size_t>(ranks) + 1);
  // A part starts at the rank behind its owner and comes round to it.
  for (int step = 1; step < ranks; ++step) {
    const std::span<float> out = part(values, wrapped(rank - step, ranks), ranks);
    const std::span<float> sum = part(values, wrapped(rank - step - 1, ranks), ranks);
    const std::span<float> in(received.data(), sum.size());
    group.exchange(wrapped(rank + 1, ranks), std::as_bytes(out), wrapped(rank - 1, ranks),
                   std::as_writable_bytes(in));
    add(sum, in);
  }
}

void all_gather_ring(TcpGroup& group, std::span<float> values) {
  const int ranks = group.ranks();
  const int rank = group.rank();
  for (int step = 0; step + 1 < ranks; ++step) {
    group.exchange(wrapped(rank + 1, ranks),
                   std::as_bytes(part(values, wrapped(rank - step, ranks), ranks)),
                   wrapped(rank - 1, ranks),
                   std::as_writable_bytes(part(values, wrapped(rank - step - 1, ranks), ranks)));
  }
}

void all_reduce_ring(TcpGroup& group, std::span<float> values) {
  reduce_scatter_ring(group, values);
  all_gather_ring(group, values);
}

void all_reduce_tree(TcpGroup& group, std::span<float> values) {
  const int parent = (group.rank() - 1) / 2;
  std::vector<float> received(values.size());
  const int first_child = 2 * group.rank() + 1;
  const int last_child = std::min(first_child + 1, group.ranks() - 1);
  for (int child = first_child; child <= last_child; ++child) {
    group.receive(child, std::as_writable_bytes(std::span<float>(received)));
    add(values, received);
  }
  if (group.rank() > 0) {
    group.send(parent, std::as_bytes(values));
    group.receive(parent, std::as_writable_bytes(values));
  }
  for (int child = first_child; child <= last_child; ++child) {
    group.send(child, std::as_bytes(values));
  }
}

void all_to_all_pairwise(TcpGroup& group, std::span<const float> out, std::span<float> in) {
  const int ranks = group.ranks();
  const int rank = group.rank();
  for (int step = 0; step < ranks; ++step) {
    const int to = wrapped(rank + step, ranks);
    const int from = wrapped(rank - step, ranks);
    const Part sent = part_of(out.size(), to, ranks);
    const std::span<const float> mine = out.subspan(sent.begin, sent.end - sent.begin);
    const std::span<float> theirs = part(in, from, ranks);
    if (step == 0) {
      std::ranges::copy(mine, theirs.begin());
    } else {
      group.exchange(to, std::as_bytes(mine), from, std::as_writable_bytes(theirs));
    }
  }
}

}  // namespace windtunnel
