// The collectives of a RankRun: rounds over the edges of the simulated algorithm, or the algorithm
// itself on real numbers, whose result is looked at.
#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "validate/harness/collectives/tcp_collectives.hpp"
#include "validate/harness/execute/rank_run.hpp"
#include "validate/harness/ranks/peers.hpp"

namespace windtunnel {

// The members of one group, in one collective, as the algorithms see them.
class GroupPeers : public Peers {
 public:
  GroupPeers(RankRun& run, const CollectiveWork& work, TaskIndex task, double step_latency_s)
      : run_(run), work_(work), task_(task), step_latency_s_(step_latency_s) {}

  int rank() const override { return work_.rank; }
  int ranks() const override { return static_cast<int>(work_.members.size()); }

  void exchange(int to, std::span<const std::byte> out, int from,
                std::span<std::byte> in) override {
    if (!out.empty()) {
      const double payload = static_cast<double>(out.size()) * run_.setup_.scale.bytes;
      send(to, payload * work_.occupied.at(to), out);
    }
    if (in.empty()) return;
    const RankRun::Piece piece = receive(from);
    CHECK(piece.bytes.size() == in.size(), "{} bytes in place of {}", piece.bytes.size(),
          in.size());
    std::ranges::copy(piece.bytes, in.begin());
    run_.clock_.sleep_until(piece.due_s);
  }

  std::span<std::byte> scratch(std::size_t size_bytes) override {
    std::vector<std::byte>& memory = run_.stream_of(task_).scratch;
    if (memory.size() < size_bytes) memory.resize(size_bytes);
    return {memory.data(), size_bytes};
  }

  // Returns when it has passed the links; `occupied` bytes of the scenario.
  double send(int to, double occupied, std::span<const std::byte> out) {
    const RankId other = work_.members[to];
    const auto route = run_.setup_.links->route(run_.own_rank(), other);
    const double end_s = run_.setup_.links->send(route, occupied, run_.clock_.now_s());
    FrameHead head;
    head.channel = run_.group_of(task_);
    head.sequence = run_.task(task_).sequence;
    head.due_s = end_s + step_latency_s_;
    run_.send_frame(other, head, out);
    pad(other, route.empty() ? occupied / run_.setup_.scale.bytes : 0, out.size());
    return head.due_s;
  }

  RankRun::Piece receive(int from) {
    return run_.take_piece({run_.group_of(task_), run_.task(task_).sequence, work_.members[from]},
                           run_.stream_of(task_));
  }

 private:
  // On a real network what occupies the links has to be there.
  void pad(RankId other, double occupied_bytes, std::size_t sent_bytes) {
    const auto whole = static_cast<std::size_t>(occupied_bytes);
    if (whole <= sent_bytes || other == run_.own_rank()) return;
    FrameHead head;
    head.channel = kPaddingChannel;
    run_.send_frame(other, head, std::vector<std::byte>(whole - sent_bytes));
  }

  RankRun& run_;
  const CollectiveWork& work_;
  TaskIndex task_;
  double step_latency_s_;
};

void RankRun::run_collective(TaskIndex t) {
  const CollectiveWork& work = setup_.works[t];
  if (work.members.size() > 1 && work.edge_s <= 0) {
    meet(work, t);
  } else if (!runs_on_numbers(work, setup_.scale.times)) {
    run_rounds(work, t);
  } else {
    run_on_numbers(work, t);
  }
  transfer(t, false);
}

// Nothing starts before all are there.
void RankRun::meet(const CollectiveWork& work, TaskIndex t) {
  GroupPeers peers(*this, work, t, 0);
  const int members = peers.ranks();
  for (int other = 1; work.rank == 0 && other < members; ++other) peers.receive(other);
  for (int other = 1; work.rank == 0 && other < members; ++other) peers.send(other, 0, {});
  if (work.rank != 0) {
    peers.send(0, 0, {});
    peers.receive(0);
  }
  if (work.latency_s > 0) clock_.sleep_until(clock_.now_s() + work.latency_s);
}

void RankRun::run_rounds(const CollectiveWork& work, TaskIndex t) {
  const int members = static_cast<int>(work.members.size());
  if (members == 1) {
    clock_.sleep_until(clock_.now_s() + work.latency_s);
    return;
  }
  const int rounds = executed_rounds(work, setup_.scale.times);
  GroupPeers peers(*this, work, t, work.latency_s / rounds);
  const auto in_round = [&](int distance, int round) {
    return !work.by_turns || (distance - 1) * rounds / (members - 1) == round;
  };
  std::vector<std::byte>& buffer = stream_of(t).buffer;
  for (int round = 0; round < rounds; ++round) {
    double due_s = 0;
    for (const auto& [to, bytes] : work.out) {
      if (!in_round((to - work.rank + members) % members, round)) continue;
      const double occupied = work.by_turns ? bytes : bytes / rounds;
      const auto real_bytes = static_cast<std::size_t>(occupied / setup_.scale.bytes);
      if (buffer.size() < real_bytes) buffer.resize(real_bytes);
      due_s = std::max(due_s, peers.send(to, occupied, std::span(buffer).first(real_bytes)));
    }
    for (const int from : work.in) {
      if (!in_round((work.rank - from + members) % members, round)) continue;
      due_s = std::max(due_s, peers.receive(from).due_s);
    }
    clock_.sleep_until(due_s);
  }
}

namespace {

// Elements that are looked at: the first, the middle and the last of a span.
template <typename Value, typename Look>
void probe(std::span<Value> values, const Look& look) {
  for (const std::size_t at : {std::size_t{0}, values.size() / 2, values.size() - 1}) {
    look(at, values[at]);
  }
}

void check_value(const Task& task, bool right) {
  if (right) return;
  throw Error(fmt::format("collective '{}' ends with other numbers than it should", task.name),
              ExitCode::failed);
}

}  // namespace

void RankRun::run_on_numbers(const CollectiveWork& work, TaskIndex t) {
  const auto members = work.members.size();
  const auto own = static_cast<std::size_t>(work.rank);
  GroupPeers peers(*this, work, t, work.latency_s / work.rounds);
  // Whole floats for every member, so that parts are equal.
  const auto part = std::max<std::size_t>(
      1, static_cast<std::size_t>(work.bytes / setup_.scale.bytes) / (members * sizeof(float)));
  const std::size_t elements = part * members;
  std::vector<std::byte>& buffer = stream_of(t).buffer;
  if (buffer.size() < 2 * elements * sizeof(float)) buffer.assign(2 * elements * sizeof(float), {});
  const std::span<float> values(reinterpret_cast<float*>(buffer.data()), elements);
  const std::span<float> result =
      std::span(reinterpret_cast<float*>(buffer.data()), 2 * elements).last(elements);
  // Whole and small, so that sums are exact; another one in each collective, so that what is left
  // of the last one does not pass for its result.
  const auto sequence = static_cast<std::size_t>(task(t).sequence);
  const auto seed = [sequence](std::size_t member, std::size_t at) {
    return static_cast<float>(1 + (member * 31 + at + sequence) % 1021);
  };
  const auto sum_at = [&](std::size_t at) {
    float sum = 0;
    for (std::size_t m = 0; m < members; ++m) sum += seed(m, at);
    return sum;
  };
  const auto part_of_member = [part](std::span<float> all, std::size_t m) {
    return all.subspan(m * part, part);
  };
  for (std::size_t m = 0; m < members; ++m) {
    probe(part_of_member(values, m),
          [&](std::size_t at, float& value) { value = seed(own, m * part + at); });
    probe(part_of_member(result, m), [](std::size_t, float& value) { value = -1; });
  }
  switch (work.form) {
    case CollectiveForm::all_reduce:
      all_reduce_ring(peers, values);
      break;
    case CollectiveForm::reduce_scatter:
      reduce_scatter_ring(peers, values, part_of_member(result, own));
      break;
    case CollectiveForm::all_gather:
      all_gather_ring(peers, std::as_writable_bytes(values), sizeof(float));
      break;
    default:
      all_to_all_pairwise(peers, std::as_bytes(values), std::as_writable_bytes(result));
  }
  for (std::size_t m = 0; m < members; ++m) {
    const bool reduces = work.form == CollectiveForm::all_reduce;
    const bool scatters = work.form == CollectiveForm::reduce_scatter;
    const bool gathers = work.form == CollectiveForm::all_gather;
    if (scatters && m != own) continue;
    probe(part_of_member(reduces || gathers ? values : result, m),
          [&](std::size_t at, float value) {
            // Of an all-to-all, my part of what member m had.
            const std::size_t place = (reduces || gathers || scatters ? m : own) * part + at;
            const float expected = reduces || scatters ? sum_at(place) : seed(m, place);
            check_value(task(t), value == expected);
          });
  }
}

}  // namespace windtunnel
