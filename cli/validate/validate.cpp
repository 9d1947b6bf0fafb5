// windtunnel validate: predicted against measured rows of CSV files.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/program/command.hpp"
#include "cli/validate/validate_commands.hpp"
#include "cli/validate/validate_samples.hpp"
#include "cli/validate/validations.hpp"
#include "cli/validate/verdict.hpp"
#include "report/answer/calibration_page.hpp"
#include "validate/accuracy/compression/compression.hpp"

namespace windtunnel {
namespace {

void add_where(CLI::App& app, ValidateOptions& options, const char* example) {
  app.add_option("--where", options.where,
                 fmt::format("judge only these rows, as in '{}'", example))
      ->type_name("EXPR");
}

void add_worst(CLI::App& app, ValidateOptions& options) {
  app.add_option("--worst", options.worst, "print so many rows of the largest error (default: 5)")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000));
}

void add_threads(CLI::App& app, ValidateOptions& options) {
  app.add_option("-j", options.threads, "threads (default: all cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
}

void add_markdown(CLI::App& app, ValidateOptions& options, const char* help) {
  app.add_option("--markdown", options.markdown, help)->type_name("FILE");
}

CLI::App* define_schedules(CLI::App& app, ValidateOptions& options) {
  CLI::App* schedules = app.add_subcommand(
      "schedules", "pipeline schedules against published bubble rates or reference makespans");
  schedules->add_option("FILE", options.files, "measured rows (CSV), or a folder of such files")
      ->required();
  add_verdict(*schedules, options, "a family");
  add_page_option(*schedules, options.page);
  add_example(*schedules, "rows.csv --fail-above 0.02");
  return schedules;
}

// What is judged, fitted on and started from.
struct FitFlags {
  CLI::Option* fit_where;
  CLI::Option* calibrate_on;
};
FitFlags add_fit_options(CLI::App& app, ValidateOptions& options, const char* example,
                         const char* calibrate_on, const char* calibration) {
  add_where(app, options, example);
  FitFlags flags{};
  flags.fit_where =
      app.add_option("--fit-where", options.fit_where,
                     "fit the calibration on these rows, freeze it, and do not judge them")
          ->type_name("EXPR");
  flags.calibrate_on = app.add_option("--calibrate-on", options.calibrate_on, calibrate_on)
                           ->type_name("FILE")
                           ->allow_extra_args(false);
  app.add_option("--calibration", options.calibration, calibration)->type_name("NAME|FILE");
  add_worst(app, options);
  add_threads(app, options);
  return flags;
}

CLI::App* define_collectives(CLI::App& app, ValidateOptions& options) {
  CLI::App* collectives =
      app.add_subcommand("collectives", "time of collectives against rows or logs of nccl-tests");
  collectives->add_option("FILE", options.files, "rows (CSV), or the tool's output (text or JSON)")
      ->required();
  add_verdict(*collectives, options, "a family");
  add_page_option(*collectives, options.page);
  add_fit_options(
      *collectives, options, "gpus>64 && collective==\"all_reduce\"",
      "fit on the rows of this file (those of --fit-where); may be repeated",
      "of the library or a .yaml file, to start from instead of that of each row's GPU");
  collectives->add_option("--machine", options.log.machine, "what to call the machine of a log")
      ->type_name("LABEL");
  collectives
      ->add_option("--network", options.log.network,
                   "network of a log's machine, as in 'InfiniBand NDR 8x400Gb/s/node'")
      ->type_name("TEXT");
  collectives
      ->add_option("--collective", options.log.collective,
                   "which collective the logs are of, as in all-reduce (default: as they say)")
      ->type_name("NAME");
  add_markdown(*collectives, options,
               "write a page with every miss above 35 % and every row not used");
  CLI::Option* pairs = collectives->add_flag(
      "--pairs", options.pairs,
      "fit what makes pairs of nodes differ on every other size, and judge the quantiles over "
      "pairs at the rest; --fail-above is then the most that any may be off");
  for (const char* other :
       {"--where", "--fit-where", "--calibrate-on", "--calibration", "--worst", "--markdown"}) {
    pairs->excludes(collectives->get_option(other));
  }
  add_example(*collectives, "all_reduce.log --machine my-cluster --collective all-reduce");
  return collectives;
}

CLI::App* define_runs(CLI::App& app, ValidateOptions& options) {
  CLI::App* runs =
      app.add_subcommand("runs", "step time and memory of training jobs against measured ones");
  runs->add_option("FILE", options.files, "measured rows (CSV), or a folder of such files")
      ->required();
  add_verdict(*runs, options, "a family's step time");
  add_page_option(*runs, options.page);
  const FitFlags flags = add_fit_options(
      *runs, options, "gpus>64 && source~\"vTrain\"",
      "fit on the rows of this file (those of --fit-where), or predict from the stage times that "
      "it holds (columns T_F_ms ...); may be repeated",
      "of the library or a .yaml file, instead of that of each row's GPU");
  runs->add_flag("--one-point", options.one_point,
                 "fit kernel.sustained on the middle row of each family, judge the others")
      ->excludes(flags.fit_where)
      ->excludes(flags.calibrate_on);
  add_markdown(*runs, options,
               "write a page with every miss above 20 % and every row not predicted");
  runs->add_option("--measured", options.measured,
                   "write the families and how far each was off, as the library's "
                   "measured_runs.yaml has them, by which intervals of unlike jobs are widened")
      ->type_name("FILE");
  CLI::Option* row =
      runs->add_option("--scenario", options.row,
                       "judge nothing, and write this row, FILE:LINE, as the scenario whose job "
                       "predicts it")
          ->type_name("FILE:LINE");
  // Nothing is judged, so that whatever says what to judge and how to tell it has no meaning.
  for (CLI::Option* other : runs->get_options([&](const CLI::Option* option) {
         return !option->get_positional() && option != row && option != runs->get_help_ptr();
       })) {
    row->excludes(other);
  }
  runs->add_option("--out", options.row_file, "where the scenario goes (default: stdout)")
      ->type_name("FILE")
      ->needs(row);
  add_example(*runs, "runs.csv --where 'gpus>64' --markdown page.md");
  return runs;
}

CLI::App* define_compression(CLI::App& app, ValidateOptions& options) {
  CLI::App* compression = app.add_subcommand(
      "compression",
      "steps of data-parallel training by how gradients are exchanged: overlapped, merged, "
      "compressed");
  compression
      ->add_option("FILE", options.files,
                   "measured steps, or times of quantised all-reduces (CSV), as the header says")
      ->required();
  add_verdict(*compression, options, "a family's step time");
  add_page_option(*compression, options.page);
  add_where(*compression, options, "gpus>8 && method~\"WFBP\"");
  compression
      ->add_option("--fit-where", options.fit_where,
                   fmt::format("fit the links on these rows, and do not judge them (default: {}; "
                               "with --calibrate-on all its rows)",
                               kLinkFitRows))
      ->type_name("EXPR");
  compression
      ->add_option("--calibrate-on", options.calibrate_on,
                   "fit the links on the rows of this file (those of --fit-where), and judge none "
                   "of it; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_worst(*compression, options);
  add_markdown(*compression, options,
               "write a page with every miss above 10 % and every reason not to predict");
  add_threads(*compression, options);
  add_example(*compression, "steps.csv --fit-where 'method~\"WFBP\"'");
  return compression;
}

CLI::App* define_faults(CLI::App& app, ValidateOptions& options) {
  CLI::App* faults = app.add_subcommand(
      "faults",
      "goodput, failure rates and saves of published jobs, as ranges over what their "
      "sources do not state");
  faults->add_option("FILE", options.files, "reference points (CSV), or a folder of such files")
      ->required();
  faults->add_flag("--json", options.json, "print one JSON document on stdout, text on stderr");
  faults
      ->add_option("--fail-above", options.fail_above,
                   "exit with 1 if more than this share of the values lies outside its range")
      ->type_name("SHARE")
      ->check(number_in(0.0, 1.0));
  add_page_option(*faults, options.page);
  add_where(*faults, options, "id~\"RSC\"");
  add_markdown(*faults, options, "write the same as a page");
  add_threads(*faults, options);
  add_example(*faults, "points.csv --fail-above 0.1");
  return faults;
}

CLI::App* define_checkpoints(CLI::App& app, ValidateOptions& options) {
  CLI::App* checkpoints = app.add_subcommand(
      "checkpoints", "times of saving and loading checkpoints, by software and place");
  checkpoints->add_option("FILE", options.files, "measured times (CSV), or a folder of such files")
      ->required();
  add_verdict(*checkpoints, options, "a family");
  add_page_option(*checkpoints, options.page);
  add_where(*checkpoints, options, "gpus>8 && method~\"torch.save\"");
  add_markdown(*checkpoints, options, "write a page with every row and every one not predicted");
  add_example(*checkpoints, "times.csv --where 'gpus>8'");
  return checkpoints;
}

}  // namespace

Handler define_validate(CLI::App& app) {
  auto options = std::make_shared<ValidateOptions>();
  const auto kind = [options](CLI::App* command, Validation (*run)(const ValidateOptions&)) {
    return ValidationCommand{command, [options, run, name = command->get_name()] {
                               return conclude(name, run(*options), *options);
                             }};
  };
  ValidationCommand runs = kind(define_runs(app, *options), against_runs);
  runs.run = [options, judge = runs.run] {
    return options->row.empty() ? judge() : write_row(*options);
  };
  const std::vector<ValidationCommand> commands = {
      kind(define_schedules(app, *options), against_schedules),
      kind(define_faults(app, *options), against_faults),
      kind(define_checkpoints(app, *options), against_checkpoints),
      kind(define_collectives(app, *options), against_collectives),
      kind(define_compression(app, *options), against_compression),
      define_validate_all(app),
      define_validate_samples(app, kernels_page),
      define_validate_execution(app),
      define_validate_step(app),
      runs};
  add_example(app, "runs runs.csv --worst 10");
  app.require_subcommand(1);
  return [commands] {
    return std::ranges::find_if(
               commands, [](const ValidationCommand& each) { return each.command->parsed(); })
        ->run();
  };
}

}  // namespace windtunnel
