#include "policies/length_balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "policies/length_groups.hpp"

namespace windtunnel {
namespace {

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

double tokens_of(const Lengths& batch) {
  return std::accumulate(batch.lengths.begin(), batch.lengths.end(), 0.0);
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

double held_tokens(const LengthCosts& costs) {
  return costs.gpus() * (costs.degrees().back().capacity / costs.degrees().back().ranks);
}

using Chunks = std::vector<std::vector<int>>;

// Sequences of neighbouring lengths together (FlexSP's micro-batch chunking), rounds of about as
// many tokens each. `filled`: more where GPUs would wait for the longest sequence, as far as memory
// holds them.
Chunks chunked(const Lengths& batch, int rounds, bool filled) {
  constexpr double kFilled = 0.9;  // of time and memory; the rest is lost in packing
  const LengthCosts& costs = batch.costs;
  const auto alone_s = [&](std::size_t degree, int sequence) {
    return OpenPack{degree}.seconds_with(batch, sequence);
  };
  Chunks chunks;
  double left = tokens_of(batch);
  double share = 0;
  double tokens = 0;  // of the last chunk
  double busy_s = 0;  // of all GPUs
  double longest_s = 0;
  for (const int sequence : batch.order) {
    const int length = batch.lengths[sequence];
    const bool waits = busy_s < kFilled * costs.gpus() * longest_s &&
                       tokens + length < kFilled * held_tokens(costs);
    if (tokens >= share && !(filled && waits)) {
      share = left / std::max<double>(1, rounds - std::ssize(chunks));
      chunks.emplace_back();
      tokens = busy_s = 0;
      longest_s = alone_s(costs.degrees().size() - 1, sequence);
    }
    chunks.back().push_back(sequence);
    tokens += length;
    left -= length;
    const std::size_t degree = costs.least_degree(length);
    busy_s += costs.degrees()[degree].ranks * alone_s(degree, sequence);
  }
  return chunks;
}

std::optional<LengthPlan> plan_of(const Lengths& batch, const Chunks& chunks) {
  LengthPlan plan;
  for (const std::vector<int>& sequences : chunks) {
    const SharedRound round = share_round(batch, sequences);
    if (round.groups.empty()) return std::nullopt;
    plan.seconds += round.seconds;
    std::vector<LengthPack>& packs = plan.rounds.emplace_back();
    int first = 0;
    for (const SequenceGroup& group : round.groups) {
      OpenPack pack{group.degree};
      for (const int sequence : group.sequences) pack.add(batch, sequence);
      if (!group.sequences.empty()) packs.push_back(pack.closed(batch, first));
      first += batch.costs.degrees()[group.degree].ranks;
    }
  }
  return plan;
}

LengthPlan flexible_plan(const Lengths& batch) {
  constexpr int kMoreRounds = 3;  // than the fewest that fit
  const double held = held_tokens(batch.costs);
  const int fewest = std::max(1, static_cast<int>(std::ceil(tokens_of(batch) / held)));
  std::optional<LengthPlan> best;
  const int most = static_cast<int>(batch.lengths.size()) + 1;
  for (int rounds = fewest, left = kMoreRounds; left > 0 && rounds <= most; ++rounds) {
    std::optional<LengthPlan> plan = plan_of(batch, chunked(batch, rounds, true));
    if (!plan) plan = plan_of(batch, chunked(batch, rounds, false));
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
