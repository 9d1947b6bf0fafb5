// From a measured step of data-parallel training to the Job that predicts it: a model of the
// library on nodes of one kind, and a GPU with the speed that the measured step on one GPU shows.
// All further time of a step on several GPUs is then exchange.
#pragma once

#include <string>

#include "models/plan/job.hpp"

namespace windtunnel {

struct ExchangeMachine {
  std::string node;  // of the library
  int gpus_per_node = 0;
  double nic_Bps = 0;  // of a node's NIC, nominal; of `nics` NICs each
  int nics = 1;
};

// Plain data parallelism in fp32 by rings and direct exchanges, with SGD and momentum. Kernels take
// what their work takes: launches and ramps are in the measured speed (set_alone_s). Throws Error
// when the library has no such model, or one of other size than `parameters` (0: not stated).
Job exchange_job(const std::string& model, double parameters, int gpus, int batch,
                 const ExchangeMachine& machine);

// Gives the GPU the speed at which the job takes `seconds` on one GPU alone.
void set_alone_s(Job& job, double seconds);

double exchange_step_s(const Job& job);      // closed
double exchange_parameters(const Job& job);  // of the model
int weighted_layers(const Job& job);         // modules with parameters: what hooks are put on
int weight_tensors(const Job& job);          // weights and biases apart

}  // namespace windtunnel
