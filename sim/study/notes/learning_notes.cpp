#include "sim/study/notes/learning_notes.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

namespace windtunnel {
namespace {

std::string count_of_steps(double steps) {
  return fmt::format("{:.6g} step{}", steps, steps == 1 ? "" : "s");
}

std::string periods_of(const Job& job) {
  std::string text;
  for (const SyncLevel& level : job.sync) {
    if (level.pattern == SyncPattern::none) continue;
    text += fmt::format("{}{} every {}", text.empty() ? "" : ", ", level.over,
                        count_of_steps(level.every_steps));
  }
  return text.empty() ? "never" : text;
}

// Of gradients and of what islands exchange.
std::set<std::string> compressors_of(const Job& job) {
  std::set<std::string> names = {job.communication.compressors.dp.name};
  for (const SyncLevel& level : job.sync) names.insert(level.compressor.name);
  names.erase("none");
  return names;
}

void add_approximations(const Job& job, std::vector<Note>& notes) {
  if (!job.sync.empty()) {
    notes.push_back(
        {"sync",
         "islands that exchange less often than in every step may learn less from a token; how "
         "many steps that costs is not predicted: a curve of job.quality, or job.steps, says so",
         periods_of(job)});
  }
  const std::set<std::string> names = compressors_of(job);
  if (!names.empty()) {
    notes.push_back(
        {"compressor",
         "steps with compressed exchanges may teach less than dense ones; how many more are needed "
         "is not predicted: a curve of job.quality, or job.steps, says so",
         fmt::format("{}", fmt::join(names, ", "))});
  }
}

// What a step's gradient lacks, and when it is complete.
void add_redundancy(const StragglerReport& report, std::vector<Note>& notes) {
  if (report.gradient_share < 1) {
    notes.push_back({"redundancy",
                     "the gradient is not that of the whole batch: it lacks those of the replicas "
                     "that a step does not wait for, but their samples count as trained on; how "
                     "many steps that costs is not predicted",
                     fmt::format("{:.1f} % of it", 100 * (1 - report.gradient_share))});
  }
  if (report.delay_steps > 0) {
    notes.push_back({"redundancy",
                     "the gradient of a step is complete some steps later: so many models and one "
                     "more are trained in turn, or weights are so many steps old",
                     count_of_steps(report.delay_steps)});
  }
}

}  // namespace

std::vector<Note> learning_notes(const Job& job, const IterationReport& report) {
  std::vector<Note> notes;
  if (job.steps == 0) add_approximations(job, notes);
  if (job.redundancy) add_redundancy(*report.stragglers, notes);
  return notes;
}

}  // namespace windtunnel
