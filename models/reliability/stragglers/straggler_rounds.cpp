#include "models/reliability/stragglers/straggler_rounds.hpp"

#include <algorithm>

#include "models/reliability/stragglers/wait_rule.hpp"

namespace windtunnel {

RoundEnds::RoundEnds(const Redundancy& redundancy, const Jitter& jitter, int workers)
    : own_(redundancy), window_(workers, redundancy), counts_(jitter, workers, redundancy.noise) {
  if (own_.scheme == RedundancyScheme::sr_sgc) repeat_.emplace(workers, redundancy);
}

double RoundEnds::end_of(std::span<const double> times) {
  const auto [fastest, slowest] = std::ranges::minmax(times);
  const double tolerated = (1 + own_.tolerance) * fastest;
  switch (traits_of(own_.scheme).form) {
    case WaitForm::one_copy:
      arrivals_.assign(times.begin(), times.end());
      return of_copies(arrivals_);
    case WaitForm::window: {
      const double closed =
          repeat_ ? repeat_->close(times, tolerated) : window_.close(times, tolerated);
      return waited(std::min(slowest, closed), tolerated);
    }
    case WaitForm::all_but:
      return waited(of_all_but(own_.stragglers, times, tolerated), tolerated);
    case WaitForm::best_count: {
      const double end = of_all_but(int(times.size()) - counts_.after(bad_), times, tolerated);
      bad_ = static_cast<int>(std::ranges::count_if(times, [](double t) { return t > 1; }));
      return end;
    }
    case WaitForm::all:
      break;
  }
  return slowest;
}

double RoundEnds::waited(double end, double tolerated) {
  if (own_.tolerance > 0 && end > tolerated) ++waited_;
  return end;
}

// Each part of the batch comes from the first of the workers that compute it; the last part counts.
double RoundEnds::of_copies(std::span<double> times) const {
  double last = 0;
  for (std::size_t first = 0; first < times.size(); first += own_.copies) {
    const WaitRule one{.missing = own_.copies - 1};
    last = std::max(last, end_of_wait(one, times.subspan(first, own_.copies)));
  }
  return last;
}

double RoundEnds::of_all_but(int missing, std::span<const double> times, double tolerated) {
  arrivals_.assign(times.begin(), times.end());
  return end_of_wait({.missing = missing, .earliest = tolerated}, arrivals_);
}

StragglerRounds sample_rounds(const Redundancy& redundancy, const Jitter& jitter,
                              const std::vector<std::vector<WorkerUnit>>& workers, int rounds) {
  const int part = (rounds + kRoundParts - 1) / kRoundParts;
  WorkerFactors factors(jitter, workers);
  RoundEnds master(redundancy, jitter, factors.workers());
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
  result.gradient_share =
      traits_of(redundancy.scheme).exact ? 1 : 1 - result.missing / factors.workers();
  return result;
}

}  // namespace windtunnel
