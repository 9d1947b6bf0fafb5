// The program for nodes with GPUs: measures them, fits the laws of their kernels, and judges the
// laws. It has the same commands as windtunnel, without the simulator.
#include "cli/program/program.hpp"
#include "validate/commands/calibrate_kernels.hpp"
#include "validate/commands/validate_samples.hpp"

namespace windtunnel {
namespace {

Handler define_validate_here(const CommandLine& app) {
  const ValidationCommand samples = define_validate_samples(app);
  app.require_subcommand(1, 1);
  add_example(app, "samples node.samples.csv --calibration node.yaml");
  return samples.run;
}

constexpr const char* kFooter =
    "Examples:\n"
    "  windtunnel-harness calibrate --backend cuda --budget '20 min' --out node.yaml\n"
    "  windtunnel-harness validate samples node.samples.csv --calibration node.yaml\n"
    "\n"
    "Exit codes: 0 ok, 1 measuring or validation failed, 2 usage error or no such device,\n"
    "3 interrupted: the same command goes on where it was.\n";

}  // namespace
}  // namespace windtunnel

int main(int argc, char** argv) {
  return windtunnel::run_program(
      {"windtunnel-harness",
       "Measures the kernels of this machine's devices and the collectives between them, and fits\n"
       "a calibration that scenarios of windtunnel read.\n",
       windtunnel::kFooter,
       {{"calibrate", "measure a device and fit a calibration",
         windtunnel::define_device_calibration},
        {"validate", "compare predictions with measured rows", windtunnel::define_validate_here},
        {"completion", "print what bash, zsh or fish complete commands by",
         windtunnel::define_completion},
        {"man", "print the manual page", windtunnel::define_man}}},
      argc, argv);
}
