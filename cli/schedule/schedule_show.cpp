// windtunnel schedule show: analyses a schedule on an idle network.

#include <memory>

#include "cli/program/answer_output.hpp"
#include "cli/program/output.hpp"
#include "cli/schedule/schedule_command.hpp"
#include "cli/schedule/schedule_source.hpp"
#include "models/base/units.hpp"
#include "report/schedule/schedule_report.hpp"

namespace windtunnel {
namespace {

struct ShowOptions {
  std::shared_ptr<ScheduleSourceOptions> source;
  std::string sends = "asynchronous";
  std::string norm;
  AnalysisOptions analysis;
  bool gantt = false;
  AnswerOutput output;
};

constexpr std::size_t kNoTerminal = 100;  // width of a drawing if there is no terminal

Sends sends_of(const std::string& name) {
  std::vector<std::string> known;
  for (const Sends sends : {Sends::asynchronous, Sends::blocking, Sends::synchronous}) {
    if (name == to_string(sends)) return sends;
    known.emplace_back(to_string(sends));
  }
  throw Error(unknown_name("way to send", name, known));
}

// Reads a time in seconds, or in the schedule's time units if it is not in seconds.
double norm_of(const std::string& text, const ScheduleSource& source) {
  if (text.empty()) return 0;
  try {
    const double norm =
        parse_quantity(text, source.in_seconds ? Dimension::seconds : Dimension::number);
    if (norm >= 0) return norm;
  } catch (const Error& error) {
    throw Error(fmt::format("--norm: {}", error.what()));
  }
  throw Error(fmt::format("--norm '{}': a time must be at least 0", text));
}

ExitCode show(const ShowOptions& given) {
  ShowOptions options = given;
  const ScheduleSource source = load_schedule_source(*options.source);
  options.analysis.sync.norm_s = norm_of(options.norm, source);
  const ScheduleReport report =
      analysed(source, source.schedule, options.analysis, sends_of(options.sends));
  const std::size_t terminal =
      options.output.width > 0 ? options.output.width : terminal_width(options.output.json);
  const std::size_t width = terminal > 0 ? terminal : kNoTerminal;
  Answer answer = schedule_answer(report, {.width = width});
  if (options.gantt) {
    answer.drawing =
        "\n" + schedule_gantt(report.schedule, report.analysis.spans, static_cast<int>(width),
                              human_style(options.output.json));
  }
  hand_out(answer, options.output);
  return ExitCode::ok;
}

}  // namespace

Handler define_schedule_show(const CommandLine& app) {
  auto options = std::make_shared<ShowOptions>();
  options->source = add_schedule_source(app);
  app.add_flag("--gantt", options->gantt, "draw the schedule, one row per rank");
  app.add_option("--width", options->output.width, "characters per line (default: the terminal's)",
                 "N")
      .check(whole_in(20, 100000));
  app.add_option("--sends", options->sends,
                 "how ranks send: asynchronous (default), blocking or synchronous",
                 "HOW:{asynchronous,blocking,synchronous}");
  app.add_flag("--post-validation", options->analysis.sync.post_validation,
               "no rank waits for the gradients' norm, so the step is the longest span of a rank");
  app.add_option("--norm", options->norm, "time of the norm's all-reduce at the end (default 0)",
                 "T");
  SensitivityOptions& sensitivity = options->analysis.sensitivity;
  app.add_option("--jitter", sensitivity.jitter,
                 "standard deviation of the jitter, relative to an action's time (default 0.05)",
                 "SIGMA")
      .check(number_in(0.0, 2.0));
  app.add_option("--draws", sensitivity.draws, "number of random draws of the jitter (default 200)",
                 "N")
      .check(whole_in(0, 1000000));
  app.add_option("--slow", sensitivity.slowness, "how much slower a slow rank is (default 0.1)",
                 "X")
      .check(number_in(0.0, 100.0));
  add_answer_output(app, options->output);
  add_example(app, "1f1b --ranks 4 --microbatches 8 --times 1,1,1 --gantt");
  return [options] { return show(*options); };
}

}  // namespace windtunnel
