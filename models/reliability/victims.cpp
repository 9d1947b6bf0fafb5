#include "models/reliability/victims.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {

double node_hazard(const FailureClass& failure_class, std::uint64_t seed, std::uint64_t index,
                   int node) {
  const double variance = failure_class.frailty_variance;
  if (variance == 0) return 1;
  // Each node has a key of its own, because the caller uses the full index. The odd constant
  // spreads the keys, so that they differ from those of neighbouring seeds.
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;
  RandomStream random(seed + kSpread * (static_cast<std::uint64_t>(node) + 1),
                      RandomPurpose::frailty, index);
  return random.gamma(1 / variance, 1);
}

Victims::Victims(const FailureClass& failure_class, int slots, std::uint64_t seed,
                 std::uint64_t index)
    : class_(&failure_class),
      slots_(slots),
      victim_random_(seed, RandomPurpose::victim, index),
      batch_random_(seed, RandomPurpose::batch, index),
      nodes_share_(1) {
  if (class_->rate_per_job_s > 0) {
    nodes_share_ = 1 - class_->rate_per_job_s / job_rate_per_s(*class_, slots);
  }
  if (class_->frailty_variance == 0) return;
  make_tree();
  for (int slot = 0; slot < slots_; ++slot) {
    tree_[leaves_ + slot] = node_hazard(*class_, seed, index, slot);
  }
  add_up();
}

void Victims::set_hazard(int slot, double hazard) {
  CHECK(slot >= 0 && slot < slots_, "slot {} of {}", slot, slots_);
  CHECK(hazard >= 0, "a hazard of {}", hazard);
  if (all_alike()) {
    if (hazard == 1) return;
    make_tree();
  }
  put(slot, hazard);
}

double Victims::speed() const {
  if (all_alike()) return 1;
  return nodes_share_ * (tree_[1] / slots_) + (1 - nodes_share_);
}

void Victims::draw(std::vector<int>& hit) {
  hit.clear();
  if (!all_alike() && tree_[1] == 0) return;
  hit.push_back(one());
  const int size = draw_batch(*class_, batch_random_);
  if (size == 1) return;
  if (class_->batch_adjacent) {
    take_neighbours(size, hit);
  } else {
    take_any(size, hit);
  }
}

void Victims::draw_any(std::size_t count, std::vector<int>& hit) {
  hit.clear();
  if (count == 0 || (!all_alike() && tree_[1] == 0)) return;
  hit.push_back(one());
  take_any(count, hit);
}

int Victims::one() {
  if (all_alike()) return static_cast<int>(victim_random_.below(slots_));
  double left = victim_random_.uniform() * tree_[1];
  std::size_t at = 1;
  while (at < leaves_) {
    at *= 2;
    // Rounding must not lead to an empty slot, neither on the left nor on the right.
    if (left < tree_[at] || tree_[at + 1] == 0) continue;
    left -= tree_[at];
    ++at;
  }
  return static_cast<int>(at - leaves_);
}

void Victims::take_neighbours(std::size_t size, std::vector<int>& hit) const {
  const int first = hit.front();
  for (int slot = first + 1; slot < slots_ && hit.size() < size; ++slot) {
    if (hazard(slot) > 0) hit.push_back(slot);
  }
  for (int slot = first - 1; slot >= 0 && hit.size() < size; --slot) {
    if (hazard(slot) > 0) hit.push_back(slot);
  }
}

void Victims::take_any(std::size_t size, std::vector<int>& hit) {
  if (all_alike()) {
    size = std::min(size, static_cast<std::size_t>(slots_));
    while (hit.size() < size) {
      const int slot = one();
      if (std::find(hit.begin(), hit.end(), slot) == hit.end()) hit.push_back(slot);
    }
    return;
  }
  // Hit slots are set aside, so that none is drawn twice.
  std::vector<double> aside{hazard(hit.front())};
  put(hit.front(), 0);
  while (hit.size() < size && tree_[1] > 0) {
    hit.push_back(one());
    aside.push_back(hazard(hit.back()));
    put(hit.back(), 0);
  }
  for (std::size_t i = 0; i < hit.size(); ++i) put(hit[i], aside[i]);
}

void Victims::make_tree() {
  leaves_ = 1;
  while (leaves_ < static_cast<std::size_t>(slots_)) leaves_ *= 2;
  tree_.assign(2 * leaves_, 0);
  std::fill_n(&tree_[leaves_], slots_, 1);
  add_up();
}

void Victims::add_up() {
  for (std::size_t i = leaves_ - 1; i > 0; --i) tree_[i] = tree_[2 * i] + tree_[2 * i + 1];
}

void Victims::put(int slot, double hazard) {
  std::size_t at = leaves_ + slot;
  tree_[at] = hazard;
  for (at /= 2; at > 0; at /= 2) tree_[at] = tree_[2 * at] + tree_[2 * at + 1];
}

}  // namespace windtunnel
