// windtunnel schedule export and import write and read files of torch.distributed.pipelining.
#include <fmt/format.h>

#include <memory>

#include "cli/program/output.hpp"
#include "cli/schedule/schedule_command.hpp"
#include "cli/schedule/schedule_source.hpp"
#include "policies/evaluation/message_validator.hpp"
#include "policies/evaluation/schedule_lowering.hpp"
#include "report/answer/command_answers.hpp"
#include "traces/torch/torch_schedule.hpp"

namespace windtunnel {
namespace {

struct ExportOptions {
  std::shared_ptr<ScheduleSourceOptions> source;
  bool torch = false;
  bool comms = false;
  bool fsdp = false;
  bool merge = false;
  bool extended = false;
  std::string out;
  std::string page;
};

struct ImportOptions {
  std::string file;
  std::string dialect;
  std::string out;
  bool lower = false;
  bool fsdp = false;
  std::string page;
};

// Writes to a file and prints a line about it, or writes to stdout.
void write_schedule(const Schedule& schedule, bool extended, const std::string& out,
                    const std::string& title) {
  const std::string text = torch_schedule_text(schedule, extended);
  if (out.empty()) return print_result(text);
  write_file(out, text);
  print_result(fmt::format("{}\nwrote {}\n", title, out));
}

// Writes the page that `show` draws.
void write_page(const std::string& page, const ScheduleSource& source) {
  const ScheduleReport report = analysed(source, source.schedule);
  write_file(page, answer_page(schedule_answer(report)));
}

Schedule lower(const Schedule& schedule, bool fsdp) {
  Schedule result = lowered(compute_only(schedule), {.sharded = fsdp});
  validate_messages(result);
  return result;
}

ExitCode export_schedule(const ExportOptions& options) {
  if (options.fsdp && !options.comms) {
    throw Error("--fsdp gathers and drops weights in the lowered schedule; add --comms");
  }
  check_output_file(options.out, {options.source->what});
  const ScheduleSource source = load_schedule_source(*options.source);
  Schedule schedule = compute_only(source.schedule);
  if (options.merge) schedule = with_full_backwards(std::move(schedule));
  if (options.comms) schedule = lower(schedule, options.fsdp);
  if (!options.page.empty()) write_page(options.page, source);
  write_schedule(schedule, options.extended, options.out, source.title);
  return ExitCode::ok;
}

ExitCode import_schedule(const ImportOptions& options) {
  if (options.fsdp && !options.lower) {
    throw Error("--fsdp gathers and drops weights in the lowered schedule; add --lower");
  }
  check_output_file(options.out, {options.file});
  const TorchSchedule torch = load_torch_schedule(options.file, options.dialect);
  const Schedule& schedule = torch.schedule;
  if (!options.page.empty()) {
    ScheduleSourceOptions file;
    file.what = options.file;
    file.dialect = options.dialect;
    write_page(options.page, load_schedule_source(file));
  }
  const std::string title =
      fmt::format("{}: {} ranks, {} stages, {} micro-batches; {}", options.file, schedule.ranks,
                  schedule.stages(), schedule.microbatches, describe(torch));
  if (options.out.empty()) {
    // Reports the dialect, on stderr if the file goes to stdout.
    print_human(title + "\n", options.lower);
    if (!options.lower) return ExitCode::ok;
  }
  write_schedule(options.lower ? lower(schedule, options.fsdp) : schedule, torch.extended,
                 options.out, title);
  return ExitCode::ok;
}

}  // namespace

Handler define_schedule_export(const CommandLine& app) {
  auto options = std::make_shared<ExportOptions>();
  options->source = add_schedule_source(app);
  app.add_flag("--torch", options->torch,
               "write a CSV of torch.distributed.pipelining (the only format, and the default)");
  app.add_flag("--comms", options->comms,
               "lower the schedule: add sends, receives and reductions (compute_comms)");
  app.add_flag("--fsdp", options->fsdp,
               "with --comms: also gather weights ahead of use and drop them");
  app.add_flag("--merge-backwards", options->merge,
               "write an input gradient directly followed by its weight gradient as one backward");
  app.add_flag("--extended", options->extended,
               "allow windtunnel's notation for directions, slices, iterations and recomputation, "
               "which torch does not read");
  app.add_option("--out", options->out, "the file to write (default: stdout)", "FILE");
  add_page_option(app, options->page);
  add_example(app, "interleaved-1f1b --ranks 4 --microbatches 8 --out schedule.csv");
  return [options] { return export_schedule(*options); };
}

Handler define_schedule_import(const CommandLine& app) {
  auto options = std::make_shared<ImportOptions>();
  app.add_option("FILE", options->file, "a CSV of torch.distributed.pipelining").required();
  add_dialect(app, options->dialect);
  app.add_flag("--lower", options->lower, "place sends, receives and reductions as torch does");
  app.add_flag("--fsdp", options->fsdp,
               "with --lower: also gather weights ahead of use and drop them");
  app.add_option("--out", options->out, "write the schedule to this file, in the current dialect",
                 "FILE");
  add_page_option(app, options->page);
  add_example(app, "schedule.csv --lower");
  return [options] { return import_schedule(*options); };
}

}  // namespace windtunnel
