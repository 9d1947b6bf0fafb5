#include <map>
#include <string>

#include "report/figures/figure_parts.hpp"

namespace windtunnel {
namespace {

using enum Unit;
using enum Better;

// This is a value for each level of Job::sync; nothing if replicas synchronise in every step.
std::function<FigureValue(const Record&)> of_sync(double (*value)(const SyncReport& report)) {
  return [value](const Record& record) -> FigureValue {
    std::map<std::string, Estimate> levels;
    for (std::size_t level = 0; level < record.iteration.sync.size(); ++level) {
      const double number = value(record.iteration.sync[level]);
      levels[record.job.sync[level].over] = {.mean = number, .low = number, .high = number};
    }
    return levels.empty() ? FigureValue() : FigureValue(levels);
  };
}

using enum Unit;
using enum Better;

template <auto member>
FigureValue of_stragglers(const Record& record) {
  const std::optional<StragglerReport>& own = record.iteration.stragglers;
  return own ? FigureValue((*own).*member) : FigureValue();
}
template <auto member>
FigureValue of_redundancy(const Record& record) {
  return record.job.redundancy ? of_stragglers<member>(record) : FigureValue();
}

}  // namespace

std::vector<Figure> sync_figures() {
  return {
      {"iteration.inner_step_s", "inner step", seconds, lower,
       "time of a step without an exchange between islands; an island that is too late for an "
       "exchange stops where it is",
       [](const Record& record) {
         const bool any = !record.job.sync.empty();
         return any ? FigureValue(record.iteration.inner_step_s) : FigureValue();
       }},
      {"iteration.sync_utilization", "utilisation of islands", share, higher,
       "share of the mean step that inner steps take; the rest are exposed exchanges and waits of "
       "islands for each other",
       [](const Record& record) {
         const IterationReport& report = record.iteration;
         return record.job.sync.empty() ? FigureValue()
                                        : FigureValue(report.inner_step_s / report.time_s);
       }},
      {"iteration.sync_exchange_s", "exchange between islands", seconds, lower,
       "time of one fragment with nothing else running, by level of sync",
       of_sync([](const SyncReport& report) { return report.seconds.exchange_s; })},
      {"iteration.sync_exposed_s", "exposed exchange", seconds, lower,
       "extra time of steps for one exchange, by level of sync",
       of_sync([](const SyncReport& report) { return report.seconds.exposed_s; })},
      {"iteration.sync_wait_s", "wait of islands", seconds, lower,
       "time that an island waits for others at an exchange because of stragglers, by level of "
       "sync",
       [](const Record& record) -> FigureValue {
         if (!record.iteration.stragglers) return {};
         return of_sync([](const SyncReport& report) { return report.seconds.wait_s; })(record);
       }},
      {"iteration.sync_left_out", "islands not waited for", events, neither,
       "islands that an exchange does not wait for, by level of sync",
       of_sync(
           [](const SyncReport& report) { return static_cast<double>(report.seconds.left_out); })},
      {"iteration.sync_late", "islands too late", share, lower,
       "share of the islands that are too late for an exchange, so that their steps since the last "
       "one do not count, by level of sync",
       of_sync([](const SyncReport& report) { return report.seconds.late; })},
      {"iteration.sync_sent_bytes", "sent between islands", bytes, lower,
       "bytes of all fragments that the busiest GPU sends, by level of sync",
       of_sync([](const SyncReport& report) { return report.sent_bytes; })}};
}

std::vector<Figure> straggler_figures() {
  return {{"iteration.stragglers.step_s", "mean over steps", seconds, lower,
           "mean step time with stragglers; for islands, between their exchanges",
           of_stragglers<&StragglerReport::step_s>},
          {"iteration.stragglers.waiting_s", "if all are waited for", seconds, lower,
           "step time without redundant work, which waits for the slowest replica",
           of_stragglers<&StragglerReport::waiting_s>},
          {"iteration.stragglers.load", "load", events, lower,
           "work of a replica, divided by its part of the batch",
           of_redundancy<&StragglerReport::load>},
          {"iteration.stragglers.missing", "replicas left out", events, lower,
           "mean number of replicas that a step does not wait for",
           of_redundancy<&StragglerReport::missing>},
          {"iteration.stragglers.waited_share", "waited out", share, lower,
           "share of the steps that waited beyond the tolerance because they needed more replicas",
           of_redundancy<&StragglerReport::waited_share>},
          {"iteration.stragglers.gradient_share", "batch in the gradient", share, higher,
           "mean share of the batch that the gradient of a step includes",
           of_redundancy<&StragglerReport::gradient_share>}};
}

}  // namespace windtunnel
