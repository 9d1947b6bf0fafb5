#include "models/reliability/stragglers/straggler_rounds.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "models/reliability/stragglers/best_count.hpp"
#include "models/reliability/stragglers/selective_repeat.hpp"
#include "models/reliability/stragglers/straggler_window.hpp"

namespace windtunnel {
namespace {

// The end of each round in turn.
class Master {
 public:
  Master(const Redundancy& redundancy, const Jitter& jitter, int workers)
      : own_(redundancy), window_(workers, redundancy), counts_(jitter, workers, redundancy.noise) {
    if (own_.scheme == RedundancyScheme::sr_sgc) repeat_.emplace(workers, redundancy);
  }

  double end_of(std::span<const double> times) {
    const auto [fastest, slowest] = std::ranges::minmax(times);
    const double tolerated = (1 + own_.tolerance) * fastest;
    switch (own_.scheme) {
      case RedundancyScheme::none:
        return slowest;
      case RedundancyScheme::replicated:
        return of_copies(times);
      case RedundancyScheme::sr_sgc:
        return waited(std::min(slowest, repeat_->close(times, tolerated)), tolerated);
      case RedundancyScheme::m_sgc:
        return waited(std::min(slowest, window_.close(times, tolerated)), tolerated);
      case RedundancyScheme::gradient_coding:
      case RedundancyScheme::drop_slowest:
      case RedundancyScheme::backup_workers:
        return waited(of_count(times, int(times.size()) - own_.stragglers, tolerated, slowest),
                      tolerated);
      case RedundancyScheme::dynamic_backup: {
        const double end = of_count(times, counts_.after(bad_), tolerated, slowest);
        bad_ = static_cast<int>(std::ranges::count_if(times, [](double t) { return t > 1; }));
        return end;
      }
    }
    return slowest;
  }
  int waited_rounds() const { return waited_; }

 private:
  double waited(double end, double tolerated) {
    if (own_.tolerance > 0 && end > tolerated) ++waited_;
    return end;
  }
  double of_copies(std::span<const double> times) const {
    double last = 0;
    for (std::size_t first = 0; first < times.size(); first += own_.copies) {
      last = std::max(last, std::ranges::min(times.subspan(first, own_.copies)));
    }
    return last;
  }
  // When `count` are there, but not before `tolerated`, unless all are.
  double of_count(std::span<const double> times, int count, double tolerated, double slowest) {
    late_.clear();
    std::ranges::copy_if(times, std::back_inserter(late_), [&](double t) { return t > tolerated; });
    const auto least = static_cast<std::size_t>(std::ssize(times) - count);
    if (late_.size() <= least) return std::min(slowest, tolerated);
    const auto last = late_.begin() + static_cast<std::ptrdiff_t>(late_.size() - least) - 1;
    std::ranges::nth_element(late_, last);
    return *last;
  }

  const Redundancy& own_;
  StragglerWindow window_;
  std::optional<SelectiveRepeat> repeat_;
  BestCounts counts_;
  std::vector<double> late_;
  int waited_ = 0;
  int bad_ = 0;  // in the last round
};

}  // namespace

StragglerRounds sample_rounds(const Redundancy& redundancy, const Jitter& jitter,
                              const std::vector<std::vector<WorkerUnit>>& workers, int rounds) {
  const int part = (rounds + kRoundParts - 1) / kRoundParts;
  WorkerFactors factors(jitter, workers);
  Master master(redundancy, jitter, factors.workers());
  StragglerRounds result;
  double missing = 0;
  for (int i = 0; i < kRoundParts; ++i) {
    if (i > 0 && jitter.per == JitterPer::run) factors = WorkerFactors(jitter, workers, i);
    double sum = 0;
    for (int round = 0; round < part; ++round) {
      const std::span<const double> times = factors.next_round();
      const double end = master.end_of(times);
      sum += end;
      for (const double time : times) missing += time > end ? 1 : 0;
      result.slowest += std::ranges::max(times);
    }
    result.lengths.push_back(sum / part);
    result.length += sum / part / kRoundParts;
  }
  const double all = double(part) * kRoundParts;
  result.slowest /= all;
  result.missing = missing / all;
  result.waited_share = master.waited_rounds() / all;
  result.gradient_share = is_exact(redundancy) ? 1 : 1 - result.missing / factors.workers();
  return result;
}

}  // namespace windtunnel
