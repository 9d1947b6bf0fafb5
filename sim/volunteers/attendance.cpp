#include "sim/volunteers/attendance.hpp"

#include <algorithm>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

class Draws {
 public:
  Draws(const Volunteers& volunteers, std::uint64_t trial)
      : volunteers_(volunteers),
        random_(volunteers.seed, RandomPurpose::attendance, trial),
        kinds_(first_peers(volunteers)),
        present_(volunteers.peers.size()) {
    for (const int kind : kinds_) ++present_[kind];
  }

  std::vector<AttendanceChange> by_rates() {
    for (double now_s = 0;;) {
      std::vector<double> rates;  // by kind: rate of leaving; then by kind: rate of joining
      for (std::size_t kind = 0; kind < present_.size(); ++kind) {
        rates.push_back(volunteers_.peers[kind].leave_per_s * present_[kind]);
      }
      for (const PeerKind& kind : volunteers_.peers) rates.push_back(kind.join_per_s);
      double total = 0;
      for (const double rate : rates) total += rate;
      if (total <= 0) return changes_;
      now_s += random_.exponential(1 / total);
      if (now_s >= volunteers_.length_s) return changes_;
      const int event = drawn(rates, total);
      const int kinds = static_cast<int>(present_.size());
      if (event < kinds) {
        leave(now_s, place_of(event, static_cast<int>(random_.below(present_[event]))));
      } else {
        join(now_s, event - kinds);
      }
    }
  }

  // A leaving peer is drawn from all that are present. A joining peer is of a kind with a
  // probability in proportion to the kind's count.
  std::vector<AttendanceChange> by_trace() {
    std::vector<double> counts;
    double total = 0;
    for (const PeerKind& kind : volunteers_.peers) {
      counts.push_back(kind.count);
      total += kind.count;
    }
    for (const Attendance& row : volunteers_.trace) {
      if (row.at_s >= volunteers_.length_s) break;
      while (static_cast<int>(kinds_.size()) > row.peers) {
        leave(row.at_s, static_cast<int>(random_.below(kinds_.size())));
      }
      while (static_cast<int>(kinds_.size()) < row.peers) join(row.at_s, drawn(counts, total));
    }
    return changes_;
  }

 private:
  int drawn(const std::vector<double>& weights, double total) {
    double left = random_.uniform() * total;
    int last = 0;  // the last index with a positive weight
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] <= 0) continue;
      last = static_cast<int>(i);
      left -= weights[i];
      if (left < 0) break;
    }
    return last;
  }

  // Returns the place of the n-th peer of a kind.
  int place_of(int kind, int n) const {
    int place = 0;
    for (int before = n;; ++place) {
      if (kinds_[place] == kind && before-- == 0) return place;
    }
  }

  void leave(double now_s, int place) {
    changes_.push_back({now_s, false, kinds_[place], place});
    --present_[kinds_[place]];
    kinds_[place] = kinds_.back();
    kinds_.pop_back();
  }

  void join(double now_s, int kind) {
    changes_.push_back({now_s, true, kind, 0});
    ++present_[kind];
    kinds_.push_back(kind);
  }

  const Volunteers& volunteers_;
  RandomStream random_;
  std::vector<int> kinds_;    // [place] kind of each peer that is present
  std::vector<int> present_;  // [kind] number of peers that are present
  std::vector<AttendanceChange> changes_;
};

}  // namespace

std::vector<int> first_peers(const Volunteers& volunteers) {
  std::vector<int> kinds;
  for (std::size_t kind = 0; kind < volunteers.peers.size(); ++kind) {
    kinds.insert(kinds.end(), volunteers.peers[kind].count, static_cast<int>(kind));
  }
  return kinds;
}

std::vector<AttendanceChange> attendance_changes(const Volunteers& volunteers,
                                                 std::uint64_t trial) {
  Draws draws(volunteers, trial);
  return volunteers.trace.empty() ? draws.by_rates() : draws.by_trace();
}

}  // namespace windtunnel
