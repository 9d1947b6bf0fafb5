#include "cli/validate_samples.hpp"

#include <memory>

#include "cli/judgement.hpp"
#include "cli/output.hpp"
#include "report/validation.hpp"
#include "scenarios/kernel_laws.hpp"
#include "traces/samples.hpp"
#include "validate/accuracy/samples.hpp"

namespace windtunnel {
namespace {

struct SampleOptions {
  Judgement judgement;
  std::string file;
  std::string calibration;
};

ExitCode against_samples(const SampleOptions& options) {
  const ValidationReport report =
      validate_samples(read_samples(options.file), read_kernel_laws(options.calibration));
  if (options.judgement.json) print_result(json_text(validation_document(report)));
  print_human(validation_text(report), options.judgement.json);
  return judge(report, options.judgement, "time_s");
}

}  // namespace

SampleValidation define_validate_samples(CLI::App& validate) {
  auto options = std::make_shared<SampleOptions>();
  CLI::App* samples = validate.add_subcommand(
      "samples", "series of kernels that were measured to be predicted: compositions");
  samples->add_option("FILE", options->file, "what windtunnel calibrate --backend measured (CSV)")
      ->required();
  samples->add_option("--calibration", options->calibration, "what it wrote beside (.yaml)")
      ->type_name("FILE")
      ->required();
  add_judgement(*samples, options->judgement, "a family");
  return {samples, [options] { return against_samples(*options); }};
}

}  // namespace windtunnel
