#include "policies/length_balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Lengths with what they cost each degree, longest first.
struct Lengths {
  const std::vector<int>& lengths;
  const LengthCosts& costs;
  std::vector<std::vector<double>> attention_s;  // [degree][sequence]
  std::vector<int> order;

  Lengths(const std::vector<int>& all, const LengthCosts& with) : lengths(all), costs(with) {
    for (std::size_t degree = 0; degree < costs.degrees().size(); ++degree) {
      std::vector<double>& row = attention_s.emplace_back();
      for (const int length : lengths) row.push_back(costs.attention_s(degree, length));
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
  double attention_s = 0;
  std::vector<int> sequences = {};

  double seconds(const Lengths& batch) const {
    if (sequences.empty()) return 0;
    return batch.costs.degrees()[degree].pack_s(tokens, attention_s);
  }
  bool holds(const Lengths& batch, int sequence) const {
    return tokens + batch.lengths[sequence] <= batch.costs.degrees()[degree].capacity;
  }
  double seconds_with(const Lengths& batch, int sequence) const {
    return batch.costs.degrees()[degree].pack_s(tokens + batch.lengths[sequence],
                                                attention_s + batch.attention_s[degree][sequence]);
  }
  void add(const Lengths& batch, int sequence) {
    tokens += batch.lengths[sequence];
    attention_s += batch.attention_s[degree][sequence];
    sequences.push_back(sequence);
  }
  void remove(const Lengths& batch, int sequence) {
    tokens -= batch.lengths[sequence];
    attention_s -= batch.attention_s[degree][sequence];
    std::erase(sequences, sequence);
  }
  LengthPack closed(const Lengths& batch) const { return {degree, sequences, seconds(batch)}; }
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
  const int groups = batch.costs.gpus() / batch.costs.degrees()[degree].ranks;
  std::vector<double> busy_s(groups);
  LengthPlan plan;
  plan.rounds.emplace_back();
  for (std::size_t i = 0; i < packs.size(); ++i) {
    plan.rounds[0].push_back(packs[i].closed(batch));
    busy_s[i % groups] += plan.rounds[0].back().seconds;
  }
  plan.seconds = *std::ranges::max_element(busy_s);
  return plan;
}

using Groups = std::vector<OpenPack>;

double slowest_s(const Lengths& batch, const Groups& groups) {
  double seconds = 0;
  for (const OpenPack& group : groups) seconds = std::max(seconds, group.seconds(batch));
  return seconds;
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
    OpenPack& slow = *std::ranges::max_element(
        groups, {}, [&](const OpenPack& group) { return group.seconds(batch); });
    const double slow_s = slow.seconds(batch);
    const std::vector<int> candidates = slow.sequences;
    for (const int sequence : candidates) {
      for (OpenPack& other : groups) {
        if (&other == &slow || !other.holds(batch, sequence)) continue;
        if (other.seconds_with(batch, sequence) >= slow_s) continue;
        other.add(batch, sequence);
        slow.remove(batch, sequence);
        moved = true;
        break;
      }
      if (moved) break;
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

struct Round {
  double seconds = std::numeric_limits<double>::infinity();
  Groups groups = {};
};

Round best_round(const Lengths& batch, const std::vector<int>& sequences) {
  Round best;
  Groups groups;
  divide(batch, batch.costs.gpus(), batch.costs.degrees().size() - 1, groups,
         [&](const Groups& divided) {
           // Greedy assignments that end a little later may still win by moves.
           Groups filled = assigned(batch, sequences, divided, 1.2 * best.seconds);
           if (filled.empty()) return;
           improve(batch, filled);
           const double seconds = slowest_s(batch, filled);
           if (seconds < best.seconds) best = {seconds, std::move(filled)};
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
    for (const OpenPack& group : round.groups) {
      if (!group.sequences.empty()) packs.push_back(group.closed(batch));
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
    return a.seconds(batch) > b.seconds(batch);
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
    plan.rounds[0].push_back(pack.closed(batch));
    std::fill_n(busy_s.begin() + at, ranks, start_s + plan.rounds[0].back().seconds);
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
