#include "validate/commands/validate_samples.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "models/base/error.hpp"
#include "scenarios/language/library/kernel_laws.hpp"
#include "scenarios/language/library/library.hpp"
#include "traces/rows/samples.hpp"
#include "validate/accuracy/samples/sample_accuracy.hpp"
#include "validate/accuracy/samples/sample_faults.hpp"
#include "validate/documents/sample_fault_report.hpp"
#include "validate/documents/validation.hpp"

namespace windtunnel {
namespace {

struct SampleOptions {
  VerdictOptions verdict;
  std::vector<std::string> files;
  std::string calibration;
  SamplesPage page_of;
};

// Returns the driver of a device of this machine; "" if the file comes from another machine.
std::string driver_here(const Sample& sample) {
  const Device& here = device(sample.backend == "cuda" ? DeviceKind::cuda : DeviceKind::cpu);
  if (!here.why_unusable().empty()) return "";
  const DeviceDescription description = here.describe();
  return description.name == sample.device ? description.driver : "";
}

std::vector<SampleFault> faults_of(const SampleFile& file, const KernelLaws& laws,
                                   const std::string& calibration) {
  KnownMachine known;
  known.laws = &laws;
  if (file.runs.empty()) return {};
  const std::string gpu = calibration_of(calibration).gpu;
  known.spec = gpu.empty() ? spec_of_device(file.runs.front().device) : &find_gpu(gpu);
  known.driver = driver_here(file.runs.front());
  return sample_faults(file.runs, known);
}

// Throws Error if the files are of several devices.
std::vector<SampleFile> read_all(const std::vector<std::string>& paths) {
  std::vector<SampleFile> files;
  std::string device;
  for (const std::string& path : paths) {
    files.push_back(read_samples(path));
    if (files.back().runs.empty()) continue;
    const std::string& own = files.back().runs.front().device;
    if (device.empty()) device = own;
    if (own == device) continue;
    throw Error(
        Location{path},
        fmt::format(
            "was measured on {}, but an earlier file on {}; a calibration is for one device", own,
            device));
  }
  return files;
}

ExitCode against_samples(const SampleOptions& options) {
  const KernelLaws laws = read_kernel_laws(options.calibration);
  SampleFile all;
  std::vector<SampleFault> faults;
  for (SampleFile& file : read_all(options.files)) {
    // Each file is checked separately, because it is one run of a machine, with its own driver and
    // noise.
    std::ranges::move(faults_of(file, laws, options.calibration), std::back_inserter(faults));
    std::ranges::move(file.runs, std::back_inserter(all.runs));
    std::ranges::move(file.unusable, std::back_inserter(all.unusable));
  }
  const ValidationReport report = validate_samples(all, laws);
  Validation validation = {
      .document = rows_document(report),
      .json = validation_json(report),
      .verdict = verdict_of(report, options.verdict.fail_above, "time_s"),
      .page = [&](const std::string&) { return options.page_of(all, laws, report); }};
  validation.document.form = "samples";
  validation.document["sample_faults"] = sample_faults_table(faults);
  validation.json["faults"] = sample_faults_json(faults);
  const ExitCode verdict = conclude("samples", std::move(validation), options.verdict);
  return any_refused(faults) ? ExitCode::failed : verdict;
}

}  // namespace

ValidationCommand define_validate_samples(CLI::App& validate, const SamplesPage& page_of) {
  auto options = std::make_shared<SampleOptions>();
  options->page_of = page_of;
  CLI::App* samples = validate.add_subcommand(
      "samples", "predict series of kernels that were measured for this purpose (compositions)");
  samples->add_option("FILE", options->files, "the samples of windtunnel calibrate --backend (CSV)")
      ->required();
  samples
      ->add_option("--calibration", options->calibration, "the calibration that it wrote (.yaml)")
      ->type_name("FILE")
      ->required();
  add_verdict(*samples, options->verdict, "a family");
  if (page_of) add_page_option(*samples, options->verdict.page);
  add_example(*samples, "node.samples.csv --calibration node.yaml");
  return {samples, [options] { return against_samples(*options); }};
}

}  // namespace windtunnel
