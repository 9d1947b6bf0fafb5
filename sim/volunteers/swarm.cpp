#include "sim/volunteers/swarm.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

double mean_rate(const Swarm& swarm, int kind) {
  const std::vector<double>& rates = swarm.rates[kind];
  return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
}

struct Member {
  int kind = 0;
  int stage = 0;
  double ready_s = 0;  // it serves its stage from then on
};

// A trial while it runs.
class Run {
 public:
  Run(const Swarm& swarm, std::uint64_t trial)
      : swarm_(swarm),
        random_(swarm.seed, RandomPurpose::wiring, trial),
        assigned_(swarm.stages()),
        serving_(swarm.stages()),
        counts_(swarm.rates.size()) {
    for (const int kind : swarm.first) {
      members_.push_back({.kind = kind});
      ++counts_[kind];
    }
    std::vector<Member*> order;
    for (Member& member : members_) order.push_back(&member);
    std::ranges::stable_sort(order, std::greater{},
                             [&](const Member* member) { return mean_rate(swarm, member->kind); });
    for (Member* member : order) {
      member->stage = slowest();
      assigned_[member->stage] += rate(member->kind, member->stage);
    }
    serve();
    possible_ = possible_rate();
  }

  SwarmTrial run(std::span<const AttendanceChange> changes) {
    double tick_s = swarm_.rebalance_s > 0 ? swarm_.rebalance_s : kInfinity;
    std::size_t next = 0;
    while (true) {
      const double change_s = next < changes.size() ? changes[next].at_s : kInfinity;
      const double event_s = std::min({change_s, tick_s, next_ready_s_});
      advance(std::min(event_s, swarm_.length_s));
      if (event_s >= swarm_.length_s) break;
      if (event_s == next_ready_s_) {
        serve();
      } else if (event_s == change_s) {
        meet(changes[next++]);
      } else {
        rebalance();
        tick_s += swarm_.rebalance_s;
      }
    }
    result_.peers /= swarm_.length_s;
    return result_;
  }

 private:
  double rate(int kind, int stage) const { return swarm_.rates[kind][stage]; }

  int slowest() const {
    return static_cast<int>(std::ranges::min_element(assigned_) - assigned_.begin());
  }
  int fastest() const {
    return static_cast<int>(std::ranges::max_element(assigned_) - assigned_.begin());
  }

  void advance(double to_s) {
    const double passed_s = to_s - now_s_;
    const double rate_now = *std::ranges::min_element(serving_);
    result_.done += passed_s * rate_now;
    result_.averaged += passed_s * std::min(rate_now, swarm_.averaged_rate);
    result_.possible += passed_s * std::max(possible_, rate_now);
    result_.peers += passed_s * static_cast<double>(members_.size());
    if (rate_now <= 0) result_.empty_s += passed_s;
    now_s_ = to_s;
  }

  // Adds up the rates of peers that are ready by now. Sums are made anew, so that rounding errors
  // do not accumulate.
  void serve() {
    std::ranges::fill(serving_, 0);
    std::ranges::fill(assigned_, 0);
    next_ready_s_ = kInfinity;
    for (const Member& member : members_) {
      assigned_[member.stage] += rate(member.kind, member.stage);
      if (member.ready_s <= now_s_) {
        serving_[member.stage] += rate(member.kind, member.stage);
      } else {
        next_ready_s_ = std::min(next_ready_s_, member.ready_s);
      }
    }
  }

  void meet(const AttendanceChange& change) {
    if (change.joins) {
      const int stage = swarm_.joiners == Joiners::busiest
                            ? slowest()
                            : static_cast<int>(random_.below(swarm_.stages()));
      members_.push_back({change.kind, stage, now_s_ + swarm_.takeover_s[change.kind][stage]});
      ++counts_[change.kind];
    } else {
      CHECK(change.place < std::ssize(members_), "peer {} of {} leaves", change.place,
            members_.size());
      --counts_[members_[change.place].kind];
      members_[change.place] = members_.back();
      members_.pop_back();
    }
    serve();
    possible_ = possible_rate();
  }

  // Moves one peer from the stage with the most to spare to the slowest stage. Takes the peer with
  // which the slower of the two then becomes fastest.
  void rebalance() {
    const int from = fastest();
    const int to = slowest();
    Member* best = nullptr;
    double best_rate = assigned_[to];
    for (Member& member : members_) {
      if (member.stage != from) continue;
      const double after = std::min(assigned_[from] - rate(member.kind, from),
                                    assigned_[to] + rate(member.kind, to));
      // Differences between equal stages that are errors of rounding move no peer.
      if (after <= best_rate * (1 + 1e-9)) continue;
      best = &member;
      best_rate = after;
    }
    if (best == nullptr) return;
    best->stage = to;
    best->ready_s = now_s_ + swarm_.takeover_s[best->kind][to];
    ++result_.moves;
    serve();
  }

  double possible_rate() {
    const auto [known, added] = balanced_.try_emplace(counts_, 0);
    if (added) known->second = balanced_rate(swarm_, counts_);
    return known->second;
  }

  const Swarm& swarm_;
  RandomStream random_;
  std::vector<Member> members_;
  std::vector<double> assigned_;  // [stage] total rate of its peers, also of those on their way
  std::vector<double> serving_;   // [stage] total rate of the peers that serve it
  std::vector<int> counts_;       // [kind] number of peers
  std::map<std::vector<int>, double> balanced_;
  double possible_ = 0;
  double now_s_ = 0;
  double next_ready_s_ = kInfinity;
  SwarmTrial result_;
};

}  // namespace

Swarm swarm_of(const Volunteers& volunteers, const std::vector<StageWork>& works) {
  Swarm swarm{.first = first_peers(volunteers),
              .length_s = volunteers.length_s,
              .rebalance_s = volunteers.rebalance_s,
              .joiners = volunteers.joiners,
              .seed = volunteers.seed};
  for (const PeerKind& peer : volunteers.peers) {
    std::vector<double>& rates = swarm.rates.emplace_back();
    std::vector<double>& takeovers = swarm.takeover_s.emplace_back();
    for (const StageWork& work : works) {
      rates.push_back(peer_rate(peer, work));
      takeovers.push_back(takeover_s(volunteers, peer, work));
    }
  }
  return swarm;
}

double balanced_rate(const Swarm& swarm, const std::vector<int>& counts) {
  std::vector<int> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](int kind) { return mean_rate(swarm, kind); });
  std::vector<double> stages(swarm.stages());
  for (const int kind : order) {
    for (int peer = 0; peer < counts[kind]; ++peer) {
      const auto slowest = std::ranges::min_element(stages);
      *slowest += swarm.rates[kind][slowest - stages.begin()];
    }
  }
  return *std::ranges::min_element(stages);
}

SwarmTrial run_swarm(const Swarm& swarm, std::span<const AttendanceChange> changes,
                     std::uint64_t trial) {
  return Run(swarm, trial).run(changes);
}

}  // namespace windtunnel
