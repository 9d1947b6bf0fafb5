#include "models/reliability/stragglers/straggler_window.hpp"

#include <algorithm>

#include "models/reliability/stragglers/wait_rule.hpp"

namespace windtunnel {

StragglerWindow::StragglerWindow(int workers, const Redundancy& redundancy)
    : burst_(redundancy.burst),
      window_(redundancy.window),
      distinct_(redundancy.distinct),
      rounds_(redundancy.window),
      recent_(workers),
      old_(workers) {}

// Round now_ - W leaves, and round now_ - B becomes old.
void StragglerWindow::age() {
  ++now_;
  std::vector<int>& leaves = rounds_[now_ % window_];
  for (const int worker : leaves) {
    --old_[worker];
    if (--recent_[worker] == 0) --straggled_;
  }
  leaves.clear();
  if (now_ < burst_) return;
  for (const int worker : rounds_[(now_ - burst_) % window_]) ++old_[worker];
}

double StragglerWindow::close(std::span<const double> times, double deadline) {
  age();
  double end = deadline;
  fresh_.clear();
  for (std::size_t worker = 0; worker < times.size(); ++worker) {
    if (times[worker] <= deadline) continue;
    if (old_[worker] > 0) end = std::max(end, times[worker]);  // its burst is over
    if (recent_[worker] == 0) fresh_.push_back(times[worker]);
  }
  const int room = std::max(0, distinct_ - straggled_);
  if (std::ssize(fresh_) > room) end = std::max(end, end_of_wait({.missing = room}, fresh_));
  std::vector<int>& stragglers = rounds_[now_ % window_];
  for (std::size_t worker = 0; worker < times.size(); ++worker) {
    if (times[worker] <= end) continue;
    stragglers.push_back(static_cast<int>(worker));
    if (recent_[worker]++ == 0) ++straggled_;
  }
  return end;
}

}  // namespace windtunnel
