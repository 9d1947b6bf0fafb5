#include "sim/campaign/replica.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

std::uint64_t stream_index(int replica, std::size_t failure_class) {
  return (static_cast<std::uint64_t>(replica) << 16) | failure_class;
}

}  // namespace

void CompensatedSum::add(double value) {
  const double sum = sum_ + value;
  correction_ += std::abs(sum_) >= std::abs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
  sum_ = sum;
}

CampaignPlan::CampaignPlan(const CampaignInputs& campaign_inputs) : inputs(campaign_inputs) {
  const IterationTable& table = inputs.table;
  for (const TierTiming& timing : table.tiers) tiers.push_back(timing.tier);
  for (std::size_t missing = 0; missing <= table.shrunk_iteration_s.size(); ++missing) {
    paces.emplace_back(table, static_cast<int>(missing));
  }
}

Replica::Replica(const CampaignPlan& plan, int index, CampaignMode mode)
    : plan_(plan), inputs_(plan.inputs), mode_(mode), spares_(inputs_.recovery.spares) {
  const std::uint64_t seed = inputs_.campaign.seed;
  for (std::size_t i = 0; i < inputs_.failures.size(); ++i) {
    const std::uint64_t stream = stream_index(index, i);
    arrivals_.emplace_back(inputs_.failures[i], inputs_.nodes, seed, stream);
    repair_random_.emplace_back(seed, RandomPurpose::repair, stream);
  }
  for (const TierTiming& timing : inputs_.table.tiers) copies_.push_back({-1, timing.restore_s});
  executed_.resize(plan_.paces.size());
  failures_.assign(inputs_.failures.size(), 0);
  restored_from_.assign(plan_.tiers.size() + 1, 0);
}

ReplicaResult Replica::run() {
  State state = State::training;
  while (state != State::over) state = state == State::training ? train() : recover();
  ReplicaResult result;
  account(result);
  return result;
}

// --- training

Replica::State Replica::train() {
  note_level();
  Stretch stretch(plan_.paces[level_], mode_, now_s_, head_);
  bool stopping = false;  // at the end of the iteration under way
  double stop_detect_s = 0;
  for (;;) {
    const Event event = next_event();
    if (stopping && stretch.step(event.at_s)) return stop_as_planned(stretch, stop_detect_s);
    if (!stopping) stretch.advance(event.at_s);

    if (event.kind == Event::Kind::end) {
      leave(stretch, stretch.now_s(), false);
      return State::over;
    }
    if (event.kind == Event::Kind::failure) {
      count_failure(event);
      const FailureClass& failure_class = inputs_.failures[event.failure_class];
      if (failure_class.kind != FailureKind::planned) {
        cut_s_.add(event.at_s - stretch.now_s());
        leave(stretch, event.at_s, true);
        fail(event);
        return State::down;
      }
      stopping = true;
      stop_detect_s = std::max(0.0, failure_class.detect_s);
    } else {
      now_s_ = event.at_s;
      finish_repairs();
      if (missing_ < level_ && tier_for_planned_stop(plan_.tiers) != kNoTier) {
        stopping = true;
      }
    }
    if (stopping && stretch.now_s() >= event.at_s) return stop_as_planned(stretch, stop_detect_s);
  }
}

Replica::State Replica::stop_as_planned(const Stretch& stretch, double stop_detect_s) {
  leave(stretch, stretch.now_s(), false);
  const int saver = tier_for_planned_stop(plan_.tiers);
  CHECK(saver != kNoTier, "a planned stop that no tier survives");
  const auto interrupted = spend(Loss::stall, inputs_.table.tiers[saver].complete_s);
  if (interrupted) return *interrupted;
  copies_[saver].iteration = head_;
  lose_copies(FailureKind::planned);
  detect_s_ = stop_detect_s;
  return State::down;
}

// The stretch ends at `at_s`: what it executed, and what the tiers can restore.
void Replica::leave(const Stretch& stretch, double at_s, bool running) {
  for (std::size_t tier = 0; tier < copies_.size(); ++tier) {
    const std::int64_t newest = stretch.newest_complete(static_cast<int>(tier), at_s, running);
    if (newest >= 0) copies_[tier].iteration = newest;
  }
  executed_[level_] += stretch.done();
  head_ = stretch.iteration();
  now_s_ = at_s;
}

// The iterations from head_ on run at level_; those that had run there before are lost.
void Replica::note_level() {
  while (!levels_.empty() && levels_.back().iteration >= head_) levels_.pop_back();
  if (levels_.empty() || levels_.back().level != level_) levels_.push_back({head_, level_});
}

// --- down

Replica::State Replica::recover() {
  std::optional<State> interrupted = spend(Loss::detect, detect_s_);
  if (interrupted) return *interrupted;
  finish_repairs();
  while (missing_ > most_missing()) {
    interrupted = spend(Loss::wait, repairs_.top() - now_s_);
    if (interrupted) return *interrupted;
    finish_repairs();
  }
  interrupted = spend(Loss::restart, inputs_.recovery.restart_s + restore_s_);
  if (interrupted) return *interrupted;
  finish_repairs();
  level_ = missing_;
  return State::training;
}

std::optional<Replica::State> Replica::spend(Loss loss, double duration_s) {
  const double until_s = now_s_ + duration_s;
  CompensatedSum& spent_s = spent_s_[static_cast<int>(loss)];
  const double length_s = inputs_.campaign.length_s;
  for (;;) {
    const Event event = next_failure();
    if (event.at_s >= std::min(until_s, length_s)) {
      spent_s.add(std::min(until_s, length_s) - now_s_);
      now_s_ = std::min(until_s, length_s);
      if (until_s >= length_s) return State::over;
      return std::nullopt;
    }
    spent_s.add(event.at_s - now_s_);
    now_s_ = event.at_s;
    count_failure(event);
    if (inputs_.failures[event.failure_class].kind == FailureKind::planned) continue;
    fail(event);
    return State::down;
  }
}

// --- events

Replica::Event Replica::next_failure() const {
  Event event{Event::Kind::failure, std::numeric_limits<double>::infinity(), -1};
  for (std::size_t i = 0; i < arrivals_.size(); ++i) {
    if (arrivals_[i].next_s() < event.at_s) {
      event.at_s = arrivals_[i].next_s();
      event.failure_class = static_cast<int>(i);
    }
  }
  return event;
}

// Of simultaneous ones the end comes first, then repairs.
Replica::Event Replica::next_event() const {
  Event event = next_failure();
  if (level_ > 0 && !repairs_.empty() && repairs_.top() <= event.at_s) {
    event = {Event::Kind::repair, repairs_.top(), -1};
  }
  const double length_s = inputs_.campaign.length_s;
  if (length_s <= event.at_s) event = {Event::Kind::end, length_s, -1};
  return event;
}

void Replica::count_failure(const Event& event) {
  ++failures_[event.failure_class];
  arrivals_[event.failure_class].advance();
}

// An unexpected failure at now_s_.
void Replica::fail(const Event& event) {
  const FailureClass& failure_class = inputs_.failures[event.failure_class];
  finish_repairs();
  if (failure_class.kind == FailureKind::node) lose_node(failure_class, event.failure_class);
  const int source = lose_copies(failure_class.kind);
  ++restored_from_[source == kNoTier ? restored_from_.size() - 1 : source];
  detect_s_ = failure_class.detect_s >= 0 ? failure_class.detect_s : inputs_.recovery.detect_s;
}

void Replica::lose_node(const FailureClass& failure_class, int class_index) {
  const double repair_s = draw_repair_s(failure_class.repair, repair_random_[class_index]);
  repairs_.push(now_s_ + repair_s);
  node_down_s_.add(std::min(repair_s, inputs_.campaign.length_s - now_s_));
  if (spares_ > 0) {
    --spares_;
  } else {
    ++missing_;
  }
}

// The job has stopped: what is left to restore decides which iterations survive. Returns its tier.
int Replica::lose_copies(FailureKind kind) {
  for (std::size_t tier = 0; tier < copies_.size(); ++tier) {
    if (!survives(plan_.tiers[tier], kind)) copies_[tier].iteration = -1;
  }
  const int source = tier_to_restore_from(copies_);
  head_ = source == kNoTier ? 0 : copies_[source].iteration;
  restore_s_ = source == kNoTier ? 0 : copies_[source].restore_s;
  return source;
}

// Repaired by now: into the job if it lacks a node, else to the spares.
void Replica::finish_repairs() {
  while (!repairs_.empty() && repairs_.top() <= now_s_) {
    repairs_.pop();
    if (missing_ > 0) {
      --missing_;
    } else {
      ++spares_;
    }
  }
}

int Replica::most_missing() const {
  if (inputs_.recovery.when_no_spare == WhenNoSpare::wait) return 0;
  return static_cast<int>(plan_.paces.size()) - 1;
}

// --- the account

void Replica::account(ReplicaResult& result) const {
  const IterationTable& table = inputs_.table;
  const auto lost_s = [&](Loss loss) -> double& { return result.lost_s[static_cast<int>(loss)]; };
  for (int loss = 0; loss < kLosses; ++loss) result.lost_s[loss] = spent_s_[loss].value();
  lost_s(Loss::redo) += cut_s_.value();

  std::vector<std::int64_t> surviving(plan_.paces.size(), 0);
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const std::int64_t end = i + 1 < levels_.size() ? levels_[i + 1].iteration : head_;
    surviving[levels_[i].level] +=
        std::max<std::int64_t>(0, std::min(end, head_) - levels_[i].iteration);
  }

  result.snapshots.assign(plan_.tiers.size(), 0);
  result.skipped_snapshots.assign(plan_.tiers.size(), 0);
  for (std::size_t level = 0; level < plan_.paces.size(); ++level) {
    const Pace& pace = plan_.paces[level];
    const Steps& executed = executed_[level];
    const auto survived = static_cast<double>(surviving[level]);
    const double progress = level == 0 ? 1 : table.shrunk_progress[level - 1];
    const double useful_s = progress * table.iteration_s[0];
    result.useful_s += survived * useful_s;
    lost_s(Loss::degraded) += survived * (pace.iteration_s() - useful_s);
    lost_s(Loss::redo) +=
        static_cast<double>(executed.total - surviving[level]) * pace.iteration_s();
    for (int set = 1; set < pace.sets(); ++set) {
      lost_s(Loss::stall) += static_cast<double>(executed.by_set[set]) * pace.stall_s(set);
      for (int tier = 0; tier < pace.tiers(); ++tier) {
        if (!(set >> tier & 1)) continue;
        result.snapshots[tier] += executed.by_set[set];
        result.skipped_snapshots[tier] += executed.by_set[set] * (pace.cadence(tier).turns - 1);
      }
    }
  }

  result.wall_s = now_s_;
  result.iterations = head_;
  result.failures = failures_;
  result.restored_from = restored_from_;
  result.node_down_s = node_down_s_.value();
  CompensatedSum sum;
  sum.add(result.useful_s);
  for (const double loss : result.lost_s) sum.add(loss);
  CHECK(std::abs(sum.value() - result.wall_s) <= 1e-9 * result.wall_s,
        "the account of replica sums to {} s of {} s", sum.value(), result.wall_s);
}

}  // namespace windtunnel
