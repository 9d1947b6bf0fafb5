// Counter-based random numbers (Philox 4x32-10, Salmon et al., SC'11, through Random123): a draw
// depends on (seed, purpose, index, counter) alone, so any order of work and any number of threads
// gives the same numbers. The distributions are our own, because those of the standard library
// differ between implementations: inverse CDFs, and rejection for the gamma distribution.
#pragma once

#include <cstdint>

namespace windtunnel {

// What a stream is used for; streams of different purposes are independent. The numbers decide what
// is drawn: a change of one changes results.
enum class RandomPurpose : std::uint32_t {
  failure_arrival = 1,
  victim = 2,  // which node
  repair = 3,
  batch = 4,  // how many
  test = 5,
  schedule_search = 6,
  jitter = 7,         // of the actions of a pipeline schedule
  frailty = 8,        // of a node
  recovery = 9,       // whether it works, whether a human is needed
  nic = 10,           // its share of the bandwidth
  routing = 11,       // which of the equal ways a connection is hashed to
  contention = 12,    // how it grows with the size of a job's collectives
  expert_order = 13,  // which experts share a rank
  sequence_length = 14,
  resample = 15,     // of timings
  measurement = 16,  // the order of what is measured, its data
  kernel_jitter = 17,
  background = 18,  // bursts on a link
  attendance = 40,  // of volunteers
  wiring = 41,      // which stage a volunteer takes
};

class RandomStream {
 public:
  // `index` tells streams of one purpose apart (replica, failure class, node, ...).
  RandomStream(std::uint64_t seed, RandomPurpose purpose, std::uint64_t index);

  double uniform();                           // in the open interval (0, 1)
  std::uint64_t below(std::uint64_t bound);   // 0 .. bound-1
  double exponential(double mean);            // mean > 0
  double normal();                            // mean 0, variance 1
  double gamma(double shape, double mean);    // mean > 0, shape > 0
  double weibull(double shape, double mean);  // mean > 0, shape > 0
  // Time from a random moment to the next arrival of a renewal process with such gaps.
  double weibull_residual(double shape, double mean);

 private:
  std::uint64_t next();

  std::uint64_t seed_;
  std::uint32_t purpose_;
  std::uint64_t index_;
  std::uint32_t counter_ = 0;
  std::uint64_t spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace windtunnel
