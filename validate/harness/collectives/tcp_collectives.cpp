#include "validate/harness/collectives/tcp_collectives.hpp"

#include <algorithm>

namespace windtunnel {
namespace {

template <typename Value>
std::span<Value> part(std::span<Value> values, int rank, int ranks) {
  const Part at = part_of(values.size(), rank, ranks);
  return values.subspan(at.begin, at.end - at.begin);
}

std::span<std::byte> part(std::span<std::byte> values, size_t element_bytes, int rank, int ranks) {
  const Part at = part_of(values.size() / element_bytes, rank, ranks);
  return values.subspan(at.begin * element_bytes, (at.end - at.begin) * element_bytes);
}

// sum = a + b; `sum` may be `a` or `b`.
void add(std::span<float> sum, std::span<const float> a, std::span<const float> b) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = a[i] + b[i];
}

std::span<float> scratch_floats(Peers& group, size_t count) {
  return {reinterpret_cast<float*>(group.scratch(count * sizeof(float)).data()), count};
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

void reduce_scatter_ring(Peers& group, std::span<const float> values, std::span<float> own) {
  const int ranks = group.ranks();
  const int rank = group.rank();
  // A part starts at the rank after its owner and ends at the owner.
  std::span<const float> out = part(values, wrapped(rank - 1, ranks), ranks);
  if (ranks == 1) std::ranges::copy(out, own.begin());
  const size_t longest = values.size() / static_cast<size_t>(ranks) + 1;
  const std::span<float> memory = scratch_floats(group, 2 * longest);
  std::span<float> received = memory.first(longest);
  std::span<float> sent = memory.last(longest);
  for (int step = 1; step < ranks; ++step) {
    const std::span<const float> mine = part(values, wrapped(rank - step - 1, ranks), ranks);
    const std::span<float> in = received.first(mine.size());
    group.exchange(wrapped(rank + 1, ranks), std::as_bytes(out), wrapped(rank - 1, ranks),
                   std::as_writable_bytes(in));
    if (step == ranks - 1) {
      add(own, in, mine);
    } else {
      add(in, in, mine);
      std::swap(sent, received);
      out = sent.first(mine.size());
    }
  }
}

void all_gather_ring(Peers& group, std::span<std::byte> values, size_t element_bytes) {
  const int ranks = group.ranks();
  const int rank = group.rank();
  for (int step = 0; step + 1 < ranks; ++step) {
    group.exchange(wrapped(rank + 1, ranks),
                   part(values, element_bytes, wrapped(rank - step, ranks), ranks),
                   wrapped(rank - 1, ranks),
                   part(values, element_bytes, wrapped(rank - step - 1, ranks), ranks));
  }
}

void all_reduce_ring(Peers& group, std::span<float> values) {
  reduce_scatter_ring(group, values, part(values, group.rank(), group.ranks()));
  all_gather_ring(group, std::as_writable_bytes(values), sizeof(float));
}

void all_reduce_tree(Peers& group, std::span<float> values) {
  const int first_child = 2 * group.rank() + 1;
  const int last_child = std::min(first_child + 1, group.ranks() - 1);
  const std::span<float> received =
      scratch_floats(group, first_child <= last_child ? values.size() : 0);
  for (int child = first_child; child <= last_child; ++child) {
    group.receive(child, std::as_writable_bytes(received));
    add(values, values, received);
  }
  if (group.rank() > 0) group.send((group.rank() - 1) / 2, std::as_bytes(values));
  broadcast_tree(group, std::as_writable_bytes(values), 0);
}

void broadcast_tree(Peers& group, std::span<std::byte> values, int root) {
  const int ranks = group.ranks();
  const int place = wrapped(group.rank() - root, ranks);
  if (place > 0) group.receive(wrapped((place - 1) / 2 + root, ranks), values);
  const int first_child = 2 * place + 1;
  for (int child = first_child; child <= std::min(first_child + 1, ranks - 1); ++child) {
    group.send(wrapped(child + root, ranks), values);
  }
}

void all_to_all_pairwise(Peers& group, std::span<const std::byte> out, std::span<std::byte> in) {
  const int ranks = group.ranks();
  const int rank = group.rank();
  for (int step = 0; step < ranks; ++step) {
    const int to = wrapped(rank + step, ranks);
    const int from = wrapped(rank - step, ranks);
    const std::span<const std::byte> mine = part(out, to, ranks);
    const std::span<std::byte> theirs = part(in, from, ranks);
    if (step == 0) {
      std::ranges::copy(mine, theirs.begin());
    } else {
      group.exchange(to, mine, from, theirs);
    }
  }
}

void TcpCollectives::all_reduce(float* values, size_t elements) {
  all_reduce_ring(*group_, {values, elements});
}

void TcpCollectives::reduce_scatter(const float* values, float* part, size_t part_elements) {
  reduce_scatter_ring(*group_, {values, part_elements * static_cast<size_t>(ranks())},
                      {part, part_elements});
}

void TcpCollectives::all_gather(const std::byte* part, std::byte* all, size_t part_bytes) {
  const auto ranks = static_cast<size_t>(group_->ranks());
  std::byte* const own = all + part_bytes * static_cast<size_t>(rank());
  if (part != own) std::copy_n(part, part_bytes, own);
  all_gather_ring(*group_, {all, part_bytes * ranks}, 1);
}

void TcpCollectives::all_to_all(const std::byte* out, std::byte* in, size_t part_bytes) {
  const size_t bytes = part_bytes * static_cast<size_t>(ranks());
  all_to_all_pairwise(*group_, {out, bytes}, {in, bytes});
}

void TcpCollectives::broadcast(std::byte* values, size_t size_bytes, int root) {
  broadcast_tree(*group_, {values, size_bytes}, root);
}

void TcpCollectives::exchange(int to, const std::byte* out, size_t out_bytes, int from,
                              std::byte* in, size_t in_bytes) {
  group_->exchange(to, {out, out_bytes}, from, {in, in_bytes});
}

}  // namespace windtunnel
