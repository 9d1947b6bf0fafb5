// Counter-based random numbers (Philox 4x32-10, Salmon et al., SC'11, through Random123): a draw
// depends only on (seed, purpose, index, counter), so the order of work and the number of threads
// do not change the numbers. The distributions are implemented here, because those of the standard
// library differ between implementations: inverse CDFs, and rejection for the gamma distribution.
#pragma once

#include <cstdint>

namespace windtunnel {

// What a stream is used for. Streams of different purposes are independent. The results depend on
// these numbers.
enum class RandomPurpose : std::uint32_t {
  failure_arrival = 1,
  victim = 2,  // which node
  repair = 3,
  batch = 4,  // how many nodes fail together
  test = 5,
  schedule_search = 6,
  jitter = 7,         // of the actions of a pipeline schedule
  frailty = 8,        // of a node
  recovery = 9,       // whether a restart works, whether a human is needed
  nic = 10,           // a NIC's share of its bandwidth
  routing = 11,       // which of the equal paths a connection is hashed to
  contention = 12,    // how contention grows with the size of a job's collectives
  expert_order = 13,  // which experts share a rank
  sequence_length = 14,
  resample = 15,     // of timings, by bootstrap
  measurement = 16,  // the order of measurements, and their data
  kernel_jitter = 17,
  background = 18,  // bursts on a link
  attendance = 40,  // when volunteers are present
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
  // Time from a random moment to the next arrival of a renewal process with Weibull gaps.
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
