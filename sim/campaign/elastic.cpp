#include "sim/campaign/elastic.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace windtunnel {

Groups::Groups(const ElasticGroups& elastic, int slots, int most_out)
    : rejoin_s_(elastic.rejoin_s), slots_(slots), most_out_(most_out), groups_(elastic.groups) {}

int Groups::index_of(int slot) const {
  return static_cast<int>(static_cast<std::int64_t>(slot) * std::ssize(groups_) / slots_);
}

bool Groups::all_out(const std::vector<int>& slots) const {
  return !groups_.empty() && std::ranges::all_of(slots, [&](int slot) { return is_out(slot); });
}

bool Groups::can_lose(const std::vector<int>& slots) const {
  if (groups_.empty()) return false;
  std::vector<int> hit;
  for (const int slot : slots) {
    if (!is_out(slot)) hit.push_back(index_of(slot));
  }
  std::ranges::sort(hit);
  const auto groups = std::unique(hit.begin(), hit.end()) - hit.begin();
  return out() + groups <= most_out_;
}

void Groups::lose(const std::vector<int>& slots, double ready_s) {
  for (const int slot : slots) {
    Group& group = of(slot);
    group.ready_s = std::max(group.ready_s, ready_s);
    if (group.out) continue;
    group.out = true;
    out_.push_back(index_of(slot));
  }
}

void Groups::emptied(int slot) {
  if (!groups_.empty() && of(slot).empty++ == 0) ++lacking_;
}

void Groups::filled(int slot, double at_s) {
  if (groups_.empty()) return;
  Group& group = of(slot);
  group.ready_s = std::max(group.ready_s, at_s);
  if (--group.empty == 0) --lacking_;
}

double Groups::back_s(const Group& group) const {
  return group.empty > 0 ? std::numeric_limits<double>::infinity() : group.ready_s + rejoin_s_;
}

double Groups::next_back_s() const {
  double next_s = std::numeric_limits<double>::infinity();
  for (const int index : out_) next_s = std::min(next_s, back_s(groups_[index]));
  return next_s;
}

void Groups::take_back(double now_s) {
  std::erase_if(out_, [&](int index) {
    Group& group = groups_[index];
    if (back_s(group) > now_s) return false;
    group.out = false;
    return true;
  });
}

void Groups::restart() {
  out_.clear();
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].out = groups_[i].empty > 0;
    if (groups_[i].out) out_.push_back(static_cast<int>(i));
  }
}

}  // namespace windtunnel
