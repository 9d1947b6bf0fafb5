#include <fmt/format.h>

#include "models/results/volunteer_report.hpp"
#include "report/figures/shown_studies.hpp"

namespace windtunnel {
namespace {

using enum Unit;
using enum Better;

// Nothing if the record has no volunteers, or not that part of their report.
template <auto member>
FigureValue of_volunteers(const Record& record) {
  const auto* report = record.studies.find<VolunteerReport>();
  if (report == nullptr) return {};
  const auto& value = report->*member;
  if constexpr (requires { value.empty(); }) {
    return value.empty() ? FigureValue() : FigureValue(value);
  } else {
    return value;
  }
}

template <double CallsPoint::*member>
FigureValue of_calls(const Record& record) {
  const auto* report = record.studies.find<VolunteerReport>();
  return report == nullptr || !report->calls ? FigureValue() : (*report->calls).*member;
}

std::vector<Figure> volunteer_figures() {
  return {
      {"volunteers.tokens_per_s", "tokens/s of peers", count, higher,
       "throughput of the peers that compute under adaptive roles, limited by stages and averaging",
       of_volunteers<&VolunteerReport::tokens_per_s>, kSimulated, Follows::rate},
      {"volunteers.passed_tokens_per_s", "tokens/s of stages", count, higher,
       "mean throughput of these peers as they come and go, not counting averaging",
       of_volunteers<&VolunteerReport::passed_tokens_per_s>, kSimulated, Follows::rate},
      {"volunteers.optimum_tokens_per_s", "tokens/s if balanced", count, higher,
       "throughput of the same peers if they were redistributed over the stages at every moment",
       of_volunteers<&VolunteerReport::optimum_tokens_per_s>, kSimulated, Follows::rate},
      {"volunteers.optimum_share", "share of optimum", share, higher,
       "throughput of the stages, relative to balanced stages",
       of_volunteers<&VolunteerReport::optimum_share>},
      {"volunteers.unmoved_share", "share without moves", share, higher,
       "share of the optimum that is reached if no peer changes its stage",
       of_volunteers<&VolunteerReport::unmoved_share>},
      {"volunteers.peers", "peers", events, neither, "mean number of peers",
       of_volunteers<&VolunteerReport::peers>},
      {"volunteers.moves_per_h", "moves per hour", events, lower,
       "how often peers move from stage to stage", of_volunteers<&VolunteerReport::moves_per_h>},
      {"volunteers.stalled", "stalled", small_share, lower,
       "share of the time in which a stage has no peer", of_volunteers<&VolunteerReport::stalled>},
      {"volunteers.utilisation", "peers compute", share, higher,
       "share of their time in which peers compute, by kind, if micro-batches always wait for them",
       of_volunteers<&VolunteerReport::utilisation>},
      {"volunteers.unhidden_utilisation", "peers compute, one in flight", share, higher,
       "share of its time in which a peer computes if each micro-batch waits for its message first",
       of_volunteers<&VolunteerReport::unhidden_utilisation>},
      {"volunteers.averaging_s", "averaging", seconds, lower,
       "time to average a step's gradients among the peers of a stage, by which peers average",
       of_volunteers<&VolunteerReport::averaging_s>, kClosedForm},
      {"volunteers.step_s", "step of peers", seconds, lower,
       "the longer of averaging and of computing a batch with the peers at the start",
       of_volunteers<&VolunteerReport::step_s>, kClosedForm},
      {"volunteers.parts", "averaged share", small_share, neither,
       "share of the gradients that a peer of each kind averages (adaptive)",
       of_volunteers<&VolunteerReport::parts>, kClosedForm},
      {"volunteers.computing", "computing kinds", word, neither,
       "the kinds of peers that compute (adaptive)", of_volunteers<&VolunteerReport::computing>,
       kClosedForm},
      {"volunteers.calls.tokens_per_s", "tokens/s of trainers", count, higher,
       "throughput of trainers that call experts on peers, at the peers' latency",
       of_calls<&CallsPoint::tokens_per_s>, kClosedForm},
      {"volunteers.calls.single_tokens_per_s", "tokens/s one at a time", count, higher,
       "throughput with one batch in flight", of_calls<&CallsPoint::single_tokens_per_s>,
       kClosedForm},
      {"volunteers.calls.saturating_trainers", "trainers that saturate", whole, neither,
       "with fewer trainers the peers are sometimes idle, even without queues",
       [](const Record& record) -> FigureValue {
         const auto* report = record.studies.find<VolunteerReport>();
         if (report == nullptr || !report->calls) return {};
         return report->saturating_trainers;
       },
       kClosedForm}};
}

// The value, with the interval of a mean over trials.
std::string volunteer_text(const Figure& figure, const Record& record) {
  const FigureValue value = figure.of(record);
  const auto* estimate = std::get_if<Estimate>(&value);
  return estimate != nullptr ? estimate_text(figure.unit, *estimate) : figure.text(record);
}

// This is the throughput at several latencies, after the figures at the peers' own latency.
SummarySection calls_section(const Record& record) {
  SummarySection section{"Trainers that call experts on volunteers", {}};
  add_figures(record, "volunteers.calls", section, volunteer_text);
  section.table.columns = {{"latency", Align::right},
                           {figure("volunteers.calls.tokens_per_s").title, Align::right},
                           {figure("volunteers.calls.single_tokens_per_s").title, Align::right}};
  for (const CallsPoint& point : record.studies.find<VolunteerReport>()->by_latency) {
    section.table.rows.push_back({value_text(Unit::seconds, point.latency_s),
                                  value_text(Unit::count, point.tokens_per_s),
                                  value_text(Unit::count, point.single_tokens_per_s)});
  }
  return section;
}

std::vector<SummarySection> volunteer_sections(const Record& record) {
  const auto& report = *record.studies.find<VolunteerReport>();
  SummarySection section{
      fmt::format("Volunteers on {} stage{}, {} trial{} ({} of the mean)", report.stages,
                  report.stages == 1 ? "" : "s", with_separators(report.trials),
                  report.trials == 1 ? "" : "s", kIntervalTitle),
      {}};
  add_figures(record, "volunteers", section, volunteer_text);
  std::vector<SummarySection> sections = {std::move(section)};
  if (report.calls) sections.push_back(calls_section(record));
  return sections;
}

void add_volunteer_json(const Record& record, Json& part) {
  const auto& report = *record.studies.find<VolunteerReport>();
  if (!report.calls) return;
  part["calls"]["by_latency"] = list_json(report.by_latency, [](const CallsPoint& point) {
    return MEMBERS_JSON(point, latency_s, tokens_per_s, single_tokens_per_s);
  });
}

}  // namespace

ShownStudy shown_volunteers() {
  return {.key = "volunteers",
          .is_in = [](const Record& record) { return record.studies.has<VolunteerReport>(); },
          .figures = volunteer_figures,
          .sections = volunteer_sections,
          .add_json = add_volunteer_json,
          .sweep_columns = {"volunteers.optimum_share", "volunteers.tokens_per_s"}};
}

}  // namespace windtunnel
