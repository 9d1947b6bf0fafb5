#include "validate/commands/calibrate_kernels.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "cli/program/command_line.hpp"
#include "cli/program/interruption.hpp"
#include "cli/program/output.hpp"
#include "kernels/device/device.hpp"
#include "models/calibration/kernel_law_fit.hpp"
#include "report/text/json_text.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/library/calibration_writer.hpp"
#include "scenarios/language/library/library.hpp"
#include "traces/rows/samples.hpp"
#include "validate/accuracy/samples/sample_accuracy.hpp"
#include "validate/accuracy/samples/sample_faults.hpp"
#include "validate/documents/sample_fault_report.hpp"
#include "validate/documents/validation.hpp"
#include "validate/harness/collectives/nccl_collectives.hpp"
#include "validate/harness/collectives/tcp_collectives.hpp"
#include "validate/harness/ranks/group_devices.hpp"
#include "validate/harness/ranks/own_core.hpp"
#include "validate/harness/timing/kernel_suite.hpp"
#include "validate/harness/timing/session.hpp"
#include "validate/harness/timing/team.hpp"

namespace windtunnel {
namespace {

// Share of a device's memory for the buffers of one work; 1 GB if the memory is not known.
constexpr double kMemoryShare = 0.05;
constexpr double kMostBytes = 4e9;
constexpr double kUnknownBytes = 1e9;
constexpr int kMostRanks = 8;  // as many as a node usually has GPUs

// Ranks that share a device, or their machine's memory, share this.
double buffers_bytes(const Device& device, const DeviceShare& share) {
  const auto all = static_cast<double>(device.describe().memory_bytes);
  const double bytes = all > 0 ? std::min(kMostBytes, kMemoryShare * all) : kUnknownBytes;
  return bytes / (device.kind == DeviceKind::cpu ? share.local_ranks : share.ranks_per_device);
}

SessionResult measured(const KernelCalibration& options, std::span<const TimedWork> works,
                       Team& team, int ranks_per_device) {
  Session session;
  session.samples_path = options.samples;
  session.options.budget_s = options.budget_s;
  session.options.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  session.options.ranks_per_device = ranks_per_device;
  Progress line;
  session.progress = [&](const MeasureProgress& now) {
    line.show(fmt::format("{} of {} series, {:.0f} of {:.0f} s", now.done, now.works, now.elapsed_s,
                          options.budget_s));
  };
  session.stopped = [] { return Interruption::asked().load(); };
  session.exceeds = [&](double least_s) {
    line.wipe();
    print_human(fmt::format("warning: --budget '{:g} s' is too short for the measurements that "
                            "laws need, which take about {:.0f} s\n",
                            options.budget_s, least_s),
                true);
  };
  return run_session(works, team, session);
}

// Rank 0 gets the result; other ranks have `follows`.
struct Measured {
  SessionResult result;
  std::string device;
  int ranks = 1;
  std::string left_out;  // why no collectives are measured
  bool follows = false;
};

// Returns null if the ranks have no collectives; `measured` then records why.
std::unique_ptr<Collectives> collectives_of(TcpGroup& group, const Device& device,
                                            const DeviceShare& share, Measured& measured) {
  if (group.ranks() == 1) return nullptr;
  if (device.kind == DeviceKind::cpu) return std::make_unique<TcpCollectives>(group);
  for (const std::string& reason : told_by_all(group, why_no_nccl())) {
    if (!reason.empty()) measured.left_out = reason;
  }
  return measured.left_out.empty() ? nccl_collectives(group, share) : nullptr;
}

// Measures as one rank. A requested end reaches all ranks through rank 0.
void measure_as_rank(const KernelCalibration& options, const Device& device, TcpGroup& group,
                     Measured& measured_here) {
  std::vector<KernelWork> products;
  if (!options.scenario.empty()) products = job_products(load_case(options.scenario).job);
  const DeviceShare share = take_devices(group, device);
  std::optional<OwnCore> core;
  if (device.kind == DeviceKind::cpu) core.emplace(share.local_rank, share.local_ranks);
  const auto collectives = collectives_of(group, device, share, measured_here);
  const double own_bytes = buffers_bytes(device, share);
  const std::vector<TimedWork> works =
      kernel_suite(device, least_of_all(group, own_bytes), collectives.get(), products);
  measured_here.ranks = group.ranks();
  measured_here.device = device.describe().name;
  measured_here.follows = group.rank() > 0;
  if (group.rank() > 0) return follow(works, device, group);
  Team team(device, &group);
  measured_here.result = measured(options, works, team, share.ranks_per_device);
}

Measured measured_by_launched_ranks(const KernelCalibration& options, const Device& device,
                                    const RankPlace& place) {
  constexpr double kJoinS = 60;
  if (options.ranks > 0 && options.ranks != place.ranks) {
    throw Error(fmt::format("--ranks {}: the launcher started {}; leave it out", options.ranks,
                            place.ranks));
  }
  Measured measured;
  measured.follows = place.rank > 0;
  try {
    run_place(place, kJoinS, [&](TcpGroup& group) {
      std::string fault;
      try {
        if (group.rank() == 0) check_out(options.out, options.force);
      } catch (const Error& error) {
        fault = error.what();
      }
      agree(group, fault);
      measure_as_rank(options, device, group, measured);
    });
  } catch (const AgreedFault&) {
    if (place.rank == 0) throw;  // rank 0 reports for all
  }
  return measured;
}

int default_ranks(const Device& device, int devices) {
  return device.kind == DeviceKind::cpu ? std::min(devices, kMostRanks) : devices;
}

// Warns before ranks start, because many ranks take minutes to connect.
std::string sharing_text(int ranks, int devices, const Device& device) {
  return fmt::format(
      "warning: --ranks {}: the ranks share {} {}{}, which is good for trying programs but not for "
      "timing, so no calibration is written without --force; --ranks {} measures one\n",
      ranks, devices, device.kind == DeviceKind::cpu ? "core" : "device", devices > 1 ? "s" : "",
      default_ranks(device, devices));
}

// The processes are forked before any of them uses CUDA.
Measured measured_by_own_ranks(const KernelCalibration& options, const Device& device) {
  check_out(options.out, options.force);
  const UsableDevices usable = usable_devices(device.kind);
  if (usable.count == 0) {
    throw Error(fmt::format("--backend {}: {}; --backend cpu measures this machine's cores",
                            options.backend, usable.why_none));
  }
  const int devices = device.kind == DeviceKind::cpu ? usable_cores() : usable.count;
  const int ranks = options.ranks > 0 ? options.ranks : default_ranks(device, devices);
  if (ranks > devices) print_human(sharing_text(ranks, devices, device), true);
  Measured measured;
  const Interruption interruption;
  run_ranks(ranks, [&](TcpGroup& group) { measure_as_rank(options, device, group, measured); });
  return measured;
}

Measured measured_by_ranks(const KernelCalibration& options, const Device& device) {
  const std::optional<RankPlace> place =
      launched_place([](const char* name) { return std::getenv(name); }, options.coordinator);
  if (!place) return measured_by_own_ranks(options, device);
  const Interruption interruption;
  return measured_by_launched_ranks(options, device, *place);
}

// Returns the port rate in a library node with several of these GPUs; 0 if there is none.
double port_of(const GpuSpec* spec) {
  for (const NodeSpec& node : library_nodes()) {
    if (spec != nullptr && node.gpu.name == spec->name && node.gpus > 1) {
      return node.nvlink_Bps.value;
    }
  }
  return 0;
}

std::string measured_text(const KernelCalibration& options, const Measured& measured) {
  const SessionResult& result = measured.result;
  const MeasureProgress& progress = result.progress;
  return fmt::format(
      "{}: {} series measured{} in {:.0f} s, {} kept from before; {} blocks discarded (clock, "
      "heat, other tenants), and {} of {} timings (other work on a core)\nwrote {}\n",
      measured.device, progress.done,
      measured.ranks > 1 ? fmt::format(" by {} ranks at once", measured.ranks) : "",
      progress.elapsed_s, result.kept, progress.tainted, progress.disturbed, progress.timings,
      options.samples);
}

std::string left_out_text(const SessionResult& result) {
  const MeasureProgress& progress = result.progress;
  if (!result.complete || progress.left_out == 0) return "";
  constexpr double kRounded_s = 10;
  return fmt::format(
      "left out for lack of time: {} works, which are intermediate sizes and some that test the "
      "laws; --budget '{:.0f} s' is enough for all\n",
      progress.left_out, kRounded_s * std::ceil(progress.enough_s / kRounded_s));
}

// Gives the rates for a scenario's `cluster.node` if there is no data sheet.
std::string rates_text(const DeviceRates& rates) {
  std::string text =
      fmt::format("large copies move {:.4g} GB/s, fp32 products reach {:.4g} GFLOP/s",
                  rates.memory_Bps * 1e-9, rates.flops * 1e-9);
  if (rates.port_Bps > 0) {
    text += fmt::format(", ranks send {:.4g} GB/s each", rates.port_Bps * 1e-9);
  }
  return text + "\n";
}

// Checks samples before a fit, which bad rows would distort.
bool refused(const SampleFile& samples, const KnownMachine& known,
             const KernelCalibration& options) {
  const std::vector<SampleFault> faults = sample_faults(samples.runs, known);
  if (!any_refused(faults) || options.force) return false;
  if (options.json) print_document("calibrate-kernels", {{"faults", sample_faults_json(faults)}});
  print_human(
      sample_faults_text(faults) +
          fmt::format(
              "no calibration is made from {}, which is kept unchanged; --force makes one anyway\n",
              options.samples),
      options.json);
  return true;
}

}  // namespace

void check_out(const std::string& path, bool force) {
  const std::filesystem::path out(path);
  std::error_code error;
  if (out.extension() != ".yaml") {
    throw Error(Location{path},
                "--out: expected a name that ends in .yaml, by which scenarios distinguish files "
                "from calibrations of the library");
  }
  if (std::filesystem::is_directory(out, error)) throw Error(Location{path}, "--out: is a folder");
  if (std::filesystem::exists(out, error) && !force) {
    throw Error(Location{path}, "--out: the file exists; --force overwrites it");
  }
  const std::filesystem::path folder = out.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    throw Error(Location{path}, fmt::format("--out: no folder '{}'", folder.string()));
  }
}

ExitCode calibrate_on_kernels(const KernelCalibration& options) {
  const Device& device =
      windtunnel::device(options.backend == "cuda" ? DeviceKind::cuda : DeviceKind::cpu);
  const Measured measured = measured_by_ranks(options, device);
  if (measured.follows) return ExitCode::ok;
  const std::string& name = measured.device;
  const SessionResult& result = measured.result;
  if (!measured.left_out.empty()) {
    print_human(fmt::format("collectives are not measured: {}\n", measured.left_out), options.json);
  }
  print_human(measured_text(options, measured) + left_out_text(result), options.json);
  if (!result.complete) {
    print_failure("interrupted; repeat the same command to continue\n");
    return ExitCode::incomplete;
  }
  const SampleFile samples = read_samples(options.samples);
  const GpuSpec* spec = spec_of_device(name);
  KnownMachine known{.spec = spec};
  if (refused(samples, known, options)) return ExitCode::failed;
  const KernelLaws laws = fit_kernel_laws(samples.runs);
  known.laws = &laws;
  const std::vector<SampleFault> faults = sample_faults(samples.runs, known);
  const ValidationReport report = validate_samples(samples, laws);
  const std::string source = fmt::format("{}, driver {}, {}", name, samples.runs.front().driver,
                                         samples.runs.front().date);
  Calibration calibration = calibration_of(
      laws, calibration_of(options.base.empty() ? "generic" : options.base),
      {.kind = device.kind, .spec = spec, .port_Bps = port_of(spec), .source = source});
  calibration.name = std::filesystem::path(options.out).stem().string();
  calibration.gpu = spec == nullptr ? "" : spec->name;
  write_file(
      options.out,
      sample_faults_comment(faults) +
          calibration_text(calibration, "Written by windtunnel calibrate, measured on " + source));
  if (!options.page.empty()) write_file(options.page, options.page_of(samples, laws, report));
  if (options.json) {
    Json document = validation_json(report);
    document["faults"] = sample_faults_json(faults);
    print_document("calibrate-kernels", document);
  }
  print_human(sample_faults_text(faults) + rates_text(device_rates(laws)) +
                  console_text(rows_document(report)) + fmt::format("wrote {}\n", options.out),
              options.json);
  return ExitCode::ok;
}

namespace fs = std::filesystem;

void add_device_options(const CommandLine& app, DeviceCalibration& options) {
  app.add_option("--backend", options.backend,
                 "the device of this machine whose kernels are measured")
      .check(one_of("backend", {"cpu", "cuda"}));
  app.add_option(
         "--ranks", options.ranks,
         "number of processes that run each kernel at the same time, and the collectives between "
         "them (default: the number of GPUs; CPU: of cores, at most 8). If mpirun, srun or "
         "torchrun started this process, it is one of the processes that they started",
         "N")
      .check(whole_in(1, 1024));
  app.add_option("--coordinator", options.coordinator,
                 "address of the launcher's first process, if the launcher does not state it or "
                 "its port is taken",
                 "HOST[:PORT]");
  app.add_option("--budget", options.budget, "time for measuring (default: 3 min)", "TIME");
  app.add_option("--samples", options.samples,
                 "file for measured series (default: in the folder of --out); series already in it "
                 "are not measured again",
                 "FILE.csv");
  app.add_option("--scenario", options.scenario,
                 "with --backend: also measure the matrix products of this job; with a log: the "
                 "job that ran, a scenario or the configuration with which it was started",
                 "SCENARIO.yaml")
      .check(existing_file());
}

void add_output_options(const CommandLine& app, DeviceCalibration& options) {
  app.add_option("--out", options.out, "write the calibration here", "FILE.yaml").required();
  app.add_flag("--force", options.force,
               "overwrite an existing file, and write a calibration even from refused samples");
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
