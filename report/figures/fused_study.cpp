#include <fmt/format.h>

#include "models/results/fused_report.hpp"
#include "report/figures/shown_studies.hpp"

namespace windtunnel {
namespace {

// A value of the best number of jobs; nothing if no number is best.
template <auto member>
FigureValue of_best(const Record& record) {
  const auto* report = record.studies.find<FusedReport>();
  const FusedPoint* best = report == nullptr ? nullptr : report->best();
  return best == nullptr ? FigureValue() : FigureValue(double(best->*member));
}

std::vector<Figure> fused_figures() {
  return {{"fused.most_jobs", "jobs that fit", Unit::whole, Better::higher,
           "how many of the requested jobs fit on one GPU together",
           [](const Record& record) -> FigureValue {
             const auto* report = record.studies.find<FusedReport>();
             if (report == nullptr) return {};
             return double(report->most_jobs);
           },
           kClosedForm},
          {"fused.jobs", "best together", Unit::whole, Better::neither,
           "the number of fused jobs with the highest throughput, among those that fit",
           of_best<&FusedPoint::jobs>, kClosedForm},
          {"fused.step_s", "fused step", Unit::seconds, Better::lower,
           "time of one step of all fused jobs", of_best<&FusedPoint::step_s>, kClosedForm,
           Follows::time},
          {"fused.speedup", "speed-up by fusion", Unit::events, Better::higher,
           "speed of these jobs fused, relative to running them one after the other",
           of_best<&FusedPoint::speedup>, kClosedForm}};
}

std::vector<SummarySection> fused_sections(const Record& record) {
  SummarySection section{"Jobs fused on one GPU", {}};
  section.table = titled_table("jobs > | step of all > | speed-up > | memory > | fits");
  for (const FusedPoint& point : record.studies.find<FusedReport>()->points) {
    section.table.rows.push_back(
        {value_text(Unit::whole, point.jobs), value_text(Unit::seconds, point.step_s),
         fmt::format("{:.2f}", point.speedup), value_text(Unit::memory, point.memory_bytes),
         point.fits ? "yes" : "no"});
  }
  add_figures(record, "fused", section, plain_text);
  return {section};
}

void add_fused_json(const Record& record, Json& part) {
  part["points"] =
      list_json(record.studies.find<FusedReport>()->points, [](const FusedPoint& point) {
        return MEMBERS_JSON(point, jobs, step_s, speedup, memory_bytes, fits);
      });
}

}  // namespace

ShownStudy shown_fused() {
  return {.key = "fused",
          .is_in = [](const Record& record) { return record.studies.has<FusedReport>(); },
          .figures = fused_figures,
          .sections = fused_sections,
          .add_json = add_fused_json,
          .columns = {"fused.most_jobs", "fused.jobs", "fused.step_s", "fused.speedup"}};
}

}  // namespace windtunnel
