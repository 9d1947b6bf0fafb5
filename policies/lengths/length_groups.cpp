#include "policies/lengths/length_groups.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

// [degree] the number of groups.
using Division = std::vector<int>;

// What one group computes.
struct Load {
  std::size_t degree = 0;
  double tokens = 0;
  AttentionSeconds attention = {};
  double seconds = 0;
};

// How many GPUs the groups of each degree need, as fractions.
struct Need {
  std::vector<double> for_time;
  std::vector<double> for_memory;
};

struct Shares {
  double seconds = kInfinity;
  Division division = {};
  std::vector<Load> loads = {};    // widest first
  std::vector<int> group_of = {};  // [place among the sequences]
};

// Searches for the fastest division. It starts from the division that the sequences suggest, and
// tries divisions that differ from it in a few groups as long as one is faster. The time of a
// division is that of an assignment: sequences, longest first, each go to the group that then ends
// first; then moves and exchanges out of the slowest group improve it.
class RoundSearch {
 public:
  RoundSearch(const Lengths& batch, const std::vector<int>& sequences)
      : costs_(batch.costs.degrees()), gpus_(batch.costs.gpus()) {
    for (std::size_t degree = 0; degree < costs_.size(); ++degree) {
      std::vector<Load>& alone = alone_.emplace_back();
      for (const int sequence : sequences) {
        const double tokens = batch.lengths[sequence];
        const AttentionSeconds attention = batch.attention[degree][sequence];
        alone.push_back({degree, tokens, attention, costs_[degree].pack_s(tokens, attention)});
      }
    }
  }

  Shares best() {
    Shares best;
    for (const Division& start : starts()) {
      Shares at = evaluated(start, best.seconds);
      if (at.loads.empty() && !best.loads.empty()) continue;
      climb(at);
      if (at.seconds < best.seconds) best = std::move(at);
      if (is_close(best) || best.loads.empty()) break;
    }
    if (best.loads.empty()) return best;
    climb_by_two(best);
    while (!is_close(best) && (move(best) || exchange(best))) {
      best.seconds = best.loads[slowest(best)].seconds;
    }
    return best;
  }

 private:
  static constexpr double kGain = 1 - 1e-9;  // less is an error of rounding
  // an assignment that exceeds the limit by this factor may still win by moves
  static constexpr double kLater = 1.1;

  // Whether the assignment takes hardly longer than an even division of the sequences' time.
  bool is_close(const Shares& shares) const { return shares.seconds <= 1.003 * least_s_; }

  // Adds one sequence to the load, or removes it (sign -1).
  Load changed(Load load, std::size_t place, double sign = 1) const {
    const Load& one = alone_[load.degree][place];
    load.tokens += sign * one.tokens;
    load.attention.forward_s += sign * one.attention.forward_s;
    load.attention.backward_s += sign * one.attention.backward_s;
    load.seconds = load.tokens > 0 ? costs_[load.degree].pack_s(load.tokens, load.attention) : 0;
    return load;
  }
  bool holds(const Load& load, double more_tokens = 0) const {
    return load.tokens + more_tokens <= costs_[load.degree].capacity;
  }

  // Returns the GPUs that each degree needs so that all sequences end within `limit_s`, each in the
  // narrowest group in which it can; empty if some sequence takes longer in any group.
  std::optional<Need> need(double limit_s) const {
    Need ranks{std::vector<double>(costs_.size()), std::vector<double>(costs_.size())};
    for (std::size_t place = 0; place < alone_[0].size(); ++place) {
      std::size_t degree = 0;
      const auto fits = [&] {
        const Load& load = alone_[degree][place];
        return holds(load) && load.seconds <= limit_s;
      };
      while (degree < costs_.size() && !fits()) ++degree;
      if (degree == costs_.size()) return std::nullopt;
      const Load& load = alone_[degree][place];
      const DegreeCost& cost = costs_[degree];
      const double fixed_s = cost.pack_s(0, {});
      ranks.for_time[degree] += cost.ranks * (load.seconds - fixed_s) / (limit_s - fixed_s);
      ranks.for_memory[degree] += cost.ranks * load.tokens / cost.capacity;
    }
    return ranks;
  }

  // Divides the GPUs into whole groups by this need, and adds idle groups of the remaining GPUs.
  // Empty if the need exceeds the GPUs.
  std::optional<Division> divided(const Need& ranks) const {
    Division division(costs_.size());
    int left = gpus_;
    double owed = 0;  // GPUs still needed; below 0: wider groups have room for narrower sequences
    for (std::size_t i = costs_.size(); i-- > 0;) {
      owed += std::max(ranks.for_time[i], ranks.for_memory[i]);
      division[i] = std::max(0, static_cast<int>(std::ceil(owed / costs_[i].ranks - 1e-9)));
      owed -= static_cast<double>(division[i]) * costs_[i].ranks;
      left -= division[i] * costs_[i].ranks;
      if (left < 0) return std::nullopt;
    }
    for (std::size_t i = costs_.size(); i-- > 0;) {
      division[i] += left / costs_[i].ranks;
      left %= costs_[i].ranks;
    }
    return division;
  }

  // Returns the smallest limit for which GPUs suffice, in whole groups (`whole`) or in fractions.
  double least_limit_s(bool whole) const {
    constexpr int kHalvings = 40;
    const auto enough = [&](double limit_s) {
      const auto ranks = need(limit_s);
      if (!ranks || whole) return ranks && divided(*ranks);
      return std::accumulate(ranks->for_time.begin(), ranks->for_time.end(), 0.0) <= gpus_;
    };
    double low_s = 0;
    double high_s = 0;
    for (const std::vector<Load>& alone : alone_) {
      for (const Load& load : alone) high_s += load.seconds;
    }
    if (!enough(high_s)) return kInfinity;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle_s = (low_s + high_s) / 2;
      (enough(middle_s) ? high_s : low_s) = middle_s;
    }
    return high_s;
  }

  std::vector<Division> starts() {
    least_s_ = least_limit_s(false);
    const double whole_s = least_limit_s(true);
    std::vector<Division> starts;
    for (const double slack : {1.0, 1.03, 1.06, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0}) {
      const auto ranks = need(slack * whole_s);
      const auto division = ranks ? divided(*ranks) : std::nullopt;
      if (division && std::ranges::find(starts, *division) == starts.end())
        starts.push_back(*division);
    }
    return starts;
  }

  // Returns no loads if a sequence fits nowhere or a group would take longer than `limit_s`.
  Shares assigned(const Division& division, double limit_s) const {
    Shares shares{kInfinity, division};
    std::vector<std::vector<int>> rising(costs_.size());  // groups of a degree by their seconds
    for (std::size_t i = costs_.size(); i-- > 0;) {
      for (int n = 0; n < division[i]; ++n) {
        rising[i].push_back(static_cast<int>(shares.loads.size()));
        shares.loads.push_back({i});
      }
    }
    for (std::size_t place = 0; place < alone_[0].size(); ++place) {
      Load best{.seconds = limit_s};
      std::ptrdiff_t at = -1;
      for (const std::vector<int>& groups : rising) {
        const double tokens = alone_[0][place].tokens;
        const auto found = std::ranges::find_if(
            groups, [&](int group) { return holds(shares.loads[group], tokens); });
        if (found == groups.end()) continue;
        const Load load = changed(shares.loads[*found], place);
        if (load.seconds >= best.seconds) continue;
        best = load;
        at = found - groups.begin();
      }
      if (at < 0) return {kInfinity, division};
      std::vector<int>& groups = rising[best.degree];
      const int group = groups[at];
      shares.loads[group] = best;
      shares.group_of.push_back(group);
      const auto from = groups.begin() + at;
      if (!holds(best, alone_[0].back().tokens)) {  // it has no room even for the shortest sequence
        groups.erase(from);
        continue;
      }
      const auto to = std::upper_bound(
          from + 1, groups.end(), best.seconds,
          [&](double seconds, int other) { return seconds < shares.loads[other].seconds; });
      std::rotate(from, from + 1, to);
    }
    return shares;
  }

  int slowest(const Shares& shares) const {
    return static_cast<int>(std::ranges::max_element(shares.loads, {}, &Load::seconds) -
                            shares.loads.begin());
  }

  void put(Shares& shares, std::size_t place, int group) const {
    Load& before = shares.loads[shares.group_of[place]];
    before = changed(before, place, -1);
    shares.loads[group] = changed(shares.loads[group], place);
    shares.group_of[place] = group;
  }

  // Moves a sequence out of the slowest group, so that both groups end as early as possible.
  bool move(Shares& shares) const {
    const int slow = slowest(shares);
    double best_s = kGain * shares.loads[slow].seconds;
    std::size_t best_place = 0;
    int best_group = -1;
    std::vector<int> idlest(costs_.size(), -1);
    for (int group = 0; group < std::ssize(shares.loads); ++group) {
      int& known = idlest[shares.loads[group].degree];
      if (group == slow) continue;
      if (known < 0 || shares.loads[group].seconds < shares.loads[known].seconds) known = group;
    }
    for (std::size_t place = 0; place < shares.group_of.size(); ++place) {
      if (shares.group_of[place] != slow) continue;
      const double without_s = changed(shares.loads[slow], place, -1).seconds;
      for (const int group : idlest) {
        if (group < 0) continue;
        const Load with = changed(shares.loads[group], place);
        const double seconds = std::max(without_s, with.seconds);
        if (!holds(with) || seconds >= best_s) continue;
        best_s = seconds;
        best_place = place;
        best_group = group;
      }
    }
    if (best_group >= 0) put(shares, best_place, best_group);
    return best_group >= 0;
  }

  // Exchanges a sequence of the slowest group for another's, so that both end as early as possible.
  bool exchange(Shares& shares) const {
    const int slow = slowest(shares);
    double best_s = kGain * shares.loads[slow].seconds;
    std::pair<std::size_t, std::size_t> best;
    for (std::size_t out = 0; out < shares.group_of.size(); ++out) {
      if (shares.group_of[out] != slow) continue;
      const Load without = changed(shares.loads[slow], out, -1);
      for (std::size_t in = out + 1; in < shares.group_of.size(); ++in) {  // not longer than `out`
        const int group = shares.group_of[in];
        if (group == slow) continue;
        const Load own = changed(without, in);
        if (own.seconds >= best_s) continue;
        const Load other = changed(changed(shares.loads[group], in, -1), out);
        if (other.seconds >= best_s || !holds(own) || !holds(other)) continue;
        best_s = std::max(own.seconds, other.seconds);
        best = {out, in};
      }
    }
    if (best.first == best.second) return false;
    const int group = shares.group_of[best.second];
    put(shares, best.second, slow);
    put(shares, best.first, group);
    return true;
  }

  Shares evaluated(const Division& division, double limit_s) const {
    Shares shares = assigned(division, kLater * limit_s);
    if (shares.loads.empty()) return shares;
    while (move(shares)) {
    }
    shares.seconds = shares.loads[slowest(shares)].seconds;
    return shares;
  }

  // Returns changes of a division, for all degrees: `times` groups replace twice as many groups
  // with half the GPUs, or the other way round.
  std::vector<Division> changes(int times) const {
    std::vector<Division> changes;
    for (std::size_t degree = 1; degree < costs_.size(); ++degree) {
      if (costs_[degree].ranks != 2 * costs_[degree - 1].ranks) continue;
      for (const int sign : {1, -1}) {
        Division& change = changes.emplace_back(costs_.size());
        change[degree] = sign * times;
        change[degree - 1] = -2 * sign * times;
      }
    }
    return changes;
  }

  // Takes the change if it is faster, and returns whether it did.
  bool take(const Division& change, Shares& at) {
    Division next = at.division;
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] += change[i];
      if (next[i] < 0) return false;
    }
    if (is_close(at) || !tried_.insert(next).second) return false;
    Shares shares = evaluated(next, at.seconds);
    if (shares.seconds >= at.seconds) return false;
    at = std::move(shares);
    return true;
  }

  void climb(Shares& at) {
    for (bool better = true; better;) {
      better = false;
      for (int times = gpus_ / 2; times > 0; times /= 2) {
        for (const Division& change : changes(times)) better |= take(change, at);
      }
    }
  }

  // Tries two changes together, because neither may help alone.
  void climb_by_two(Shares& at) {
    const std::vector<Division> ones = changes(1);
    for (bool better = true; better;) {
      better = false;
      for (std::size_t i = 0; i < ones.size(); ++i) {
        for (std::size_t j = i; j < ones.size(); ++j) {
          Division both = ones[i];
          std::ranges::transform(both, ones[j], both.begin(), std::plus{});
          better |= take(both, at);
        }
      }
    }
  }

  const std::vector<DegreeCost>& costs_;
  int gpus_;
  std::vector<std::vector<Load>> alone_;  // [degree][place]
  double least_s_ = 0;
  std::set<Division> tried_;
};

}  // namespace

Lengths::Lengths(const std::vector<int>& all, const LengthCosts& with) : lengths(all), costs(with) {
  for (std::size_t degree = 0; degree < costs.degrees().size(); ++degree) {
    attention.push_back(costs.attention(degree, lengths));
  }
  order.resize(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](int i) { return lengths[i]; });
}

SharedRound share_round(const Lengths& batch, const std::vector<int>& sequences) {
  const Shares shares = RoundSearch(batch, sequences).best();
  SharedRound round{shares.seconds, {}};
  for (const Load& load : shares.loads) round.groups.push_back({load.degree, {}});
  for (std::size_t place = 0; place < shares.group_of.size(); ++place) {
    round.groups[shares.group_of[place]].sequences.push_back(sequences[place]);
  }
  return round;
}

}  // namespace windtunnel
