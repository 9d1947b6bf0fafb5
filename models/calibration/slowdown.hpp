// What a work takes longer beside others on its cores: their two hardware threads share the units
// of a core, and on machines that are rented by the thread the other one is somebody else's.
#pragma once

namespace windtunnel {

struct Sample;

// How much longer a work takes beside others: with others beside it for a share f of its time it
// takes exp(f * log) times as long as alone, whether it lasts 10 us or 10 ms. The defaults hold
// until a run tells more of a kernel: middle and standard deviation of 35 kernels, in sizes timed
// both with and without others (four calibrations on a Xeon of the Sapphire Rapids generation,
// measured).
struct Slowdown {
  double log = 0.26;     // logarithm of the factor at a share of 1
  double spread = 0.09;  // standard deviation of `log`, from kernel to kernel

  friend bool operator==(const Slowdown&, const Slowdown&) = default;
};

// Standard deviation of `log` from size to size of one kernel (the same series).
constexpr double kSizesDiffer = 0.1;

// The series as it would have been without others: its times divided by the factor of its share,
// and the ends of its interval moved apart by what sizes differ by (95 %).
Sample alone(Sample sample, const Slowdown& slowdown);

// Timings in which others were seen are set apart and the rest are counted; for what share of their
// time had these others beside them, unseen? `share` is that of all timings together, `part` the
// number of those set apart over all, and exp(longer) their median time over that of the rest. As
// log(time) grows by Slowdown{}.log per unit of share, the share of the rest is
//
//   share - part * longer / Slowdown{}.log, held within 0 and `share`:
//
// 0 where the timings set apart are slower by all that others can explain (others stay for many
// timings), `share` where all are equally fast (others come and go within each timing).
double share_of_rest(double share, double part, double longer);

}  // namespace windtunnel
