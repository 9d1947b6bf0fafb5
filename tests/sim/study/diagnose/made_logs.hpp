// Simulated runs are printed as logs in the forms of training programs. A fault is a key of the
// run's scenario. The code that reads and ranks logs is not used here.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/results/record.hpp"
#include "models/results/resolved_value.hpp"

namespace windtunnel {

// Quantities of a simulated run, in base units; times are per step.
struct MadeRun {
  std::vector<double> step_s;
  double tokens_per_gpu = 0;  // per step
  double samples = 0;
  double allocated_bytes = 0;
  double reserved_bytes = 0;
  // Least and largest over ranks.
  std::pair<double, double> forward_s, backward_s;
  double gradients_s = 0, optimizer_s = 0, input_s = 0;
};

Record simulated_job(const std::string& text, const Overrides& set);

// Returns a run of `steps` steps that all take as long as the job's.
MadeRun made_run(const Record& record, int steps);

// Scales every time of the run by `off`, and each step by a log-normal factor of its own. Equal
// seeds give equal factors.
void add_noise(MadeRun& run, double off, double sigma, unsigned seed);

// In all logs the first step takes long, as kernels are loaded and communicators are created.
std::string megatron_log(const MadeRun& run);    // with timers and memory
std::string torchtitan_log(const MadeRun& run);  // in colours, with ranks in front of each line
std::string nemo_log(const MadeRun& run);
std::string deepspeed_log(const MadeRun& run);
std::string trainer_log(const MadeRun& run);  // a line with tqdm's bar and its rounded mean

}  // namespace windtunnel
