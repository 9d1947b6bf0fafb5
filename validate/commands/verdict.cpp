#include "validate/commands/verdict.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/program/command_line.hpp"
#include "cli/program/output.hpp"
#include "models/base/error.hpp"

namespace windtunnel {

ExitCode conclude(std::string_view kind, Validation validation, const VerdictOptions& options,
                  const PageCommands& commands) {
  if (!options.markdown.empty()) {
    validation.document["command"] = commands.portable;
    const std::string page = markdown_page(validation.document);
    CHECK(!page.empty(), "the form '{}' has no page", validation.document.form);
    write_file(options.markdown, page);
  }
  if (!options.page.empty()) write_file(options.page, validation.page(commands.as_given));
  if (options.json) print_document(fmt::format("validate-{}", kind), validation.json);
  print_human(console_text(validation.document, human_style(options.json).width), options.json);
  if (validation.verdict.empty()) return ExitCode::ok;
  print_failure(validation.verdict);
  return ExitCode::failed;
}

void add_verdict(CLI::App& app, VerdictOptions& options, const char* what_is_judged) {
  CommandLine(app).add_json(options.json);
  app.add_option("--fail-above", options.fail_above,
                 fmt::format("exit with 1 if the mean absolute relative error of {} exceeds this "
                             "share",
                             what_is_judged))
      ->type_name("SHARE")
      ->check(number_in(0.0, 1e6));
}

std::string verdict_of(const ValidationReport& report, double fail_above,
                       const std::string& metric) {
  if (fail_above == std::numeric_limits<double>::infinity()) return "";
  bool judged = false;
  std::string verdict;
  for (const ValidationFamily& family : report.families) {
    if (family.rows == 0 || (!metric.empty() && family.metric != metric)) continue;
    judged = true;
    if (family.mape <= fail_above) continue;
    verdict += fmt::format("{} {}: MAPE {:.4g} is above {:g}\n", family.name, family.metric,
                           family.mape, fail_above);
  }
  return judged ? verdict : "--fail-above: no row was predicted\n";
}

}  // namespace windtunnel
