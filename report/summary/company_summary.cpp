#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/cost/chunk/step_work.hpp"
#include "report/figures/figure_text.hpp"
#include "report/summary/notes.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {
namespace {

std::string factor_text(double factor) {
  return fmt::format("{:.4f}", factor);
}

// Nodes of the machine in ascending order: "0-7, 12".
std::string places_text(const Cluster& cluster) {
  std::vector<int> places;
  for (int node = 0; node < cluster.nodes; ++node) places.push_back(cluster.place_of(node));
  std::ranges::sort(places);
  std::string text;
  constexpr int kMostRuns = 4;
  int runs = 0;
  for (std::size_t i = 0; i < places.size();) {
    std::size_t end = i + 1;
    while (end < places.size() && places[end] == places[end - 1] + 1) ++end;
    if (++runs > kMostRuns) return text + ", ...";
    if (!text.empty()) text += ", ";
    text += end - i == 1 ? fmt::format("{}", places[i])
                         : fmt::format("{}-{}", places[i], places[end - 1]);
    i = end;
  }
  return text;
}

SummarySection jobs_section(const CompanyReport& report) {
  SummarySection section{"Jobs side by side", {}};
  section.table = titled_table(
      "job | nodes > | placed on | step alone > | together > | slowdown > | "
      "over starts > | steps > | per s together >");
  for (const CompanyJob& job : report.jobs) {
    const Job& of = job.alone.job;
    section.table.rows.push_back(
        {job.alone.scenario, with_separators(of.cluster.nodes), places_text(of.cluster),
         value_text(Unit::seconds, job.alone_s()), value_text(Unit::seconds, job.together_s()),
         factor_text(job.slowdown),
         fmt::format("{} .. {}", factor_text(job.least_slowdown), factor_text(job.most_slowdown)),
         with_separators(job.steps),
         fmt::format("{} {}", value_text(Unit::count, tokens_per_step(of) / job.together_s()),
                     item_noun(of))});
  }
  return section;
}

SummarySection certainty_section(const CompanyReport& report) {
  SummarySection section{kCertaintyTitle, {}};
  if (report.jobs.size() == 1) {
    section.rows.push_back({"one job", "runs without others, so both times are equal"});
    return section;
  }
  section.add(
      "slowdown",
      "time of a steady step while all other jobs run, relative to the same step alone on the "
      "same nodes: the mean over {} start times of the jobs, spread evenly over a step",
      report.starts);
  section.rows.push_back(
      {"over starts",
       "the minimum and maximum over start times, which persist if jobs have equally long steps"});
  section.rows.push_back({"cost models", cost_models_text(report.jobs.front().alone)});
  return section;
}

}  // namespace

Answer summarise(const CompanyReport& report) {
  Answer summary;
  summary.title = report.scenario;
  summary.subtitle = fmt::format("{} jobs on {} nodes, {}", report.jobs.size(),
                                 with_separators(report.nodes), name_of(report.placement));
  for (const CompanyJob& job : report.jobs) {
    summary.figures.push_back({job.alone.scenario, value_text(Unit::seconds, job.together_s()),
                               fmt::format("alone {}", value_text(Unit::seconds, job.alone_s()))});
  }
  summary.sections.push_back(jobs_section(report));
  summary.sections.push_back(certainty_section(report));
  SummarySection notes{kNotesTitle, {}};
  for (const CompanyJob& job : report.jobs) {
    for (SummaryRow& row : note_rows(job.alone.notes)) {
      row.label = fmt::format("{}: {}", job.alone.scenario, row.label);
      notes.rows.push_back(std::move(row));
    }
  }
  if (!notes.rows.empty()) summary.sections.push_back(std::move(notes));
  return summary;
}

}  // namespace windtunnel
