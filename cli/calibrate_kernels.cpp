#include "cli/calibrate_kernels.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "cli/interruption.hpp"
#include "cli/output.hpp"
#include "kernels/device.hpp"
#include "models/kernel_law_fit.hpp"
#include "report/document.hpp"
#include "report/sample_faults.hpp"
#include "report/validation.hpp"
#include "scenarios/calibration_writer.hpp"
#include "scenarios/library.hpp"
#include "traces/samples.hpp"
#include "validate/accuracy/sample_faults.hpp"
#include "validate/accuracy/samples.hpp"
#include "validate/harness/kernel_suite.hpp"
#include "validate/harness/own_core.hpp"
#include "validate/harness/session.hpp"
#include "validate/harness/tcp_collectives.hpp"
#include "validate/harness/team.hpp"

namespace windtunnel {
namespace {

// Of a device's memory, for the buffers of one work; of what a machine has whose memory is not
// known, 1 GB.
constexpr double kMemoryShare = 0.05;
constexpr double kMostBytes = 4e9;
constexpr double kUnknownBytes = 1e9;
constexpr int kMostRanks = 8;  // as GPUs of a node

const Device& device_of(const std::string& backend) {
  const Device& found = device(backend == "cuda" ? DeviceKind::cuda : DeviceKind::cpu);
  const std::string reason = found.why_unusable();
  if (!reason.empty()) {
    throw Error(fmt::format("--backend {}: {}; --backend cpu measures this machine's cores",
                            backend, reason));
  }
  return found;
}

// Ranks on cores share the memory of their machine.
double buffers_bytes(const Device& device, int ranks) {
  const auto all = static_cast<double>(device.describe().memory_bytes);
  const double bytes = all > 0 ? std::min(kMostBytes, kMemoryShare * all) : kUnknownBytes;
  return bytes / ranks;
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
  return run_session(works, team, session);
}

// By all ranks at once, of which this process is the first. An end that is asked for reaches them
// all; the others leave it to this one.
SessionResult measured_by_ranks(const KernelCalibration& options, const Device& device) {
  SessionResult result;
  const int cores = usable_cores();
  const int ranks_per_core = (options.ranks + cores - 1) / cores;
  const Interruption interruption;
  run_ranks(options.ranks, [&](TcpGroup& group) {
    const OwnCore core(group.rank(), group.ranks());
    TcpCollectives collectives(group);
    const std::vector<TimedWork> works =
        kernel_suite(device, buffers_bytes(device, group.ranks()), &collectives);
    if (group.rank() > 0) return follow(works, device, group);
    Team team(device, &group);
    result = measured(options, works, team, ranks_per_core);
  });
  return result;
}

// Of a node of the library that has several of these; 0: there is none.
double port_of(const GpuSpec* spec) {
  for (const NodeSpec& node : library_nodes()) {
    if (spec != nullptr && node.gpu.name == spec->name && node.gpus > 1) {
      return node.nvlink_Bps.value;
    }
  }
  return 0;
}

std::string measured_text(const KernelCalibration& options, const std::string& device,
                          const SessionResult& result) {
  const MeasureProgress& progress = result.progress;
  return fmt::format(
      "{}: {} series measured{} in {:.0f} s, {} kept from before; {} blocks thrown away (clock, "
      "heat, "
      "other tenants)\nwrote {}\n",
      device, progress.done,
      options.ranks > 1 ? fmt::format(" by {} ranks at once", options.ranks) : "",
      progress.elapsed_s, result.kept, progress.tainted, options.samples);
}

// For a scenario's `cluster.node` where no data sheet tells.
std::string rates_text(const DeviceRates& rates) {
  std::string text =
      fmt::format("large copies move {:.4g} GB/s, fp32 products reach {:.4g} GFLOP/s",
                  rates.memory_Bps * 1e-9, rates.flops * 1e-9);
  if (rates.port_Bps > 0) {
    text += fmt::format(", ranks send {:.4g} GB/s each", rates.port_Bps * 1e-9);
  }
  return text + "\n";
}

// Before a fit, which bad rows would bend.
bool refused(const SampleFile& samples, const KnownMachine& known,
             const KernelCalibration& options) {
  const std::vector<SampleFault> faults = sample_faults(samples.runs, known);
  if (!any_refused(faults) || options.force) return false;
  if (options.json) print_result(json_text({{"faults", sample_faults_json(faults)}}));
  print_human(sample_faults_text(faults) +
                  fmt::format("no calibration is made of {}, which is kept as it is; --force makes "
                              "it all the same\n",
                              options.samples),
              options.json);
  return true;
}

}  // namespace

int default_ranks(const std::string& backend) {
  return backend == "cpu" ? std::min(usable_cores(), kMostRanks) : 1;
}

ExitCode calibrate_on_kernels(const KernelCalibration& options) {
  const Device& device = device_of(options.backend);
  const std::string name = device.describe().name;
  const SessionResult result = measured_by_ranks(options, device);
  print_human(measured_text(options, name, result), options.json);
  if (!result.complete) {
    print_human("interrupted: the same command goes on where it was\n", options.json);
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
  if (options.json) {
    Json document = validation_document(report);
    document["faults"] = sample_faults_json(faults);
    print_result(json_text(document));
  }
  print_human(sample_faults_text(faults) + rates_text(device_rates(laws)) +
                  validation_text(report) + fmt::format("wrote {}\n", options.out),
              options.json);
  return ExitCode::ok;
}

}  // namespace windtunnel
