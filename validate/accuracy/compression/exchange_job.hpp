// Makes the Job that predicts a measured step of data-parallel training: a model of the library on
// nodes of one kind, and a GPU with the speed of the measured step on one GPU. All further time of
// a step on several GPUs is exchange.
#pragma once

#include <string>

#include "models/plan/job.hpp"

namespace windtunnel {

struct ExchangeMachine {
  std::string node;  // of the library
  int gpus_per_node = 0;
  double nic_Bps = 0;  // nominal rate of each of the node's `nics` NICs
  int nics = 1;
};

// Plain data parallelism in fp32 with rings and direct exchanges, and SGD with momentum. Kernels
// take only the time of their work, because launches and ramps are part of the measured speed
// (set_alone_s). Throws Error if the library has no such model, or only one whose size is not
// `parameters` (0: not stated).
Job exchange_job(const std::string& model, double parameters, int gpus, int batch,
                 const ExchangeMachine& machine);

// Sets the GPU's speed such that the job takes `seconds` on one GPU.
void set_alone_s(Job& job, double seconds);

double exchange_step_s(const Job& job);      // in closed form
double exchange_parameters(const Job& job);  // of the model
int weighted_layers(const Job& job);         // modules with parameters, to which hooks are attached
int weight_tensors(const Job& job);          // weights and biases, counted separately

}  // namespace windtunnel
