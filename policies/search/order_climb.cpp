#include "policies/search/order_climb.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

// The mean over ranks is added to the objective with this small weight, because most changes do not
// affect the objective by itself.
constexpr double kMeanShare = 0.02;
// a loss of this share of the objective is accepted at the start; the share falls to 0
constexpr double kTemperature = 2e-4;
constexpr double kChainPatiences[] = {0, 0.25, 0.5, 0.75, 1};
constexpr int kStepsBetweenStops = 64;

// Changes ranks of an order, and can undo the last change.
class Mutation {
 public:
  Mutation(SplitOrder& order, RandomStream& random) : order_(order), random_(random) {}

  // Returns false if nothing changed.
  bool apply() {
    saved_.clear();
    const auto ranks = static_cast<int>(order_.ranks.size());
    const int first = below(ranks);
    const double kind = random_.uniform();
    const bool many_chunks = order_.rank_of_stage.size() > order_.ranks.size();
    if (kind < 0.15) return set_patience(first, random_.uniform() < 0.3 ? ranks : first + 1);
    if (many_chunks && kind < 0.35) return swap_items(first, kind < 0.25);
    if (many_chunks && kind < 0.55) return advance_stage(first, kind < 0.45);
    const int last = random_.uniform() < 0.3 ? first + 1 + below(ranks - first) : first + 1;
    return shift(first, last, random_.uniform() < 0.5 ? 1 : -1);
  }

  void undo() {
    for (auto& [rank, saved] : saved_) order_.ranks[rank] = std::move(saved);
    saved_.clear();
  }

 private:
  int below(int bound) { return static_cast<int>(random_.below(bound)); }
  SplitRank& changed(int rank) {
    saved_.emplace_back(rank, order_.ranks[rank]);
    return order_.ranks[rank];
  }

  bool set_patience(int first, int last) {
    const double patience = kChainPatiences[below(std::size(kChainPatiences))];
    bool any = false;
    for (int rank = first; rank < last; ++rank) {
      if (order_.ranks[rank].patience == patience) continue;
      changed(rank).patience = patience;
      any = true;
    }
    return any;
  }

  // Swaps two neighbours of different stages. Passes of one stage stay in the order of their units.
  bool swap_items(int rank, bool forwards) {
    const SplitRank& old = order_.ranks[rank];
    const auto& items = forwards ? old.forwards : old.backwards;
    if (items.size() < 2) return false;
    const int at = below(static_cast<int>(items.size()) - 1);
    if (items[at].stage == items[at + 1].stage) return false;
    SplitRank& next = changed(rank);
    auto& list = forwards ? next.forwards : next.backwards;
    std::swap(list[at], list[at + 1]);
    return true;
  }

  // Moves all passes of one stage one place forward in their list, from some place on, as far as
  // another place or the end.
  bool advance_stage(int rank, bool forwards) {
    const SplitRank& old = order_.ranks[rank];
    const auto all = static_cast<int>(old.forwards.size());
    if (all < 2) return false;
    const int from = random_.uniform() < 0.3 ? 0 : below(all - 1);
    const int to = random_.uniform() < 0.3 ? all : from + 2 + below(all - from - 1);
    const int stage = (forwards ? old.forwards : old.backwards)[from + 1].stage;
    SplitRank& next = changed(rank);
    auto& list = forwards ? next.forwards : next.backwards;
    bool any = false;
    for (int i = from; i + 1 < std::min(to, all); ++i) {
      if (list[i].stage == stage || list[i + 1].stage != stage) continue;
      std::swap(list[i], list[i + 1]);
      any = true;
    }
    return any;
  }

  // Moves forwards one place earlier (+1) or later (-1), from some backward on, as far as another
  // backward or the end.
  bool shift(int first, int last, int by) {
    const auto all = static_cast<int>(order_.ranks[first].ahead.size());
    const int from = random_.uniform() < 0.5 ? 0 : below(all);
    const int to = random_.uniform() < 0.5 ? all : from + 1 + below(all - from);
    bool any = false;
    for (int rank = first; rank < last; ++rank) {
      SplitRank& at = changed(rank);
      const auto forwards = static_cast<int>(at.forwards.size());
      if (by > 0) {
        for (int k = to - 1; k >= from; --k) {
          const int most = k + 1 < all ? at.ahead[k + 1] : forwards;
          any |= at.ahead[k] < most;
          at.ahead[k] = std::min(at.ahead[k] + 1, most);
        }
      } else {
        for (int k = from; k < to; ++k) {
          const int least = k > 0 ? at.ahead[k - 1] : 0;
          any |= at.ahead[k] > least;
          at.ahead[k] = std::max(at.ahead[k] - 1, least);
        }
      }
    }
    return any;
  }

  SplitOrder& order_;
  RandomStream& random_;
  std::vector<std::pair<int, SplitRank>> saved_;
};

}  // namespace

ClimbResult climb(const ScheduleRequest& request, const SplitOrder& start,
                  const ClimbOptions& options) {
  WeightFiller filler(request);
  RandomStream random(options.seed, RandomPurpose::schedule_search, options.chain);
  const auto objective_s = [&](const FilledResult& filled) {
    return options.makespan ? filled.makespan_s : filled.longest_stage_s;
  };
  const auto score_s = [&](const FilledResult& filled) {
    return objective_s(filled) + kMeanShare * filled.mean_span_s;
  };
  SplitOrder order = start;
  ClimbResult best{start, filler.fill(start), 0};
  CHECK(best.filled.possible, "the climb starts from an order that cannot be");
  double current_s = score_s(best.filled);
  double best_s = current_s;
  Mutation mutation(order, random);
  for (int step = 0; step < options.steps; ++step) {
    if (objective_s(best.filled) <= options.good_enough_s) break;
    if (step % kStepsBetweenStops == 0 && options.stop && options.stop()) break;
    best.steps = step + 1;
    if (!mutation.apply()) continue;
    const FilledResult filled = filler.fill(order);
    const double left = 1 - double(step) / options.steps;
    const double loss_s = -std::log(random.uniform()) * kTemperature * best_s * left * left;
    if (!filled.possible || score_s(filled) > current_s + loss_s) {
      mutation.undo();
      continue;
    }
    current_s = score_s(filled);
    if (current_s >= best_s) continue;
    best_s = current_s;
    best.filled = filled;
    best.order = order;
  }
  return best;
}

}  // namespace windtunnel
