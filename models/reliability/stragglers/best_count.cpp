#include "models/reliability/stragglers/best_count.hpp"

#include "models/reliability/stragglers/redundancy.hpp"

namespace windtunnel {

int best_count(int n, const std::function<double(int)>& seconds,
               const std::function<double(int)>& progress) {
  int best = n;
  double most = 0;
  for (int k = n; k > 0; --k) {
    const double rate = progress(k) / seconds(k);
    if (rate <= most) continue;
    most = rate;
    best = k;
  }
  return best;
}

BestCounts::BestCounts(const Jitter& jitter, int workers, double noise)
    : jitter_(jitter),
      workers_(workers),
      noise_(noise),
      steady_(jitter.bursts.good == 0 || jitter.bursts.tail > 0),
      stays_(1 - 1 / jitter.bursts.bad),
      turns_(jitter.bursts.good > 0 ? 1 / jitter.bursts.good : 0),
      of_bad_(workers + 1) {}

int BestCounts::after(int bad) {
  int& found = of_bad_[steady_ ? 0 : bad];
  if (found > 0) return found;
  if (!steady_) {
    chance_of_bad_.assign(workers_ + 1, 0);
    for (int still = 0; still <= bad; ++still) {
      const double stays = binomial_chance(bad, still, stays_);
      if (stays < 1e-15) continue;
      for (int more = 0; more <= workers_ - bad; ++more) {
        chance_of_bad_[still + more] += stays * binomial_chance(workers_ - bad, more, turns_);
      }
    }
    // chance_of_bad_[i] becomes the probability that more than i workers are bad.
    double above = 0;
    for (int i = workers_; i >= 0; --i) {
      const double own = chance_of_bad_[i];
      chance_of_bad_[i] = above;
      above += own;
    }
  }
  found = best_count(
      workers_, [&](int k) { return expected_s(k); },
      [&](int k) { return step_progress(noise_, k); });
  return found;
}

double BestCounts::expected_s(int k) const {
  if (steady_) return expected_factor(jitter_, workers_, k);
  return 1 + (jitter_.bursts.slowdown - 1) * chance_of_bad_[workers_ - k];
}

}  // namespace windtunnel
