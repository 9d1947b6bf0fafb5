// By how much other works on its cores slow a work: the two hardware threads of a core share its
// units, and on machines rented by the thread the other one belongs to another customer.
#pragma once

namespace windtunnel {

struct Sample;

// If others run on its cores for a share f of its time, a work takes exp(f * log) times as long as
// alone, for any duration from 10 us to 10 ms. The defaults hold until a run has data on a kernel:
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

// Timings in which others were seen are set aside; this estimates for which share of their time
// the remaining ones had others beside them, unseen. `share`: the same of all timings together;
// `part`: the number set aside over all; exp(longer): their median time over that of the rest.
// log(time) grows by Slowdown{}.log per unit of share, so the share of the rest is
//
//   share - part * longer / Slowdown{}.log, held within 0 and `share`:
//
// It is 0 if the timings set aside are slower by all that others can explain (others stay for many
// timings), and `share` if all are equally fast (others come and go within each timing).
double share_of_rest(double share, double part, double longer);

}  // namespace windtunnel
