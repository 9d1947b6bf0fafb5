#include "cli/calibrate_device.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/calibrate_kernels.hpp"
#include "models/base/units.hpp"

namespace windtunnel {

namespace fs = std::filesystem;

void check_out(const std::string& path, bool force) {
  const fs::path out(path);
  std::error_code error;
  if (out.extension() != ".yaml") {
    throw Error(Location{path},
                "--out: a name that ends in .yaml is due: scenarios tell "
                "files from the library's calibrations by that");
  }
  if (fs::is_directory(out, error)) throw Error(Location{path}, "--out: is a folder");
  if (fs::exists(out, error) && !force) {
    throw Error(Location{path}, "--out: exists; --force writes over it");
  }
  const fs::path folder = out.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    throw Error(Location{path}, fmt::format("--out: no folder '{}'", folder.string()));
  }
}

void add_device_options(CLI::App& app, DeviceCalibration& options) {
  app.add_option("--backend", options.backend, "measure the kernels of a device of this machine")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--ranks", options.ranks,
                 "processes that run each kernel at once, and the collectives between them "
                 "(default: as many as there are cores, at most 8)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  app.add_option("--budget", options.budget, "time for measuring (default: 3 min)")
      ->type_name("TIME");
  app.add_option("--samples", options.samples,
                 "measured series (default: beside --out); those in it are not measured again")
      ->type_name("FILE.csv");
}

void add_output_options(CLI::App& app, DeviceCalibration& options) {
  app.add_option("--out", options.out, "write the calibration here")
      ->type_name("FILE.yaml")
      ->required();
  app.add_flag("--force", options.force,
               "write over an existing file, and of samples that are refused");
  app.add_flag("--json", options.json, "print one JSON document on stdout, text on stderr");
}

ExitCode calibrate_on_device(const DeviceCalibration& options) {
  KernelCalibration kernels;
  kernels.backend = options.backend;
  kernels.ranks = options.ranks > 0 ? options.ranks : default_ranks(options.backend);
  if (kernels.ranks > 1 && options.backend != "cpu") {
    throw Error("--ranks: with --backend cpu only; a GPU is measured by one rank");
  }
  kernels.budget_s = parse_quantity(options.budget, Dimension::seconds);
  kernels.samples = options.samples.empty()
                        ? fs::path(options.out).replace_extension(".samples.csv").string()
                        : options.samples;
  kernels.base = options.base;
  kernels.out = options.out;
  kernels.json = options.json;
  kernels.force = options.force;
  return calibrate_on_kernels(kernels);
}

Handler define_device_calibration(CLI::App& app) {
  auto options = std::make_shared<DeviceCalibration>();
  add_device_options(app, *options);
  app.get_option("--backend")->required();
  app.add_option("--base", options->base,
                 "calibration that tells what is not measured, by name or file (default: generic)")
      ->type_name("CALIBRATION");
  add_output_options(app, *options);
  return [options] {
    check_out(options->out, options->force);
    return calibrate_on_device(*options);
  };
}

}  // namespace windtunnel
