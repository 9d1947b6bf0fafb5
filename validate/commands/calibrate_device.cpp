#include "validate/commands/calibrate_device.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/program/budget.hpp"
#include "validate/commands/calibrate_kernels.hpp"

namespace windtunnel {

namespace fs = std::filesystem;

void add_device_options(const CommandLine& app, DeviceCalibration& options) {
  app.add_option("--backend", options.backend, "measure the kernels of a device of this machine")
      .check(one_of("backend", {"cpu", "cuda"}));
  app.add_option("--ranks", options.ranks,
                 "processes that run each kernel at once, and the collectives between them "
                 "(default: as many as there are GPUs; CPU: cores, at most 8). Where mpirun, srun "
                 "or torchrun started this process, it is one of theirs",
                 "N")
      .check(whole_in(1, 1024));
  app.add_option("--coordinator", options.coordinator,
                 "where the first of a launcher's processes can be reached, where the launcher "
                 "does not tell or its port is taken",
                 "HOST[:PORT]");
  app.add_option("--budget", options.budget, "time for measuring (default: 3 min)", "TIME");
  app.add_option("--samples", options.samples,
                 "file of measured series (default: in the folder of --out); series in it are not "
                 "measured again",
                 "FILE.csv");
  app.add_option("--scenario", options.scenario,
                 "measure the matrix products of this scenario's job too", "SCENARIO.yaml")
      .check(existing_file());
}

void add_output_options(const CommandLine& app, DeviceCalibration& options) {
  app.add_option("--out", options.out, "write the calibration here", "FILE.yaml").required();
  app.add_flag("--force", options.force,
               "write over an existing file, and of samples that are refused");
  app.add_json(options.json);
}

ExitCode calibrate_on_device(const DeviceCalibration& options) {
  KernelCalibration kernels;
  kernels.backend = options.backend;
  kernels.ranks = options.ranks;
  kernels.coordinator = options.coordinator;
  kernels.force = options.force;
  kernels.budget_s = budget_of(options.budget);
  kernels.samples = options.samples.empty()
                        ? fs::path(options.out).replace_extension(".samples.csv").string()
                        : options.samples;
  kernels.base = options.base;
  kernels.scenario = options.scenario;
  kernels.out = options.out;
  kernels.json = options.json;
  kernels.page = options.page;
  kernels.page_of = options.page_of;
  return calibrate_on_kernels(kernels);
}

Handler define_device_calibration(const CommandLine& app) {
  auto options = std::make_shared<DeviceCalibration>();
  add_device_options(app, *options);
  app.option("--backend").required();
  app.add_option(
      "--base", options->base,
      "calibration for everything that is not measured, by name or file (default: generic)",
      "CALIBRATION");
  add_output_options(app, *options);
  add_example(app, "--backend cpu --ranks 2 --budget '3 min' --out node.yaml");
  return [options] { return calibrate_on_device(*options); };
}

}  // namespace windtunnel
