// How much slower a work is while others run on its cores: the two hardware threads of a core share
// its units, and on machines rented by the thread the other one belongs to another customer.
#pragma once

namespace windtunnel {

struct Sample;

// A work takes exp(f * log) times as long as alone if others run on its cores for a share f of its
// time, for any duration from 10 us to 10 ms. The defaults hold until a run has data on a kernel:
// centre and standard deviation of 35 kernels, in sizes timed both with and without others (four
// calibrations on a Xeon of the Sapphire Rapids generation, measured).
struct Slowdown {
  double log = 0.26;     // logarithm of the factor at a share of 1
  double spread = 0.09;  // standard deviation of `log`, from kernel to kernel

  friend bool operator==(const Slowdown&, const Slowdown&) = default;
};

// By how much `log` varies between sizes of one kernel, as a standard deviation (the same
// measurements).
constexpr double kSizesDiffer = 0.1;

// The sample as it would be without others: its times divided by the slowdown factor, and its
// interval widened by the differences between sizes (95 %).
Sample alone(Sample sample, const Slowdown& slowdown);

// Timings in which others were seen are set aside. This estimates the share of time in which the
// rest had others beside them, unseen. `share`: that share over all timings together; `part`:
// number set aside / number of all; exp(longer): median time of those set aside / of the rest.
// log(time) grows by Slowdown{}.log per unit of share, so the share of the rest is
//
//   share - part * longer / Slowdown{}.log, held within 0 and `share`:
//
// It is 0 if the timings set aside are slower by all that others can explain (others stay for many
// timings), and `share` if all are equally fast (others come and go within each timing).
double share_of_rest(double share, double part, double longer);

}  // namespace windtunnel
