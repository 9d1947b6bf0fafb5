// Closed forms for the interval between synchronous checkpoints under exponential failures: the
// oracles of the campaign simulator and the baselines that a sweep is compared with.
// A save blocks for `save_s`, failures come on average every `mtbf_s`, `recovery_s` lies between a
// failure and the first redone iteration. All in seconds, all more than 0 unless said.
#pragma once

namespace windtunnel {

// Young, CACM 17(9), 1974: sqrt(2 d M).
double young_interval_s(double save_s, double mtbf_s);

// Daly, FGCS 22(3), 2006: sqrt(2dM) (1 + sqrt(d/2M)/3 + d/18M) - d for d < 2M, else M.
double daly_interval_s(double save_s, double mtbf_s);

// The interval that minimises expected_segment_s / interval: M (1 + W0(-e^(-d/M-1))) with W0 the
// Lambert function; it does not depend on the recovery. save_s 0 gives 0.
double optimal_interval_s(double save_s, double mtbf_s);

// Expected wall time until `interval_s` of work and its save have succeeded, when failures can also
// strike the recovery, which then starts again: e^(R/M) M (e^((T+d)/M) - 1) (Daly 2006). It follows
// from E = x + (1 - e^(-x/M)) terms of a memoryless failure: a stretch of length x that must pass
// without failure takes M (e^(x/M) - 1) on average when its repetition costs nothing more.
double expected_segment_s(double interval_s, double save_s, double recovery_s, double mtbf_s);

// First-order effective training time ratio of Kokolis et al. (HPCA 2025, Meta RSC):
// (1 - (R + T/2)/M) / (1 + d/T), with M the job's mean time between failures. Additive: only for
// small losses; can be negative.
double additive_ettr(double interval_s, double save_s, double recovery_s, double mtbf_s);

}  // namespace windtunnel
