#include "sim/campaign/trial.hpp"

#include <algorithm>

#include "models/base/error.hpp"
#include "models/reliability/failure_traits.hpp"

namespace windtunnel {

Trial::Trial(const CampaignPlan& plan, int index, CampaignMode mode,
             std::vector<CampaignEvent>* events)
    : plan_(plan),
      inputs_(plan.inputs),
      mode_(mode),
      events_(events),
      streams_(inputs_, index),
      pool_(inputs_.recovery, inputs_.nodes, inputs_.campaign.length_s),
      groups_(inputs_.recovery.elastic, inputs_.nodes, plan.most_out),
      copies_(plan),
      account_(plan),
      ruling_{.trial = index, .mtbf_s = plan.mtbf_s},
      failures_(inputs_.failures.size(), 0),
      restored_from_(plan.tiers.size() + 1, 0) {}

TrialResult Trial::run() {
  while (state_ != State::over) {
    switch (state_) {
      case State::training:
        state_ = train();
        break;
      case State::reforming:
        state_ = reform();
        break;
      case State::down:
        state_ = recover();
        break;
      case State::over:
        break;
    }
  }
  log(CampaignEvent::Kind::end, inputs_.campaign.length_s);
  if (events_ != nullptr) std::ranges::stable_sort(*events_, {}, &CampaignEvent::at_s);
  TrialResult result;
  account_.close(head_, now_s_, result);
  result.failures = failures_;
  result.restored_from = restored_from_;
  result.node_down_s = pool_.down_s();
  result.count(CampaignCount::failed_restarts) = failed_restarts_;
  result.count(CampaignCount::evicted_nodes) = pool_.evicted();
  result.ruled.assign(ruling_.said.begin(), ruling_.said.begin() + std::ssize(plan_.tiers));
  return result;
}

// --- training

Trial::State Trial::train() {
  begin_training();
  for (;;) {
    const Event event = next_event();
    if (pause_ != Pause::none && run_->step(event.at_s)) {
      if (const std::optional<State> next = pause()) return *next;
      continue;
    }
    if (pause_ == Pause::none) run_->advance(event.at_s);
    if (event.kind == Event::Kind::end) {
      leave(run_->now_s(), false);
      return State::over;
    }
    if (const std::optional<State> next = meet(event)) return *next;
    if (pause_ == Pause::none || run_->now_s() < event.at_s) continue;
    if (const std::optional<State> next = pause()) return *next;
  }
}

void Trial::begin_training() {
  pause_ = Pause::none;
  stop_detect_s_ = 0;
  provision_s_ = 0;
  pace_ = plan_.pace_index(level_, slowest());
  account_.begin(head_, pace_);
  if (goes_on_) {
    run_->go_on(plan_.pace(pace_), now_s_);
    CHECK(run_->iteration() == head_, "goes on at {}, not {}", run_->iteration(), head_);
  } else {
    run_.emplace(plan_.pace(pace_), mode_, now_s_, head_, &ruling_);
  }
}

// If events are simultaneous, the end of the campaign comes first, then what the job does itself.
Trial::Event Trial::next_event() const {
  const FailureStreams::Next failure = streams_.next();
  Event event{Event::Kind::failure, failure.at_s, failure};
  const auto earlier = [&](Event::Kind kind, double at_s) {
    if (at_s <= event.at_s) event = {kind, at_s};
  };
  if (pause_ != Pause::stop && !slow_.empty()) {
    earlier(Event::Kind::noticed, std::max(now_s_, next_notice_s()));
  }
  if (pause_ == Pause::none && groups_.out() > 0) {
    earlier(Event::Kind::rejoin, std::max(now_s_, groups_.next_back_s()));
  }
  if (pool_.empty_slots() > 0) earlier(Event::Kind::repair, pool_.next_back_s());
  earlier(Event::Kind::end, inputs_.campaign.length_s);
  return event;
}

std::optional<Trial::State> Trial::meet(const Event& event) {
  now_s_ = event.at_s;
  switch (event.kind) {
    case Event::Kind::failure:
      return meet_failure(event);
    case Event::Kind::repair:
      finish_repairs();
      // Groups rejoin without a restart. A smaller job can grow only by a restart.
      if (!plan_.is_elastic() && plan_.saver != kNoTier && can_grow()) pause_ = Pause::stop;
      return std::nullopt;
    case Event::Kind::rejoin:
      pause_ = Pause::rejoin;
      return std::nullopt;
    case Event::Kind::noticed:
      if (!plan_.saver_outlives_node) return give_up_slow_nodes();
      pause_ = Pause::stop;
      return std::nullopt;
    case Event::Kind::end:
      break;
  }
  return std::nullopt;
}

std::optional<Trial::State> Trial::meet_failure(const Event& event) {
  const int class_index = event.failure.failure_class;
  const FailureClass& failure_class = inputs_.failures[class_index];
  strike(event.failure);
  if (streams_.is_notice(event.failure)) {
    if (!interrupts(class_index)) return std::nullopt;
    streams_.announce(class_index, hit_, now_s_);
    pause_ = std::max(pause_, Pause::part);
    return std::nullopt;
  }
  if (failure_class.kind == FailureKind::planned) {
    pause_ = Pause::stop;
    stop_detect_s_ = std::max(0.0, failure_class.detect_s);
    return std::nullopt;
  }
  if (failure_class.kind == FailureKind::corrupt_snapshot) {
    copies_.collect(*run_, now_s_, true, plan_.layout_of(level_));
  }
  if (failure_class.kind != FailureKind::loss_spike && !interrupts(class_index)) {
    // The current iteration already runs at the pace of the slow node.
    if (failure_class.kind == FailureKind::slow_node) set_pace();
    return std::nullopt;
  }
  cut(now_s_);
  return fail(class_index);
}

// Must be called at the end of an iteration. Returns nothing if a stop is of no use now; then the
// job trains on.
std::optional<Trial::State> Trial::pause() {
  if (pause_ == Pause::rejoin) return rejoin();
  const std::vector<int> slots = leaving();
  if (pause_ == Pause::part && groups_.can_lose(slots)) return part();
  int tier = plan_.saver;
  if (!slots.empty()) {
    const double left_s = streams_.next_leaving_s() - run_->now_s();
    tier = plan_.saver_within(left_s, slots);
  } else if (pause_ == Pause::part) {
    tier = kNoTier;
  }
  if (tier != kNoTier) return stop_as_planned(tier);
  // A request of Pause::stop remains until a node is lost, because that stops the job anyway.
  if (pause_ == Pause::part) pause_ = Pause::none;
  return std::nullopt;
}

Trial::State Trial::stop_as_planned(int tier) {
  leave(run_->now_s(), false);
  state_ = State::down;
  CHECK(tier != kNoTier, "a planned stop that no tier survives");
  const auto interrupted = spend(Loss::stall, inputs_.table.tiers[tier].complete_s);
  if (interrupted) return *interrupted;
  copies_.add(tier, {reached_, now_s_}, plan_.layout_of(level_));
  if (CampaignEvent* event = log(CampaignEvent::Kind::saved, now_s_)) {
    event->tier = tier;
    event->iteration = reached_;
  }
  FailureClass stop;
  stop.kind = FailureKind::planned;
  copies_.end_trainers(stop);
  if (tier == plan_.saver && plan_.saver_outlives_node) swap_slow_nodes();
  provision_s_ = std::max(provision_s_, lose_leaving());
  head_ = newest_copy(true).iteration;
  detect_s_ = stop_detect_s_;
  return State::down;
}

// Replaces slow nodes if no snapshot would survive a planned stop.
Trial::State Trial::give_up_slow_nodes() {
  cut(now_s_);
  finish_repairs();
  FailureClass slow_class;
  slow_class.kind = FailureKind::slow_node;
  swap_slow_nodes();
  provision_s_ = std::max(provision_s_, lose_leaving());
  copies_.end_trainers(slow_class);
  detect_s_ = 0;
  return go_down();
}

// The groups of nodes that have a notice leave. No iteration is lost.
Trial::State Trial::part() {
  leave(run_->now_s(), false);
  run_->forget_copies();
  FailureClass node_class;
  copies_.end_trainers(node_class);
  const std::vector<int> slots = leaving();
  groups_.lose(slots, now_s_ + inputs_.recovery.elastic.stall_s + lose_leaving());
  detect_s_ = 0;
  return State::reforming;
}

Trial::State Trial::rejoin() {
  leave(run_->now_s(), false);
  state_ = State::reforming;
  goes_on_ = true;
  const auto interrupted = spend(Loss::restart, inputs_.recovery.elastic.rejoin_stall_s);
  if (interrupted) return *interrupted;
  finish_repairs();
  groups_.take_back(now_s_);
  level_ = groups_.out();
  log(CampaignEvent::Kind::grown, now_s_);
  return State::training;
}

// Ends the run at `at_s`: books what it executed, and records which copies can be restored.
void Trial::leave(double at_s, bool running) {
  const int layout = plan_.layout_of(level_);
  copies_.collect(*run_, at_s, running, layout);
  account_.execute(pace_, run_->done());
  head_ = reached_ = run_->iteration();
  if (plan_.has_replicas) copies_.hold({head_, run_->now_s()}, slots_out(), layout);
  now_s_ = at_s;
}

void Trial::cut(double at_s) {
  account_.cut(at_s - run_->now_s());
  leave(at_s, true);
  run_->forget_copies();
}

// --- not training

// The remaining groups go on.
Trial::State Trial::reform() {
  auto interrupted = spend(Loss::detect, detect_s_);
  if (interrupted) return *interrupted;
  log(CampaignEvent::Kind::detected, now_s_);
  interrupted = spend(Loss::restart, inputs_.recovery.elastic.stall_s);
  if (interrupted) return *interrupted;
  finish_repairs();
  level_ = groups_.out();
  goes_on_ = true;
  if (CampaignEvent* event = log(CampaignEvent::Kind::reformed, now_s_)) event->iteration = head_;
  return State::training;
}

Trial::State Trial::recover() {
  auto interrupted = spend(Loss::detect, detect_s_);
  if (interrupted) return *interrupted;
  log(CampaignEvent::Kind::detected, now_s_);
  finish_repairs();
  while (lacking() > plan_.most_out || link_up_s_ > now_s_) {
    const double until_s = lacking() > plan_.most_out ? pool_.next_back_s() : link_up_s_;
    interrupted = spend(Loss::wait, until_s - now_s_);
    if (interrupted) return *interrupted;
    finish_repairs();
  }
  for (bool works = false; !works;) {
    interrupted = spend(Loss::restart, inputs_.recovery.restart_s + provision_s_);
    if (interrupted) return *interrupted;
    provision_s_ = 0;
    works = streams_.restart_works();
    if (!works) ++failed_restarts_;
  }
  interrupted = load();
  if (interrupted) return *interrupted;
  finish_repairs();
  groups_.restart();
  const bool grows = can_grow();
  level_ = lacking();
  goes_on_ = false;
  if (grows) log(CampaignEvent::Kind::grown, now_s_);
  return State::training;
}

// Loads the newest copy. If it turns out to be corrupt, loads the next one.
std::optional<Trial::State> Trial::load() {
  Copies::Source source;
  // Startup data is read once per restart, even if several copies are tried.
  double storms = streams_.meets_storm() ? 1 : 0;
  double starts = 1;
  do {
    source = newest_copy(false);
    const IterationTable& table = inputs_.table;
    const StartupReads& startup =
        source.tier == kNoTier ? table.anew : table.tiers[source.tier].startup;
    const double startup_s = starts * startup.alone_s + storms * startup.storm_s;
    starts = storms = 0;
    const auto interrupted = spend(Loss::restart, source.load_s + startup_s);
    if (interrupted) return interrupted;
    // The copy may also have been corrupted while it was loaded.
    source.bad = source.tier != kNoTier && newest_copy(false).bad;
    if (source.bad) copies_.discard(source.tier);
  } while (source.bad);
  head_ = source.iteration;
  if (CampaignEvent* event = log(CampaignEvent::Kind::restored, now_s_)) {
    event->tier = source.tier;
    event->iteration = head_;
    event->lost_iterations = reached_ - head_;
  }
  return std::nullopt;
}

// Returns the newest copy that the nodes present now can load.
Copies::Source Trial::newest_copy(bool good) const {
  return copies_.newest(good, plan_.layout_of(lacking()));
}

std::optional<Trial::State> Trial::spend(Loss loss, double duration_s) {
  const double until_s = now_s_ + duration_s;
  const double end_s = std::min(until_s, inputs_.campaign.length_s);
  for (;;) {
    const FailureStreams::Next next = streams_.next();
    if (next.at_s >= end_s) {
      account_.spend(loss, end_s - now_s_);
      now_s_ = end_s;
      if (until_s >= inputs_.campaign.length_s) return State::over;
      return std::nullopt;
    }
    account_.spend(loss, next.at_s - now_s_);
    now_s_ = next.at_s;
    strike(next);
    // A snapshot that is being taken goes on during a notice. A job with nothing left to save
    // releases the node at once.
    if (loss == Loss::stall && streams_.is_notice(next)) {
      streams_.announce(next.failure_class, hit_, now_s_);
    } else if (interrupts(next.failure_class)) {
      return fail(next.failure_class);
    }
  }
}

// Whether the failure that was just drawn interrupts the job. Other effects of the failure are
// applied here. A planned stop or a diverging loss does not affect a job that does not train.
bool Trial::interrupts(int failure_class) {
  const FailureClass& kind = inputs_.failures[failure_class];
  if (kind.kind == FailureKind::corrupt_snapshot) copies_.corrupt(kind.corrupt_tier);
  if (kind.kind == FailureKind::slow_node) note_slow_node(failure_class);
  if (!traits_of(kind.kind).interrupts()) return false;
  if (hit_.empty()) return false;
  if (state_ == State::down || !groups_.all_out(hit_)) return true;
  // A group that is already out is hit again, so the others do not notice.
  double ready_s = now_s_ + streams_.noticed_after_s(failure_class, now_s_);
  if (traits_of(kind.kind).takes_link) ready_s += streams_.draw_repair_s(failure_class);
  groups_.lose(hit_, ready_s + lose_nodes(failure_class));
  return false;
}

CampaignEvent* Trial::log(CampaignEvent::Kind kind, double at_s) {
  if (events_ == nullptr) return nullptr;
  CampaignEvent event;
  event.kind = kind;
  event.at_s = at_s;
  return &events_->emplace_back(event);
}

}  // namespace windtunnel
