#include "cli/judgement.hpp"

#include <fmt/format.h>

#include "cli/output.hpp"

namespace windtunnel {

void add_judgement(CLI::App& app, Judgement& options, const char* what_is_judged) {
  app.add_flag("--json", options.json, "print one JSON document on stdout, text on stderr");
  app.add_option("--fail-above", options.fail_above,
                 fmt::format("exit with 1 if the mean absolute relative error of {} exceeds this "
                             "share",
                             what_is_judged))
      ->type_name("SHARE")
      ->check(number_in(0.0, 1e6));
}

ExitCode judge(const ValidationReport& report, const Judgement& options,
               const std::string& metric) {
  if (options.fail_above == std::numeric_limits<double>::infinity()) return ExitCode::ok;
  bool judged = false;
  bool failed = false;
  for (const ValidationFamily& family : report.families) {
    if (family.rows == 0 || (!metric.empty() && family.metric != metric)) continue;
    judged = true;
    if (family.mape <= options.fail_above) continue;
    failed = true;
    print_human(fmt::format("{} {}: MAPE {:.4g} is above {:g}\n", family.name, family.metric,
                            family.mape, options.fail_above),
                true);
  }
  if (!judged) print_human("--fail-above: no row was predicted\n", true);
  return failed || !judged ? ExitCode::failed : ExitCode::ok;
}

}  // namespace windtunnel
