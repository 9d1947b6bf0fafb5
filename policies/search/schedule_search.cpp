#include "policies/search/schedule_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "models/base/error.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "policies/schedules/generators.hpp"
#include "policies/search/order_climb.hpp"
#include "policies/search/periodic_schedule.hpp"
#include "policies/search/schedule_families.hpp"
#include "policies/search/split_order.hpp"

namespace windtunnel {
namespace {

// Chains of the local search, whatever the number of threads. Each starts from another order.
constexpr int kChains = 4;

// An order that a chain may start from.
struct Start {
  std::string name;
  SplitOrder order;
  FilledResult filled;
};

struct Clock {
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  double elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

class Search {
 public:
  Search(const ScheduleRequest& request, const SearchOptions& options)
      : request_(request), options_(options), filler_(request) {
    request_.group = 0;
  }

  SearchResult run() {
    bound();
    for (const ScheduleKind& kind : schedule_kinds()) try_kind(kind);
    for (NamedOrder& each : warm_up_orders(request_)) {
      try_order(std::move(each.name), std::move(each.order));
    }
    for (PeriodicOrder& each : periodic_orders(request_)) {
      SplitOrder order = split_order(each.schedule);
      add(each.name, std::move(each.schedule));
      try_fillings(each.name, std::move(order));
    }
    for (NamedOrder& each : rounds_orders(request_)) add_order(each.name, each.order);
    keep_best_starts();
    if (!done()) climb_from_starts();
    return finish();
  }

 private:
  void bound() {
    result_.bound_s = std::numeric_limits<double>::infinity();
    const bool makespan = options_.objective == SearchObjective::makespan;
    for (const Placement placement : {Placement::looped, Placement::vee}) {
      if (placement == Placement::vee && request_.chunks == 1) continue;
      const Schedule empty = empty_schedule("", request_, placement);
      const ScheduleBound bound = schedule_bound(request_, empty.rank_of_stage);
      const double bound_s = makespan ? bound.makespan_s : bound.longest_stage_s;
      if (bound_s >= result_.bound_s) continue;
      result_.bound_s = bound_s;
      result_.bound_because = makespan ? bound.makespan_because : bound.longest_stage_because;
    }
  }

  double value_of(const FilledResult& filled) const {
    return options_.objective == SearchObjective::makespan ? filled.makespan_s
                                                           : filled.longest_stage_s;
  }

  // Whether no order can be better than the best one found.
  bool done() const {
    return result_.value_s > 0 && result_.value_s <= result_.bound_s * (1 + kSlack);
  }

  ScheduleEvaluation evaluated(const Schedule& schedule) const {
    const double message_s = request_.message_s;
    if (request_.port_s == 0) return evaluate_schedule(schedule, costs(), message_s);
    const MessageTimes times{{message_s}, {message_s}, message_s - request_.port_s};
    return evaluate_schedule(schedule, costs(), SideStreams{.messages = {times}});
  }

  SearchCandidate candidate_of(const std::string& name, const Schedule& schedule) const {
    SearchCandidate candidate{name, evaluated(schedule)};
    candidate.peak_activation = *std::ranges::max_element(candidate.evaluation.peak_activation);
    candidate.fits = request_.memory_limit == 0 ||
                     candidate.peak_activation <= request_.memory_limit * (1 + kSlack);
    return candidate;
  }

  // Records a schedule as a candidate, and keeps it if it is the best so far.
  void add(const std::string& name, Schedule schedule) {
    SearchCandidate candidate = candidate_of(name, schedule);
    const double value_s = objective_s(candidate.evaluation, options_.objective);
    if (candidate.fits && request_.port_s > 0) result_.orders.push_back({name, schedule, value_s});
    if (candidate.fits && (schedule_.actions.empty() || value_s < result_.value_s)) {
      schedule.name = name;
      schedule_ = std::move(schedule);
      result_.value_s = value_s;
      result_.found_by = name;
    }
    least_peak_ = std::min(least_peak_, candidate.peak_activation);
    result_.candidates.push_back(std::move(candidate));
  }

  std::vector<StageCost> costs() const { return costs_of(request_); }

  void try_kind(const ScheduleKind& kind) {
    Schedule schedule;
    try {
      ScheduleRequest request = request_;
      if ((kind.knobs & kMemoryLimit) == 0) request.memory_limit = 0;
      schedule = generate_schedule(kind.name, request);
    } catch (const Error&) {
      return;  // there is none for this p, m, v or limit
    }
    if (const char* why = left_out_because(schedule)) {
      SearchCandidate order = candidate_of(std::string(kind.name), schedule);
      result_.left_out.push_back({std::move(order), why});
      return;
    }
    SplitOrder order = split_order(schedule);
    const std::string name(kind.name);
    add(name, std::move(schedule));
    try_fillings(name, std::move(order));
  }

  // Returns why the search and its bound leave such a schedule out; null: they cover it.
  static const char* left_out_because(const Schedule& schedule) {
    if (schedule.iterations > 1) return "no flush between iterations";
    if (schedule.directions > 1) return "two directions, with the weights held twice";
    if (!is_unpaired(schedule)) return "forwards and backwards in pairs that overlap";
    if (schedule.slices > 1) return "slices of micro-batches";
    if (schedule.explicit_recompute) return "recomputation as a separate action";
    return nullptr;
  }

  static bool is_unpaired(const Schedule& schedule) {
    for (const auto& actions : schedule.actions) {
      for (const Action& action : actions) {
        if (action.with_next) return false;
      }
    }
    return true;
  }

  // Tries the order's forwards and input gradients with weight gradients inserted anew.
  void try_fillings(const std::string& name, SplitOrder order) {
    for (const double patience : {1.0, 0.5, 0.0}) {
      for (SplitRank& rank : order.ranks) rank.patience = patience;
      try_order(fmt::format("{}, weights refilled", name), order);
      for (const int places : {1, 2, 4}) {
        try_order(fmt::format("{}, forwards {} earlier", name, places),
                  with_forwards_earlier(order, places));
      }
    }
  }

  void try_order(std::string name, SplitOrder order) {
    ++result_.timed_orders;
    const FilledResult filled = filler_.fill(order);
    if (filled.possible) starts_.push_back({std::move(name), std::move(order), filled});
  }

  // Keeps the best start of each name, and only one of equal value, so that all chains differ.
  void keep_best_starts() {
    std::ranges::stable_sort(starts_, {}, [&](const Start& at) {
      return std::pair(value_of(at.filled), at.filled.mean_span_s);
    });
    std::vector<Start> kept;
    for (Start& start : starts_) {
      const bool known = std::ranges::any_of(kept, [&](const Start& other) {
        return other.name == start.name || (value_of(other.filled) == value_of(start.filled) &&
                                            other.filled.mean_span_s == start.filled.mean_span_s);
      });
      if (known) continue;
      kept.push_back(std::move(start));
      if (kept.size() == kChains) break;
    }
    starts_ = std::move(kept);
    for (const Start& start : starts_) add_order(start.name, start.order);
  }

  void add_order(const std::string& name, const SplitOrder& order) {
    Schedule schedule;
    if (filler_.fill(order, &schedule).possible) add(name, std::move(schedule));
  }

  bool must_stop() const {
    return (options_.stop != nullptr && options_.stop->load()) ||
           (options_.seconds > 0 && clock_.elapsed_s() > options_.seconds);
  }

  void climb_from_starts() {
    if (starts_.empty()) return;
    const double actions = 3.0 * request_.ranks * request_.chunks * request_.microbatches;
    const auto steps = static_cast<int>(std::min(1e9, options_.effort / actions / kChains));
    if (steps < 1) return;
    std::vector<ClimbResult> climbed(kChains);
    std::atomic<bool> stopped{false};
    const auto caller = std::this_thread::get_id();  // only this thread reports progress
    for_each_index(kChains, options_.threads, [&](size_t index) {
      const int chain = static_cast<int>(index);
      ClimbOptions options;
      options.makespan = options_.objective == SearchObjective::makespan;
      options.steps = steps;
      options.good_enough_s = result_.bound_s * (1 + kSlack);
      options.seed = options_.seed;
      options.chain = chain;
      options.stop = [&, chain] {
        if (std::this_thread::get_id() == caller && options_.progress) {
          options_.progress(fmt::format("local search, chain {} of {}", chain + 1, kChains));
        }
        if (must_stop()) stopped = true;
        return stopped.load();
      };
      climbed[chain] = climb(request_, starts_[chain % starts_.size()].order, options);
    });
    result_.stopped = stopped;
    // If several are equally good, the first one is taken.
    const ClimbResult* best = nullptr;
    std::string name;
    for (int chain = 0; chain < kChains; ++chain) {
      result_.timed_orders += climbed[chain].steps;
      if (best != nullptr && value_of(climbed[chain].filled) >= value_of(best->filled)) continue;
      best = &climbed[chain];
      name = starts_[chain % starts_.size()].name;
    }
    if (value_of(best->filled) < result_.value_s) {
      add_order(fmt::format("local search from {}", name), best->order);
    }
  }

  // Returns the activations of a micro-batch on the fullest rank, in the best placement of stages.
  double activation_of_one() const {
    const std::vector<StageCost> stages = costs();
    double least = std::numeric_limits<double>::infinity();
    for (const Placement placement : {Placement::looped, Placement::vee}) {
      const Schedule empty = empty_schedule("", request_, placement);
      std::vector<double> kept(request_.ranks, 0);
      for (int s = 0; s < empty.stages(); ++s) kept[empty.rank_of_stage[s]] += stages[s].activation;
      least = std::min(least, *std::ranges::max_element(kept));
    }
    return least;
  }

  SearchResult finish() {
    if (schedule_.actions.empty()) {
      ScheduleRequest unlimited = request_;
      unlimited.memory_limit = 0;
      for (const PeriodicOrder& each : periodic_orders(unlimited)) {
        least_peak_ = std::min(least_peak_, each.peak_activation);
      }
      const double one = activation_of_one();
      const bool too_little = request_.memory_limit < one;
      throw Error(fmt::format(
          "no schedule of {} ranks, {} micro-batches and {} chunks fits in a memory limit of {:g}: "
          "{} {:g} on its fullest rank",
          request_.ranks, request_.microbatches, request_.chunks, request_.memory_limit,
          too_little ? "one micro-batch alone keeps" : "the least found is",
          too_little ? one : least_peak_));
    }
    result_.evaluation = evaluated(schedule_);
    result_.schedule = std::move(schedule_);
    std::ranges::stable_sort(result_.orders, {}, &FoundOrder::value_s);
    const auto standing = [&](const SearchCandidate& at) {
      return std::pair(!at.fits, objective_s(at.evaluation, options_.objective));
    };
    std::ranges::stable_sort(result_.candidates, {}, standing);
    std::ranges::stable_sort(result_.left_out, {},
                             [&](const LeftOutOrder& at) { return standing(at.order); });
    return std::move(result_);
  }

  ScheduleRequest request_;
  const SearchOptions& options_;
  WeightFiller filler_;
  Clock clock_;
  std::vector<Start> starts_;
  Schedule schedule_;  // the best so far
  double least_peak_ = std::numeric_limits<double>::infinity();
  SearchResult result_;
};

}  // namespace

double objective_s(const ScheduleEvaluation& evaluation, SearchObjective objective) {
  return objective == SearchObjective::makespan ? evaluation.makespan_s
                                                : evaluation.longest_stage_s;
}

SearchResult search_schedule(const ScheduleRequest& request, const SearchOptions& options) {
  if (request.slices != 1) throw Error("a search does not support slices of sequences");
  return Search(request, options).run();
}

}  // namespace windtunnel
