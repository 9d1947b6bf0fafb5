// Schedules against two tables of published or independently computed results, told apart by their
// columns:
//   bubble_* columns   published bubble rates with the profiled times that they rest on
//                      (Qi et al., Zero Bubble, arXiv 2401.10241, tables 5 and 9)
//   makespan column    makespans, spans and activation peaks of a reference executor
#pragma once

#include <string>

#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Rows of schedules that this build does not have are skipped with the reason. Throws Error for a
// file with neither set of columns or without rows, and with file:line:column for a cell that
// cannot be read.
//
// Bubble rates: columns model, p, m, T_F_ms, T_B_ms (input gradient), T_W_ms, T_comm_ms and one
// bubble_<schedule> per schedule; optional v (chunks per rank of the interleaved column).
// Rate = 1 - m (T_F + T_B + T_W) / longest stage. Schedules that plan with memory know what a layer
// of the paper's models keeps for B and for W; of another model, half of it waits for W.
//
// Executor rows: columns schedule, p, m, v, T_F, T_I, T_W, T_comm (times of a rank's whole share; a
// chunk costs 1/v), makespan, max_stage_span, makespan_minus_max_busy, peak_act_max and
// peak_act_per_rank (blank-separated; in activations of one rank's share). Half of an activation
// stays from B to W; an overlapped pair lasts 0.9 (T_F + T_I + T_W); v of dualpipe counts replicas.
ValidationReport validate_schedules(const std::string& csv_path);

}  // namespace windtunnel
