// What failures do, and nodes that leave and join; see trial.hpp.
#include <algorithm>
#include <limits>
#include <set>

#include "models/reliability/failure_traits.hpp"
#include "sim/campaign/trial.hpp"

namespace windtunnel {
namespace {

// Returns the number of the replica to which the node belongs, among those with the same shard.
int replica_of(int slot, const NodeGroups& same_shard) {
  return slot % (same_shard.stride * same_shard.size) / same_shard.stride;
}

}  // namespace

void Trial::strike(const FailureStreams::Next& failure) {
  finish_repairs();
  streams_.strike(failure, hit_);
  if (failure.leaves) return;  // it was counted when its notice began
  ++failures_[failure.failure_class];
  std::erase_if(hit_, [&](int slot) { return pool_.node_at(slot) == kNobody; });
  if (CampaignEvent* logged = log(CampaignEvent::Kind::failure, failure.at_s)) {
    logged->failure_class = failure.failure_class;
    logged->nodes = hit_;
    struck_ = events_->size() - 1;
  }
}

// Handles an unexpected failure at now_s_ that stops the job.
Trial::State Trial::fail(int class_index) {
  const FailureClass& failure_class = inputs_.failures[class_index];
  ++ruling_.failures;
  detect_s_ = streams_.noticed_after_s(class_index, now_s_);
  // Nodes that have a notice also leave now, because the job stops anyway.
  std::vector<int> out = leaving();
  out.insert(out.end(), hit_.begin(), hit_.end());
  const bool others_go_on = state_ != State::down && !hit_.empty() && groups_.can_lose(out);
  const double of_hit_s = lose_nodes(class_index);
  const double provision_s = std::max(of_hit_s, lose_leaving());
  lose_copies(failure_class);
  const double link_s =
      traits_of(failure_class.kind).takes_link ? streams_.draw_repair_s(class_index) : 0;
  if (others_go_on) {
    const double stalled_s = detect_s_ + inputs_.recovery.elastic.stall_s + provision_s;
    groups_.lose(out, now_s_ + std::max(stalled_s, link_s));
    return State::reforming;
  }
  provision_s_ = std::max(provision_s_, provision_s);
  if (link_s > 0) link_up_s_ = std::max(link_up_s_, now_s_ + link_s);
  return go_down();
}

void Trial::lose_copies(const FailureClass& failure_class) {
  if (failure_class.kind == FailureKind::loss_spike) {
    copies_.spoil(now_s_ - failure_class.rollback_s);
  } else if (failure_class.kind != FailureKind::node) {
    for (const int slot : hit_) copies_.lose_gpus(slot);
  }
  if (failure_class.kind == FailureKind::process && failure_class.takes_keeper) {
    for (const int slot : hit_) copies_.lose_keeper(slot, now_s_);
  }
  copies_.end_trainers(failure_class);
}

// The copies that are left determine which iterations survive.
Trial::State Trial::go_down() {
  const Copies::Source source = newest_copy(true);
  head_ = source.iteration;
  ++restored_from_[source.tier == kNoTier ? restored_from_.size() - 1 : source.tier];
  return State::down;
}

// Takes away all nodes that a failure of this class takes. Returns the time until spares can join.
double Trial::lose_nodes(int failure_class) {
  double provision_s = 0;
  if (inputs_.failures[failure_class].kind == FailureKind::node) {
    for (const int slot : hit_) {
      provision_s = std::max(provision_s, lose_node(slot, failure_class));
    }
  }
  return provision_s;
}

std::vector<int> Trial::leaving() const {
  std::vector<int> slots;
  for (const FailureStreams::Leaving& one : streams_.leaving()) slots.push_back(one.slot);
  return slots;
}

// Takes away nodes that have a notice before it ends. Returns the time until spares can join.
double Trial::lose_leaving() {
  double provision_s = 0;
  while (!streams_.leaving().empty()) {
    const FailureStreams::Leaving one = streams_.leaving().front();
    provision_s = std::max(provision_s, lose_node(one.slot, one.failure_class));
  }
  return provision_s;
}

// Takes away the node and its copies. Returns the time until a spare can join.
double Trial::lose_node(int slot, int failure_class) {
  const double repair_s = streams_.draw_away_s(failure_class, slot, now_s_);
  if (inputs_.failures[failure_class].notice_s > 0) log_swap(slot, failure_class);
  if (events_ != nullptr && (*events_)[struck_].repair_s == 0) {
    (*events_)[struck_].repair_s = repair_s;
  }
  copies_.lose_node(slot, now_s_);
  std::erase_if(slow_, [&](const SlowNode& slow) { return slow.slot == slot; });
  const bool reclaimed = is_reclaimed(inputs_.failures[failure_class]);
  const double provision_s = pool_.replace(slot, now_s_, repair_s, reclaimed);
  const int node = pool_.node_at(slot);
  if (node == kNobody) groups_.emptied(slot);
  streams_.stands(slot, node, false, now_s_);
  return provision_s;
}

void Trial::finish_repairs() {
  while (const std::optional<NodePool::Back> back = pool_.take_back(now_s_)) {
    const auto kind = back->evicted ? CampaignEvent::Kind::evicted : CampaignEvent::Kind::repaired;
    if (CampaignEvent* event = log(kind, back->at_s)) event->nodes = {back->node};
    if (back->slot == kNobody) continue;
    groups_.filled(back->slot, back->at_s);
    streams_.stands(back->slot, back->node, true, now_s_);
  }
}

int Trial::lacking() const {
  return plan_.is_elastic() ? groups_.lacking() : pool_.empty_slots();
}

// Returns the slots whose GPUs hold no state of the job while it trains. In a shrunk job these are
// the slots of a replica that lacks a node, whose other nodes wait or train elsewhere.
std::vector<int> Trial::slots_out() const {
  const bool shrunk = plan_.layout_of(level_) > 0;
  if (groups_.out() == 0 && !shrunk) return {pool_.empty().begin(), pool_.empty().end()};
  std::set<int> broken;
  for (const int slot : pool_.empty()) broken.insert(replica_of(slot, inputs_.same_shard));
  std::vector<int> slots;
  for (int slot = 0; slot < inputs_.nodes; ++slot) {
    const bool out =
        shrunk ? broken.contains(replica_of(slot, inputs_.same_shard)) : groups_.is_out(slot);
    if (out) slots.push_back(slot);
  }
  return slots;
}

// --- slow nodes

void Trial::note_slow_node(int failure_class) {
  const double noticed_s = now_s_ + streams_.noticed_after_s(failure_class, now_s_);
  for (const int slot : hit_) slow_.push_back({slot, failure_class, noticed_s});
}

int Trial::slowest() const {
  int slowest = kNoSlowNode;
  const std::vector<double>& slow_s = inputs_.table.slow_iteration_s;
  for (const SlowNode& slow : slow_) {
    if (slowest == kNoSlowNode || slow_s[slow.failure_class] > slow_s[slowest]) {
      slowest = slow.failure_class;
    }
  }
  return slowest;
}

double Trial::next_notice_s() const {
  double next_s = std::numeric_limits<double>::infinity();
  for (const SlowNode& slow : slow_) next_s = std::min(next_s, slow.noticed_s);
  return next_s;
}

std::vector<Trial::SlowNode> Trial::noticed() const {
  std::vector<SlowNode> result;
  for (const SlowNode& slow : slow_) {
    if (slow.noticed_s <= now_s_) result.push_back(slow);
  }
  return result;
}

void Trial::swap_slow_nodes() {
  for (const SlowNode& slow : noticed()) {
    // If a node became slow twice, its first entry has already taken it away.
    if (std::ranges::find(slow_, slow.slot, &SlowNode::slot) == slow_.end()) continue;
    log_swap(slow.slot, slow.failure_class);
    provision_s_ = std::max(provision_s_, lose_node(slow.slot, slow.failure_class));
  }
}

void Trial::log_swap(int slot, int failure_class) {
  CampaignEvent* event = log(CampaignEvent::Kind::swapped, now_s_);
  if (event == nullptr) return;
  event->failure_class = failure_class;
  event->nodes = {slot};
  struck_ = events_->size() - 1;
}

void Trial::set_pace() {
  const int pace = plan_.pace_index(level_, slowest());
  if (pace == pace_) return;
  account_.execute(pace_, run_->done());
  pace_ = pace;
  account_.begin(run_->iteration(), pace_);
  run_->go_on(plan_.pace(pace_), run_->now_s());
}

}  // namespace windtunnel
