// Logs of simulated runs, in the forms that training programs print. What goes wrong in a run is a
// key of its scenario, simulated as any job; nothing of the code that reads and ranks is used.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/results/record.hpp"
#include "models/results/resolved_value.hpp"

namespace windtunnel {

// What a simulated run has in each step, in base units.
struct MadeRun {
  std::vector<double> step_s;
  double tokens_per_gpu = 0;  // of a step
  double samples = 0;
  double allocated_bytes = 0;
  double reserved_bytes = 0;
  // Over ranks, least and largest.
  std::pair<double, double> forward_s, backward_s;
  double gradients_s = 0, optimizer_s = 0, input_s = 0;
};

Record simulated_job(const std::string& text, const Overrides& set);

// All `steps` steps are as long as the job's.
MadeRun made_run(const Record& record, int steps);

// Every time of the run by the factor `off`, which is the same in the whole run, and each step by
// a log-normal factor of its own; the same for the same seed.
void add_noise(MadeRun& run, double off, double sigma, unsigned seed);

// The first step takes long, as kernels are loaded and communicators made.
std::string megatron_log(const MadeRun& run);    // with timers and memory
std::string torchtitan_log(const MadeRun& run);  // in colours, with ranks before each line
std::string nemo_log(const MadeRun& run);
std::string deepspeed_log(const MadeRun& run);
std::string trainer_log(const MadeRun& run);  // tqdm's bar: its mean, rounded as it does, one line

}  // namespace windtunnel
