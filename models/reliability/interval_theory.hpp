// How often to save, in closed form. Times in seconds: `save_s` is the training time that one save
// costs, `mtbf_s` the mean time between failures, `restart_s` the time from a failure until
// training continues (detection, restart, load).
#pragma once

namespace windtunnel {

// Young (Comm. ACM 17(9), 1974) finds sqrt(2 d M), where a save takes d and the mean time between
// failures is M.
double young_interval_s(double save_s, double mtbf_s);
// Daly (Future Generation Computer Systems 22, 2006) has this as equation 37; it is M if d >= 2M.
double daly_interval_s(double save_s, double mtbf_s);
// The optimal work between two saves for exponential failures: M (1 + W0(-exp(-d/M - 1))), with
// Lambert's function W0.
double exact_interval_s(double save_s, double mtbf_s);

// Expected wall time of a segment of `work_s` with its save, if exponential failures also strike
// saves and restarts: exp(R/M) M (exp((T+d)/M) - 1).
double expected_segment_s(double work_s, double save_s, double mtbf_s, double restart_s);
// work_s / expected_segment_s: the goodput.
double expected_goodput(double work_s, double save_s, double mtbf_s, double restart_s);

// Meta RSC (Kokolis et al., HPCA 2025, arXiv 2410.21680): E[ETTR] = (1 - N r (u0 + dt/2)) / (1 +
// w/dt). Losses are added, which holds only if they are small. Not below 0.
double rsc_ettr(int nodes, double failures_per_node_s, double restart_s, double interval_s,
                double write_s);

// Time lost to a failure when a save takes save_s and starts every interval_s, and loading takes
// load_s (GEMINI, Wang et al., SOSP 2023, section 2): save_s + interval_s / 2 + load_s.
double gemini_wasted_s(double save_s, double interval_s, double load_s);

// ETTR of a failure cycle of mtbf_s: no progress for `stall_s`, then `degraded_s` at the rate
// `share`, the rest at full rate (FT-HSDP, arXiv 2602.00277). Not below 0.
double cycle_ettr(double mtbf_s, double stall_s, double degraded_s, double share);

}  // namespace windtunnel
