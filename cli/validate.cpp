// windtunnel validate: predicted against measured rows of a CSV file.
#include <fmt/format.h>

#include <limits>
#include <memory>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "report/validation.hpp"
#include "validate/accuracy/schedules.hpp"

namespace windtunnel {
namespace {

struct ValidateOptions {
  std::string file;
  bool json = false;
  double fail_above = std::numeric_limits<double>::infinity();
};

// A bound that no row was held against is not met.
ExitCode judge(const ValidationReport& report, const ValidateOptions& options) {
  if (options.fail_above == std::numeric_limits<double>::infinity()) return ExitCode::ok;
  bool failed = report.rows.empty();
  if (failed) print_human("--fail-above: no row was predicted\n", true);
  for (const ValidationFamily& family : report.families) {
    if (family.mape <= options.fail_above) continue;
    failed = true;
    print_human(fmt::format("{} {}: MAPE {:.4g} is above {:g}\n", family.name, family.metric,
                            family.mape, options.fail_above),
                true);
  }
  return failed ? ExitCode::failed : ExitCode::ok;
}

ExitCode validate(const ValidationReport& report, const ValidateOptions& options) {
  if (options.json) print_result(json_text(validation_document(report)));
  print_human(validation_text(report), options.json);
  return judge(report, options);
}

}  // namespace

Action define_validate(CLI::App& app) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* schedules = app.add_subcommand(
      "schedules", "pipeline schedules against published bubble rates or reference makespans");
  schedules->add_option("FILE", options->file, "measured rows (CSV)")->required();
  schedules->add_flag("--json", options->json, "print one JSON document on stdout, text on stderr");
  schedules
      ->add_option("--fail-above", options->fail_above,
                   "exit with 1 if a family's mean absolute relative error exceeds this share")
      ->type_name("SHARE")
      ->check(CLI::NonNegativeNumber);
  app.require_subcommand(1);
  return [options] { return validate(validate_schedules(options->file), *options); };
}

}  // namespace windtunnel
