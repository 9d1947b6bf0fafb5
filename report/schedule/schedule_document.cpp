// Writes an analysed schedule as a JSON document; declared in schedule_report.hpp.
#include "report/schedule/schedule_report.hpp"

namespace windtunnel {
namespace {

Json uses_json(const TimeUseSeconds& uses_s) {
  Json object = Json::object();
  for (int i = 0; i < kTimeUses; ++i) {
    object[std::string(to_string(static_cast<TimeUse>(i)))] = uses_s[i];
  }
  return object;
}

Json bubbles_json(const ScheduleAnalysis& analysis) {
  Json object = Json::object();
  for (const BubbleFigure& bubble : analysis.bubbles) {
    object[std::string(bubble.definition)] = {{"bubble_s", bubble.bubble_s},
                                              {"of_ideal", bubble.of_ideal()},
                                              {"of_total", bubble.of_total()}};
  }
  return object;
}

Json rank_json(const ScheduleReport& report, int rank) {
  const ScheduleAnalysis& analysis = report.analysis;
  const auto& actions = report.schedule.actions[rank];
  const RankActivations& memory = analysis.activations[rank];
  Json listed = Json::array();
  for (std::size_t i = 0; i < actions.size(); ++i) {
    Json& action = listed.emplace_back(Json{{"action", to_string(actions[i])}});
    PUT_MEMBERS(action, analysis.spans[rank][i], start_s, end_s);
    action["slack_s"] = analysis.slack_s[rank][i];
  }
  const Json peak_action =
      memory.peak_position < 0 ? Json(nullptr) : Json(to_string(actions[memory.peak_position]));
  return {{"rank", rank},
          {"time_s", uses_json(analysis.time_s[rank])},
          {"step_from_s", analysis.windows[rank].from_s},
          {"peak_activation", memory.peak},
          {"peak_action", peak_action},
          {"peak_at_s", memory.peak_s},
          {"activations", list_json(memory.points,
                                    [](const ActivationPoint& point) -> Json {
                                      return {point.time_s, point.activation};
                                    })},
          {"actions", listed}};
}

Json path_json(const ScheduleReport& report) {
  const CriticalPath& path = report.analysis.path;
  return {{"composition_s", uses_json(path.composition_s)},
          {"messages", path.messages},
          {"steps", list_json(path.steps, [&](const ScheduleStep& step) {
             const Action& action = report.schedule.actions[step.rank][step.position];
             Json entry = {{"rank", step.rank}, {"action", to_string(action)}};
             if (step.receiver >= 0) entry["message_to"] = step.receiver;
             PUT_MEMBERS(entry, step, start_s, end_s);
             return entry;
           })}};
}

Json sensitivity_json(const ScheduleReport& report) {
  const ScheduleSensitivity& sensitivity = report.analysis.sensitivity;
  const SensitivityOptions& options = report.options.sensitivity;
  Json what_if = Json::object();
  for (const WhatIf& effect : sensitivity.what_ifs) {
    what_if[std::string(effect.part)] = {{"at_zero_s", effect.without_s},
                                         {"doubled_s", effect.doubled_s}};
  }
  Json sends = Json::object();
  for (const SendsEffect& effect : sensitivity.sends) {
    sends[std::string(to_string(effect.sends))] =
        effect.step_s ? Json(*effect.step_s) : Json(nullptr);
  }
  Json slow_rank = MEMBERS_JSON(options, slowness);
  PUT_MEMBERS(slow_rank, sensitivity.slow_rank, growth_s, worst);
  Json jitter = {{"sigma", options.jitter}};
  PUT_MEMBERS(jitter, options, draws, seed);
  PUT_MEMBERS(jitter, sensitivity.jitter, mean_s, p95_s);
  return {{"what_if", what_if},
          {"slow_rank", slow_rank},
          {"jitter", jitter},
          {"step_by_sends_s", sends},
          {"step_by_optimizer_s",
           {{"norm", sensitivity.step_with_norm_s},
            {"post_validation", sensitivity.step_post_validated_s}}}};
}

}  // namespace

Json schedule_document(const ScheduleReport& report) {
  const Schedule& schedule = report.schedule;
  Json ranks = Json::array();
  for (int rank = 0; rank < schedule.ranks; ++rank) ranks.push_back(rank_json(report, rank));
  return {{"title", report.title},
          {"notes", report.notes},
          {"schedule",
           {{"name", schedule.name},
            {"ranks", schedule.ranks},
            {"microbatches", schedule.microbatches},
            {"chunks", schedule.chunks / schedule.directions},
            {"replicas", schedule.directions},
            {"slices", schedule.slices},
            {"iterations", schedule.iterations}}},
          {"units",
           {{"time", report.in_seconds ? Json("s") : Json(nullptr)},
            {"activation", report.in_bytes ? Json("bytes") : Json(nullptr)}}},
          {"sends", to_string(report.sends)},
          {"step_s", report.analysis.step_s},
          {"makespan_s", report.analysis.makespan_s},
          {"bubble", bubbles_json(report.analysis)},
          {"critical_path", path_json(report)},
          {"sensitivity", sensitivity_json(report)},
          {"ranks", ranks}};
}

}  // namespace windtunnel
