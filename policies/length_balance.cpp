#include "policies/length_balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Lengths with what they cost each degree, longest first.
struct Lengths {
  const std::vector<int>& lengths;
  const LengthCosts& costs;
  std::vector<std::vector<AttentionSeconds>> attention;  // [degree][sequence]
  std::vector<int> order;

  Lengths(const std::vector<int>& all, const LengthCosts& with) : lengths(all), costs(with) {
    for (std::size_t degree = 0; degree < costs.degrees().size(); ++degree) {
      attention.push_back(costs.attention(degree, lengths));
    }
    order.resize(lengths.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater{}, [&](int i) { return lengths[i]; });
  }
  double tokens() const { return std::accumulate(lengths.begin(), lengths.end(), 0.0); }
};

// A pack while it is filled.
struct OpenPack {
  std::size_t degree = 0;
  double tokens = 0;
  AttentionSeconds attention = {};
  std::vector<int> sequences = {};
  double seconds = 0;

  bool holds(const Lengths& batch, int sequence) const {
    return tokens + batch.lengths[sequence] <= batch.costs.degrees()[degree].capacity;
  }
  double seconds_with(const Lengths& batch, int sequence) const {
    AttentionSeconds with = attention;
    with += batch.attention[degree][sequence];
    return batch.costs.degrees()[degree].pack_s(tokens + batch.lengths[sequence], with);
  }
  void add(const Lengths& batch, int sequence) {
    seconds = seconds_with(batch, sequence);
    tokens += batch.lengths[sequence];
    attention += batch.attention[degree][sequence];
    sequences.push_back(sequence);
  }
  void remove(const Lengths& batch, int sequence) {
    const std::vector<int> before = std::exchange(sequences, {});
    tokens = seconds = 0;
    attention = {};
    for (const int kept : before) {
      if (kept != sequence) add(batch, kept);
    }
  }
  LengthPack closed(const Lengths& batch, int first) const {
    return {degree,    first,  batch.costs.degrees()[degree].ranks, sequences, tokens,
            attention, seconds};
  }
};

// Each into the fullest pack that still holds it.
void best_fit(const Lengths& batch, std::size_t degree, int sequence,
              std::vector<OpenPack>& packs) {
  OpenPack* best = nullptr;
  for (OpenPack& pack : packs) {
    if (pack.holds(batch, sequence) && (best == nullptr || pack.tokens > best->tokens))
      best = &pack;
  }
  if (best == nullptr) best = &packs.emplace_back(OpenPack{degree});
  best->add(batch, sequence);
}

LengthPlan static_plan(const Lengths& batch, double longest) {
  const std::size_t degree = batch.costs.least_degree(longest);
  std::vector<OpenPack> packs;
  for (std::size_t i = 0; i < batch.lengths.size(); ++i) {
    best_fit(batch, degree, static_cast<int>(i), packs);
  }
  const int ranks = batch.costs.degrees()[degree].ranks;
  const int groups = batch.costs.gpus() / ranks;
  std::vector<double> busy_s(groups);
  LengthPlan plan;
  plan.rounds.emplace_back();
  for (int i = 0; i < std::ssize(packs); ++i) {
    plan.rounds[0].push_back(packs[i].closed(batch, i % groups * ranks));
    busy_s[i % groups] += packs[i].seconds;
  }
  plan.seconds = *std::ranges::max_element(busy_s);
  return plan;
}

using Groups = std::vector<OpenPack>;

double slowest_s(const Groups& groups) {
  return std::ranges::max_element(groups, {}, &OpenPack::seconds)->seconds;
}

// Longest first, each where the group then ends first. Empty: a sequence fits nowhere, or a group
// would take longer than `limit_s`.
Groups assigned(const Lengths& batch, const std::vector<int>& sequences, Groups groups,
                double limit_s) {
  for (const int sequence : sequences) {
    OpenPack* best = nullptr;
    double best_s = limit_s;
    for (OpenPack& group : groups) {
      if (!group.holds(batch, sequence)) continue;
      const double seconds = group.seconds_with(batch, sequence);
      if (seconds < best_s) {
        best_s = seconds;
        best = &group;
      }
    }
    if (best == nullptr) return {};
    best->add(batch, sequence);
  }
  return groups;
}

// Moves sequences out of the slowest group while that makes the slowest one faster.
void improve(const Lengths& batch, Groups& groups) {
  for (bool moved = true; moved;) {
    moved = false;
    OpenPack& slow = *std::ranges::max_element(groups, {}, &OpenPack::seconds);
    const std::vector<int> candidates = slow.sequences;
    for (const int sequence : candidates) {
      for (OpenPack& other : groups) {
        if (&other == &slow || !other.holds(batch, sequence)) continue;
        if (other.seconds_with(batch, sequence) >= slow.seconds) continue;
        other.add(batch, sequence);
        slow.remove(batch, sequence);
        moved = true;
        break;
      }
      if (moved) break;
    }
  }
}

// Groups that end within `limit_s`: longest first, into the busiest that still does, else into a
// new one, the narrowest that does. Left GPUs are idle groups; widest first. Empty: more GPUs than
// there are.
Groups packed(const Lengths& batch, const std::vector<int>& sequences, double limit_s) {
  const std::vector<DegreeCost>& degrees = batch.costs.degrees();
  const auto takes = [&](const OpenPack& group, int sequence) {
    return group.holds(batch, sequence) && group.seconds_with(batch, sequence) <= limit_s;
  };
  Groups groups;
  int left = batch.costs.gpus();
  for (const int sequence : sequences) {
    OpenPack* best = nullptr;
    for (OpenPack& group : groups) {
      if (best != nullptr && group.seconds <= best->seconds) continue;
      if (takes(group, sequence)) best = &group;
    }
    for (std::size_t i = 0; best == nullptr && i < degrees.size(); ++i) {
      if (degrees[i].ranks > left) return {};
      if (!takes({i}, sequence)) continue;
      left -= degrees[i].ranks;
      best = &groups.emplace_back(OpenPack{i});
    }
    if (best == nullptr) return {};
    best->add(batch, sequence);
  }
  for (std::size_t i = degrees.size(); i-- > 0;) {
    for (; degrees[i].ranks <= left; left -= degrees[i].ranks) groups.push_back({i});
  }
  std::ranges::stable_sort(groups, std::greater{}, &OpenPack::degree);
  return groups;
}

struct Round {
  double seconds = std::numeric_limits<double>::infinity();
  Groups groups = {};
};

// Idle groups as these are divided, but one of `degree` in place of two of half as many GPUs
// (`wider`), or two in place of one; empty: there are none. Largest first.
Groups redivided(const Groups& groups, std::size_t degree, bool wider) {
  std::vector<std::size_t> degrees;
  for (const OpenPack& group : groups) degrees.push_back(group.degree);
  const auto take = [&](std::size_t one) {
    const auto found = std::ranges::find(degrees, one);
    if (found == degrees.end()) return false;
    degrees.erase(found);
    return true;
  };
  if (wider) {
    if (!take(degree - 1) || !take(degree - 1)) return {};
    degrees.push_back(degree);
  } else {
    if (!take(degree)) return {};
    degrees.insert(degrees.end(), 2, degree - 1);
  }
  std::ranges::sort(degrees, std::greater{});
  Groups idle;
  for (const std::size_t one : degrees) idle.push_back({one});
  return idle;
}

// Keeps the better of both.
void consider(const Lengths& batch, Groups groups, Round& best) {
  if (groups.empty()) return;
  improve(batch, groups);
  const double seconds = slowest_s(groups);
  if (seconds < best.seconds) best = {seconds, std::move(groups)};
}

// Joins or splits groups as long as that is faster.
void climb(const Lengths& batch, const std::vector<int>& sequences, Round& at) {
  const std::vector<DegreeCost>& degrees = batch.costs.degrees();
  for (double before_s = 0; before_s != at.seconds;) {
    before_s = at.seconds;
    for (std::size_t degree = 1; degree < degrees.size(); ++degree) {
      if (degrees[degree].ranks != 2 * degrees[degree - 1].ranks) continue;
      for (const bool wider : {true, false}) {
        Groups idle = redivided(at.groups, degree, wider);
        if (idle.empty()) continue;
        // Assignments that end a little later may still win by moves.
        consider(batch, assigned(batch, sequences, std::move(idle), 1.2 * at.seconds), at);
      }
    }
  }
}

// All ways to divide `gpus` into groups of the degrees up to `degree`, largest first.
template <class Visit>
void divide(const Lengths& batch, int gpus, std::size_t degree, Groups& groups,
            const Visit& visit) {
  if (gpus == 0) return visit(groups);
  for (std::size_t i = degree + 1; i-- > 0;) {
    const int ranks = batch.costs.degrees()[i].ranks;
    if (ranks > gpus) continue;
    groups.push_back({i});
    divide(batch, gpus - ranks, i, groups, visit);
    groups.pop_back();
  }
}

// From the fewest GPUs that end within one limit after the other the best climb; of few GPUs also
// the best of all divisions (202 of 32).
Round best_round(const Lengths& batch, const std::vector<int>& sequences) {
  constexpr int kLimits = 12;
  constexpr int kAllDivided = 32;
  constexpr int kMostClimbed = 128;  // more take minutes
  Round best;
  double low_s = 0;
  double high_s = best.seconds;
  for (int i = 0; i < kLimits; ++i) {
    const double limit_s = i == 0 ? high_s : (low_s + high_s) / 2;
    Groups groups = packed(batch, sequences, limit_s);
    if (groups.empty()) {
      if (i == 0) return best;  // does not fit
      low_s = limit_s;
      continue;
    }
    Groups idle;
    for (const OpenPack& group : groups) idle.push_back({group.degree});
    Round own;
    consider(batch, assigned(batch, sequences, std::move(idle), own.seconds), own);
    consider(batch, std::move(groups), own);
    if (batch.costs.gpus() <= kMostClimbed) climb(batch, sequences, own);
    high_s = std::min(limit_s, own.seconds);
    if (own.seconds < best.seconds) best = std::move(own);
  }
  if (batch.costs.gpus() > kAllDivided) return best;
  Groups none;
  divide(batch, batch.costs.gpus(), batch.costs.degrees().size() - 1, none,
         [&](const Groups& idle) {
           consider(batch, assigned(batch, sequences, idle, 1.2 * best.seconds), best);
         });
  return best;
}

// Sequences of neighbouring lengths together (FlexSP's micro-batch chunking), rounds of about as
// many tokens each.
std::vector<std::vector<int>> chunked(const Lengths& batch, int rounds) {
  std::vector<std::vector<int>> chunks(1);
  const double share = batch.tokens() / rounds;
  double before = 0;
  for (const int sequence : batch.order) {
    if (before >= share * static_cast<double>(chunks.size())) chunks.emplace_back();
    chunks.back().push_back(sequence);
    before += batch.lengths[sequence];
  }
  return chunks;
}

std::optional<LengthPlan> plan_in_rounds(const Lengths& batch, int rounds) {
  LengthPlan plan;
  for (const std::vector<int>& sequences : chunked(batch, rounds)) {
    const Round round = best_round(batch, sequences);
    if (round.groups.empty()) return std::nullopt;
    plan.seconds += round.seconds;
    std::vector<LengthPack>& packs = plan.rounds.emplace_back();
    int first = 0;
    for (const OpenPack& group : round.groups) {
      if (!group.sequences.empty()) packs.push_back(group.closed(batch, first));
      first += batch.costs.degrees()[group.degree].ranks;
    }
  }
  return plan;
}

LengthPlan flexible_plan(const Lengths& batch) {
  constexpr int kMoreRounds = 3;  // than the fewest that fit
  const DegreeCost& widest = batch.costs.degrees().back();
  const double held = batch.costs.gpus() * (widest.capacity / widest.ranks);
  const int fewest = std::max(1, static_cast<int>(std::ceil(batch.tokens() / held)));
  std::optional<LengthPlan> best;
  const int most = static_cast<int>(batch.lengths.size()) + 1;
  for (int rounds = fewest, left = kMoreRounds; left > 0 && rounds <= most; ++rounds) {
    std::optional<LengthPlan> plan = plan_in_rounds(batch, rounds);
    if (!plan) continue;
    --left;
    if (!best || plan->seconds < best->seconds) best = std::move(plan);
  }
  CHECK(best.has_value(), "sequences that fit one by one fit in as many rounds");
  return *best;
}

LengthPlan mesh_plan(const Lengths& batch) {
  const LengthCosts& costs = batch.costs;
  std::vector<OpenPack> packs;
  std::vector<OpenPack> open;  // of the least degree
  for (const int sequence : batch.order) {
    const std::size_t degree = costs.least_degree(batch.lengths[sequence]);
    if (degree == 0) {
      best_fit(batch, 0, sequence, open);
    } else {
      packs.push_back({degree});
      packs.back().add(batch, sequence);
    }
  }
  packs.insert(packs.end(), open.begin(), open.end());
  // Wide ones first, so that narrow ones fill what they leave; of a width the longest first.
  std::ranges::stable_sort(packs, [&](const OpenPack& a, const OpenPack& b) {
    if (a.degree != b.degree) return a.degree > b.degree;
    return a.seconds > b.seconds;
  });
  std::vector<double> busy_s(costs.gpus());
  LengthPlan plan;
  plan.rounds.emplace_back();
  for (const OpenPack& pack : packs) {
    const int ranks = costs.degrees()[pack.degree].ranks;
    double start_s = std::numeric_limits<double>::infinity();
    std::ptrdiff_t at = 0;
    for (std::ptrdiff_t first = 0; first + ranks <= costs.gpus(); first += ranks) {
      const auto begin = busy_s.begin() + first;
      const double free_s = *std::max_element(begin, begin + ranks);
      if (free_s < start_s) {
        start_s = free_s;
        at = first;
      }
    }
    plan.rounds[0].push_back(pack.closed(batch, static_cast<int>(at)));
    std::fill_n(busy_s.begin() + at, ranks, start_s + pack.seconds);
  }
  plan.seconds = *std::ranges::max_element(busy_s);
  return plan;
}

}  // namespace

LengthPlan balance_lengths(LengthPolicy policy, const std::vector<int>& lengths, double longest,
                           const LengthCosts& costs) {
  for (const int length : lengths) costs.least_degree(length);
  if (lengths.empty()) return {};
  const Lengths batch(lengths, costs);
  switch (policy) {
    case LengthPolicy::flexsp:
      return flexible_plan(batch);
    case LengthPolicy::hdp:
      return mesh_plan(batch);
    case LengthPolicy::fixed:
      break;
  }
  return static_plan(batch, longest);
}

}  // namespace windtunnel
