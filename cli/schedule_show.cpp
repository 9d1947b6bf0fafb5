// windtunnel schedule show: makespan, bubbles and peaks of a schedule.
#include "cli/output.hpp"
#include "cli/schedule.hpp"
#include "cli/schedule_source.hpp"
#include "models/base/units.hpp"
#include "policies/schedule_evaluator.hpp"

namespace windtunnel {
namespace {

ExitCode show(const ScheduleSourceOptions& options) {
  const ScheduleSource source = load_schedule_source(options);
  const ScheduleEvaluation evaluation =
      evaluate_schedule(source.schedule, source.costs, source.message_s);
  const auto time = [&](double seconds) {
    return source.in_seconds ? format_seconds(seconds) : fmt::format("{:.4g}", seconds);
  };
  const auto amount = [&](double activation) {
    return source.in_bytes ? format_bytes(activation) : fmt::format("{:.4g}", activation);
  };
  std::string text = source.title + "\n";
  for (const std::string& note : source.notes) text += note + "\n";
  text += fmt::format("makespan                {}\n", time(evaluation.makespan_s));
  text += fmt::format("bubble, makespan        {}\n", time(evaluation.bubble_makespan_s()));
  text += fmt::format("bubble, longest stage   {}  {}\n", time(evaluation.bubble_longest_stage_s()),
                      format_percent(evaluation.bubble_longest_stage_rate()));
  text += fmt::format("bubble, idle            {}\n", format_percent(evaluation.bubble_idle()));
  for (size_t rank = 0; rank < evaluation.peak_activation.size(); ++rank) {
    text += fmt::format("peak activations, rank {:<3} {}\n", rank,
                        amount(evaluation.peak_activation[rank]));
  }
  print_result(text);
  return ExitCode::ok;
}

}  // namespace

Handler define_schedule_show(CLI::App& app) {
  const std::shared_ptr<ScheduleSourceOptions> options = add_schedule_source(app);
  return [options] { return show(*options); };
}

}  // namespace windtunnel
