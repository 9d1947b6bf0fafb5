#include "sim/campaign/node_pool.hpp"

#include <algorithm>
#include <numeric>

#include "models/base/units.hpp"

namespace windtunnel {

NodePool::NodePool(const RecoveryPolicy& recovery, int nodes, double length_s)
    : recovery_(recovery),
      length_s_(length_s),
      node_at_(nodes),
      next_node_(nodes + recovery.spares) {
  std::iota(node_at_.begin(), node_at_.end(), 0);
  for (int i = 0; i < recovery.spares; ++i) {
    spares_.push_back({nodes + i, i < recovery.hot_spares ? 0 : kInfinity});
  }
}

double NodePool::replace(int slot, double now_s, double repair_s, bool reclaimed) {
  const Broken broken{node_at_[slot], repair_s, now_s};
  if (reclaimed) {
    down_s_.add(std::min(repair_s, length_s_ - now_s));
    repairs_.emplace(now_s + repair_s, next_node_++, false, true);
    ++awaited_;
  } else if (recovery_.repair_slots == 0 ||
             std::ssize(repairs_) - awaited_ < recovery_.repair_slots) {
    begin_repair(broken, now_s);
  } else {
    queue_.push_back(broken);
  }
  if (spares_.empty()) {
    node_at_[slot] = kNobody;
    empty_.push_back(slot);
    return 0;
  }
  const Spare spare = spares_.front();
  spares_.pop_front();
  node_at_[slot] = spare.node;
  // The first hot_spares of the remaining spares are made ready.
  const double provided_s = now_s + recovery_.provision_s;
  if (recovery_.hot_spares > 0 && std::ssize(spares_) >= recovery_.hot_spares) {
    double& ready_s = spares_[recovery_.hot_spares - 1].ready_s;
    ready_s = std::min(ready_s, provided_s);
  }
  return std::max(0.0, std::min(spare.ready_s, provided_s) - now_s);
}

void NodePool::begin_repair(const Broken& broken, double at_s) {
  const double waited_s = at_s - broken.failed_s;
  down_s_.add(std::min(waited_s + broken.repair_s, length_s_ - broken.failed_s));
  repairs_.emplace(at_s + broken.repair_s, broken.node, is_evicted(broken.node, broken.failed_s),
                   false);
}

bool NodePool::is_evicted(int node, double now_s) {
  if (recovery_.evict_after == 0) return false;
  std::vector<double>& failed_s = failed_s_[node];
  failed_s.push_back(now_s);
  if (recovery_.evict_within_s == 0) return std::ssize(failed_s) >= recovery_.evict_after;
  const double since_s = now_s - recovery_.evict_within_s;
  return std::ranges::count_if(failed_s, [&](double at_s) { return at_s >= since_s; }) >=
         recovery_.evict_after;
}

double NodePool::next_back_s() const {
  return repairs_.empty() ? kInfinity : std::get<0>(repairs_.top());
}

std::optional<NodePool::Back> NodePool::take_back(double now_s) {
  if (next_back_s() > now_s) return std::nullopt;
  const auto [at_s, node, evicted, is_new] = repairs_.top();
  repairs_.pop();
  if (is_new) {
    --awaited_;
  } else if (!queue_.empty()) {
    begin_repair(queue_.front(), at_s);
    queue_.pop_front();
  }
  Back back{at_s, node, evicted};
  if (evicted) {
    ++evicted_;
  } else if (!empty_.empty()) {
    back.slot = empty_.front();
    empty_.pop_front();
    node_at_[back.slot] = node;
  } else {
    const bool hot = std::ssize(spares_) < recovery_.hot_spares;
    spares_.push_back({node, hot ? at_s + recovery_.provision_s : kInfinity});
  }
  return back;
}

double NodePool::down_s() const {
  CompensatedSum sum = down_s_;
  for (const Broken& broken : queue_) sum.add(length_s_ - broken.failed_s);
  return sum.value();
}

}  // namespace windtunnel
