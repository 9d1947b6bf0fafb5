// What a work takes longer beside others on its cores: their two hardware threads share the units
// of a core, and on machines that are rented by the thread the other one is somebody else's.
#pragma once

namespace windtunnel {

struct Sample;

// A work that has others beside it for a share f of its time takes exp(log f) times as long.
// Until a run tells more of a kernel: middle and standard deviation of 35 kernels, in sizes timed
// both with and without others (four calibrations on a Xeon of the Sapphire Rapids generation,
// measured). It is the same at 10 us and at 10 ms.
struct Slowdown {
  double log = 0.26;
  double spread = 0.09;  // of `log`

  friend bool operator==(const Slowdown&, const Slowdown&) = default;
};

// Standard deviation of a kernel's sizes about its slowdown, at a share of 1 (the same series).
constexpr double kSizesDiffer = 0.1;

// What it would have taken alone, its interval as much wider as sizes differ.
Sample alone(Sample sample, const Slowdown& slowdown);

// Others were seen for `share` of the time of many timings, at the ends of a part of them that took
// exp(longer) times as long as the rest. That share of the rest's time: 0 where others stay for
// many timings and so made that part what it is; `share` where they come and go in each, and all
// are alike.
double share_of_rest(double share, double part, double longer);

}  // namespace windtunnel
