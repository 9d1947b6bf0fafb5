// The collectives of a RankRun: rounds over the edges of the simulated algorithm, or the algorithm
// itself on real numbers, whose result is checked.
#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "validate/harness/collectives/tcp_collectives.hpp"
#include "validate/harness/execute/collective_work.hpp"
#include "validate/harness/execute/device_collectives.hpp"
#include "validate/harness/execute/rank_run.hpp"
#include "validate/harness/ranks/tcp_group.hpp"

namespace windtunnel {

// The members of a group in one collective, in the form that the algorithms use.
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

  // Returns when the data has passed the links; it occupies `occupied` bytes of the scenario.
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
  // On a real network, sends padding so that the real bytes match the occupied ones.
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

bool RankRun::runs_on_device(const CollectiveWork& work) const {
  return setup_.device != nullptr && std::ssize(work.members) == setup_.plan->ranks;
}

void RankRun::run_collective(TaskIndex t) {
  const CollectiveWork& work = setup_.works[t];
  if (runs_on_device(work)) {
    if (const auto form = device_form(task(t))) return run_on_numbers(work, *form, t);
  }
  if (work.members.size() > 1 && work.edge_s <= 0) {
    meet(work, t);
  } else if (!runs_on_numbers(work, setup_.scale.times)) {
    run_rounds(work, t);
  } else {
    run_on_numbers(work, work.form, t);
  }
  transfer(t, false);
}

// Waits until all members are there.
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

void RankRun::run_on_numbers(const CollectiveWork& work, CollectiveForm form, TaskIndex t) {
  CollectiveNumbers numbers;
  numbers.form = form;
  numbers.members = work.members.size();
  numbers.own = static_cast<std::size_t>(work.rank);
  numbers.sequence = static_cast<std::size_t>(task(t).sequence);
  // A whole number of floats per member, so that parts are equal.
  numbers.part =
      std::max<std::size_t>(1, static_cast<std::size_t>(work.bytes / setup_.scale.bytes) /
                                   (numbers.members * sizeof(float)));
  const bool right =
      runs_on_device(work) ? setup_.device->run(numbers) : run_on_tcp(numbers, work, t);
  if (right) return;
  throw Error(fmt::format("the result of collective '{}' is wrong", task(t).name),
              ExitCode::failed);
}

bool RankRun::run_on_tcp(const CollectiveNumbers& numbers, const CollectiveWork& work,
                         TaskIndex t) {
  GroupPeers peers(*this, work, t, work.latency_s / work.rounds);
  const std::size_t elements = numbers.elements();
  std::vector<std::byte>& buffer = stream_of(t).buffer;
  if (buffer.size() < 2 * elements * sizeof(float)) buffer.assign(2 * elements * sizeof(float), {});
  const std::span<float> values(reinterpret_cast<float*>(buffer.data()), elements);
  const std::span<float> result =
      std::span(reinterpret_cast<float*>(buffer.data()), 2 * elements).last(elements);
  numbers.before([&](std::size_t at) {
    values[at] = numbers.given(numbers.own, at);
    result[at] = -1;
  });
  switch (numbers.form) {
    case CollectiveForm::all_reduce:
      all_reduce_ring(peers, values);
      break;
    case CollectiveForm::reduce_scatter:
      reduce_scatter_ring(peers, values, result.subspan(numbers.own * numbers.part, numbers.part));
      break;
    case CollectiveForm::all_gather:
      all_gather_ring(peers, std::as_writable_bytes(values), sizeof(float));
      break;
    default:
      all_to_all_pairwise(peers, std::as_bytes(values), std::as_writable_bytes(result));
  }
  bool right = true;
  numbers.after([&](std::size_t at) {
    right = right && (numbers.beside() ? result : values)[at] == numbers.expected(at);
  });
  return right;
}

}  // namespace windtunnel
