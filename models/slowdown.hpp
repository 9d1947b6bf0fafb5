// What a work takes longer beside others on its cores: their two hardware threads share the units
// of a core, and on machines that are rented by the thread the other one is somebody else's.
#pragma once

namespace windtunnel {

struct Sample;

// A work that has others beside it for a share f of its time takes exp(log f) times as long.
// Until a run tells more of a kernel: the median of 30 kernels, and their standard deviation,
// each in 4 to 50 sizes timed both with and without others (four calibrations on a Xeon of the
// Sapphire Rapids generation, measured). It is the same at 10 us and at 10 ms.
struct Slowdown {
  double log = 0.26;
  double spread = 0.09;  // of `log`

  friend bool operator==(const Slowdown&, const Slowdown&) = default;
};

// Of a kernel's sizes about its slowdown, in the same series.
constexpr double kSizesDiffer = 0.1;

// Of log(time) at a share `disturbed`.
double slowdown_spread(const Slowdown& slowdown, double disturbed);

// What it would have taken alone, its interval as much wider as the slowdown is unsure.
Sample alone(Sample sample, const Slowdown& slowdown);

}  // namespace windtunnel
