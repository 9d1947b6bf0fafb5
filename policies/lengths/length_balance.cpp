#include "policies/lengths/length_balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "policies/lengths/length_groups.hpp"

namespace windtunnel {
namespace {

// A pack while it is filled.
struct OpenPack {
  std::size_t degree = 0;
  double tokens = 0;
  AttentionSeconds attention = {};
  std::vector<int> sequences = {};
  double seconds = 0;

  bool holds(const LengthCosts& costs, const OpenPack& more) const {
    return tokens + more.tokens <= costs.degrees()[degree].capacity;
  }
  double seconds_with(const LengthCosts& costs, const OpenPack& more) const {
    AttentionSeconds with = attention;
    with += more.attention;
    return costs.degrees()[degree].pack_s(tokens + more.tokens, with);
  }
  void add(const LengthCosts& costs, const OpenPack& more) {
    seconds = seconds_with(costs, more);
    tokens += more.tokens;
    attention += more.attention;
    sequences.insert(sequences.end(), more.sequences.begin(), more.sequences.end());
  }
  LengthPack closed(const LengthCosts& costs, int first) const {
    return {degree, first, costs.degrees()[degree].ranks, sequences, tokens, attention, seconds};
  }
};

OpenPack alone(const Lengths& batch, std::size_t degree, int sequence) {
  const double tokens = batch.lengths[sequence];
  const AttentionSeconds& attention = batch.attention[degree][sequence];
  return {degree,
          tokens,
          attention,
          {sequence},
          batch.costs.degrees()[degree].pack_s(tokens, attention)};
}

// Returns the fullest pack of `more`'s degree with room for it; the end of the list if none has.
template <typename Packs>
auto fullest(const LengthCosts& costs, const OpenPack& more, Packs& packs) {
  auto best = packs.end();
  for (auto pack = packs.begin(); pack != packs.end(); ++pack) {
    if (pack->degree != more.degree || !pack->holds(costs, more)) continue;
    if (best == packs.end() || pack->tokens > best->tokens) best = pack;
  }
  return best;
}

// Adds a sequence to the fullest pack that has room, or to a new one.
void best_fit(const LengthCosts& costs, const OpenPack& more, std::vector<OpenPack>& packs) {
  const auto best = fullest(costs, more, packs);
  if (best == packs.end()) {
    packs.push_back(more);
  } else {
    best->add(costs, more);
  }
}

double tokens_of(const Lengths& batch) {
  return std::accumulate(batch.lengths.begin(), batch.lengths.end(), 0.0);
}

LengthPlan static_plan(const Lengths& batch, double longest) {
  const std::size_t degree = batch.costs.least_degree(longest);
  std::vector<OpenPack> packs;
  for (std::size_t i = 0; i < batch.lengths.size(); ++i) {
    best_fit(batch.costs, alone(batch, degree, static_cast<int>(i)), packs);
  }
  const int ranks = batch.costs.degrees()[degree].ranks;
  const int groups = batch.costs.gpus() / ranks;
  std::vector<double> busy_s(groups);
  LengthPlan plan;
  plan.rounds.emplace_back();
  for (int i = 0; i < std::ssize(packs); ++i) {
    plan.rounds[0].push_back(packs[i].closed(batch.costs, i % groups * ranks));
    busy_s[i % groups] += packs[i].seconds;
  }
  plan.seconds = *std::ranges::max_element(busy_s);
  return plan;
}

double held_tokens(const LengthCosts& costs) {
  return costs.gpus() * (costs.degrees().front().capacity / costs.degrees().front().ranks);
}

using Chunks = std::vector<std::vector<int>>;

// Groups sequences of similar length (FlexSP's micro-batch chunking) into rounds with about equally
// many tokens. `filled`: a round gets more tokens, as far as memory allows, if GPUs would otherwise
// wait for its longest sequence.
Chunks chunked(const Lengths& batch, int rounds, bool filled) {
  // the share of time and memory that packs use; the rest is lost because packs do not fit exactly
  constexpr double kFilled = 0.9;
  const LengthCosts& costs = batch.costs;
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
      longest_s = alone(batch, costs.degrees().size() - 1, sequence).seconds;
    }
    chunks.back().push_back(sequence);
    tokens += length;
    left -= length;
    const std::size_t degree = costs.least_degree(length);
    busy_s += costs.degrees()[degree].ranks * alone(batch, degree, sequence).seconds;
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
      for (const int sequence : group.sequences) {
        pack.add(batch.costs, alone(batch, group.degree, sequence));
      }
      if (!group.sequences.empty()) packs.push_back(pack.closed(batch.costs, first));
      first += batch.costs.degrees()[group.degree].ranks;
    }
  }
  return plan;
}

LengthPlan flexible_plan(const Lengths& batch) {
  constexpr int kMoreRounds = 3;  // rounds more than the fewest that fit
  const double held = held_tokens(batch.costs);
  const int most = static_cast<int>(batch.lengths.size()) + 1;
  const int fewest = std::clamp(static_cast<int>(std::ceil(tokens_of(batch) / held)), 1, most);
  std::optional<LengthPlan> best;
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

// The times of the GPUs, and for each GPU the packs that begin there.
struct Mesh {
  std::vector<double> busy_s;                // [GPU]
  std::vector<std::vector<OpenPack>> packs;  // [first GPU]
};

// Returns how much longer `packs` take with one more.
double added_s(const LengthCosts& costs, const OpenPack& more, const std::vector<OpenPack>& packs) {
  const auto pack = fullest(costs, more, packs);
  return pack == packs.end() ? more.seconds : pack->seconds_with(costs, more) - pack->seconds;
}

// Places a pack on the GPUs that end first with it. The GPUs of a pack are equally busy before it,
// because wider packs were placed earlier.
void place(const LengthCosts& costs, const OpenPack& more, Mesh& mesh) {
  const int ranks = costs.degrees()[more.degree].ranks;
  double end_s = std::numeric_limits<double>::infinity();
  int at = 0;
  for (int first = 0; first + ranks <= costs.gpus(); first += ranks) {
    const double with_s =
        mesh.busy_s[first] + costs.pace(first, ranks) * added_s(costs, more, mesh.packs[first]);
    if (with_s >= end_s) continue;
    end_s = with_s;
    at = first;
  }
  best_fit(costs, more, mesh.packs[at]);
  std::fill_n(mesh.busy_s.begin() + at, ranks, end_s);
}

// Places wide packs first, so that narrow ones fill the gaps. Among equally wide ones the longest
// comes first.
LengthPlan dealt(const LengthCosts& costs, std::vector<OpenPack> packs) {
  std::ranges::stable_sort(packs, [](const OpenPack& a, const OpenPack& b) {
    if (a.degree != b.degree) return a.degree > b.degree;
    return a.seconds > b.seconds;
  });
  const std::size_t gpus = costs.gpus();
  Mesh mesh = {std::vector<double>(gpus), std::vector<std::vector<OpenPack>>(gpus)};
  for (const OpenPack& pack : packs) place(costs, pack, mesh);
  LengthPlan plan;
  plan.seconds = *std::ranges::max_element(mesh.busy_s);
  std::vector<LengthPack>& round = plan.rounds.emplace_back();
  for (int first = 0; first < costs.gpus(); ++first) {
    for (const OpenPack& pack : mesh.packs[first]) round.push_back(pack.closed(costs, first));
  }
  return plan;
}

// Tries single sequences, which balance the GPUs best, and filled packs. These are fewer, which
// pays if memory is short or every pass has a fixed cost.
std::vector<LengthPlan> mesh_plans(const Lengths& batch) {
  std::vector<OpenPack> single;
  std::vector<OpenPack> filled;
  for (const int sequence : batch.order) {
    const std::size_t degree = batch.costs.least_degree(batch.lengths[sequence]);
    single.push_back(alone(batch, degree, sequence));
    best_fit(batch.costs, single.back(), filled);
  }
  return {dealt(batch.costs, std::move(filled)), dealt(batch.costs, std::move(single))};
}

}  // namespace

std::vector<LengthPlan> length_plans(LengthPolicy policy, const std::vector<int>& lengths,
                                     double longest, const LengthCosts& costs) {
  for (const int length : lengths) costs.least_degree(length);
  if (lengths.empty()) return {{}};
  const Lengths batch(lengths, costs);
  switch (policy) {
    case LengthPolicy::flexsp:
      return {flexible_plan(batch)};
    case LengthPolicy::hdp:
      return mesh_plans(batch);
    case LengthPolicy::fixed:
      break;
  }
  return {static_plan(batch, longest)};
}

LengthPlan balance_lengths(LengthPolicy policy, const std::vector<int>& lengths, double longest,
                           const LengthCosts& costs) {
  std::vector<LengthPlan> plans = length_plans(policy, lengths, longest, costs);
  return std::move(*std::ranges::min_element(plans, {}, &LengthPlan::seconds));
}

}  // namespace windtunnel
