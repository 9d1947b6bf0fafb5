#include "report/json/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "models/base/version.hpp"
#include "models/calibration/prediction_error.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/results/filling_report.hpp"
#include "report/figures/model_range.hpp"
#include "report/json/model_json.hpp"
#include "report/summary/notes.hpp"

namespace windtunnel {
namespace {

// A value in a document; a number that is not finite is null.
struct AsJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(double number) const { return std::isfinite(number) ? Json(number) : Json(); }
  Json operator()(bool yes) const { return yes; }
  Json operator()(const std::string& word) const { return word; }
  Json operator()(const Estimate& estimate) const { return estimate_json(estimate); }
  Json operator()(const std::map<std::string, Estimate>& parts) const {
    Json object = Json::object();
    for (const auto& [name, estimate] : parts) object[name] = estimate_json(estimate);
    return object;
  }
};

template <class Part>
void place_parts(Json& object, std::span<const PartFigure<Part>> figures, const Part& part) {
  for (const PartFigure<Part>& figure : figures) object[figure.key] = part.*figure.member;
}

// Adds each rank's memory, and the time and cause of its peak of activations.
void place_memory(Json& memory, const Record& record) {
  const std::vector<GpuMemory>& stages = record.iteration.memory;
  memory["per_stage"] = list_json(stages, [](const GpuMemory& stage) { return stage.total(); });
  memory["allocated_per_stage"] =
      list_json(stages, [](const GpuMemory& stage) { return stage.allocated(); });
  memory["reserved_per_stage"] = list_json(
      stages, [](const GpuMemory& stage) { return stage.allocated() + stage.fragmentation; });
  if (offload_of(record.job).any()) {
    const auto parts = [](const TierMemory& tier) {
      return MEMBERS_JSON(tier, weights, gradients, optimizer, activations);
    };
    memory["tiers_per_stage"] = list_json(stages, [&](const GpuMemory& stage) -> Json {
      return {{"host", parts(stage.host)}, {"disk", parts(stage.disk)}};
    });
  }
  memory["activation_peaks"] = list_json(record.activation_peaks, [](const ActivationPeak& peak) {
    return MEMBERS_JSON(peak, rank, task, at_s, bytes);
  });
}

Json interval_json(const IntervalReport& report) {
  Json json = {{"tier", report.tier}};
  place_parts(json, interval_figures(), report);
  json["points"] = list_json(report.points, [](const IntervalReport::Point& point) {
    Json each = MEMBERS_JSON(point, every_s, expected);
    each["goodput"] = estimate_json(point.goodput);
    return each;
  });
  return json;
}

Json familiarity_json(const Familiarity& familiarity) {
  Json json = {{"rows", familiarity.rows}};
  json["nearest"] = list_json(familiarity.nearest, [](const AlikeFamily& family) {
    return MEMBERS_JSON(family, name, rows, deviation);
  });
  PUT_MEMBERS(json, familiarity, families, alike, deviation, unfamiliar);
  return json;
}

// 95 % ranges from the cost models' error; estimates already have the intervals over trials.
Json model_error_json(const Record& record) {
  Json ranges = Json::object();
  for (const Figure& figure : figures()) {
    const std::optional<FigureRange> range = model_range(figure, record);
    if (range) ranges[figure.key] = {{"low", range->low}, {"high", range->high}};
  }
  const Calibration& calibration = record.job.calibration;
  return {{"calibration", calibration.name},
          {"step_error", parameter_json(record.iteration.error)},
          {"covered", kReportedShare},
          {"host_spread", MEMBERS_JSON(record.iteration.host_spread, shorter, longer)},
          {"familiarity", familiarity_json(record.iteration.familiarity)},
          {"ranges", ranges}};
}

void place_filling(Json& iteration, const FillingReport& report) {
  iteration["filling"]["work"] = list_json(report.work, [](const FilledWork& work) {
    Json json = MEMBERS_JSON(work, name, unit_s, piece_s);
    json["units"] = work.done;
    json["exposed_units"] = work.exposed;
    PUT_MEMBERS(json, work, exposed_s, left_out);
    return json;
  });
  iteration["filling"]["ranks"] = list_json(report.ranks, [](const FilledRank& rank) {
    return MEMBERS_JSON(rank, idle_s, filled_s, short_s, memory_s, memory_bytes);
  });
}

// JSON text must be UTF-8; a writer replaces everything else.
bool is_utf8(const std::string& text) {
  try {
    Json(text).dump();
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

Json job_json(const CompanyJob& job, bool with_timing) {
  const Job& of = job.alone.job;
  Json places = Json::array();
  for (int node = 0; node < of.cluster.nodes; ++node) places.push_back(of.cluster.place_of(node));
  return {{"scenario", job.alone.scenario},
          {"file", job.alone.source.file},
          {"nodes", places},
          {"step_s",
           {{"alone", job.alone_s()},
            {"together", job.together_s()},
            {"low", job.alone_s() * job.least_slowdown},
            {"high", job.alone_s() * job.most_slowdown}}},
          {"slowdown",
           {{"mean", job.slowdown}, {"low", job.least_slowdown}, {"high", job.most_slowdown}}},
          {"tokens_per_s",
           {{"alone", tokens_per_step(of) / job.alone_s()},
            {"together", tokens_per_step(of) / job.together_s()}}},
          {"steps", job.steps},
          {"alone", run_document(job.alone, with_timing)}};
}

}  // namespace

void place_figures(Json& document, const Record& record, std::string_view part) {
  for (const Figure& figure : figures()) {
    if (!figure.key.starts_with(part)) continue;
    const FigureValue value = figure.of(record);
    if (std::holds_alternative<std::monostate>(value)) continue;
    Json* at = &document;
    for (size_t from = 0; from < figure.key.size();) {
      const size_t dot = std::min(figure.key.find('.', from), figure.key.size());
      at = &(*at)[figure.key.substr(from, dot - from)];
      from = dot + 1;
    }
    *at = std::visit(AsJson{}, value);
  }
}

Json estimate_json(const Estimate& estimate) {
  if (!std::isfinite(estimate.mean)) return nullptr;
  return MEMBERS_JSON(estimate, mean, low, high, p05, p95);
}

Json parameter_json(const Parameter& parameter) {
  Json json = MEMBERS_JSON(parameter, value, low, high);
  json["origin"] = to_string(parameter.origin);
  json["source"] = parameter.source;
  return json;
}

Json set_json(const Overrides& set) {
  Json object = Json::object();
  for (const auto& [key, value] : set) object[key] = value;
  return object;
}

Json overrides_json(const Overrides& overrides) {
  return list_json(overrides, [](const auto& each) -> Json { return {each.first, each.second}; });
}

Overrides overrides_of(const Json& pairs) {
  Overrides overrides;
  for (const Json& pair : pairs) {
    overrides.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
  }
  return overrides;
}

Json files_json(const std::vector<NamedFile>& files) {
  return list_json(files, [](const NamedFile& file) -> Json {
    return {{"name", file.name},
            {"hash", file.hash},
            {"text", file.text && is_utf8(*file.text) ? Json(*file.text) : Json(nullptr)}};
  });
}

std::vector<NamedFile> files_of(const Json& json) {
  std::vector<NamedFile> files;
  for (const Json& each : json) {
    NamedFile& file = files.emplace_back(NamedFile{.name = each.at("name").get<std::string>()});
    file.hash = each.at("hash").get<std::string>();
    if (!each.at("text").is_null()) file.text = each.at("text").get<std::string>();
  }
  return files;
}

Json notes_json(const std::vector<Note>& notes) {
  return list_json(notes, [](const Note& note) -> Json {
    return {{"key", note.key}, {"text", note_text(note)}};
  });
}

Json source_json(const RecordSource& source) {
  return {{"version", source.version},
          {"commit", source.commit},
          {"file", source.file},
          {"scenario", source.text},
          {"set", overrides_json(source.set)},
          {"files", files_json(source.files)},
          {"allow_oom", source.allow_oom}};
}

RecordSource source_of(const Json& json) {
  return {json.at("version"),
          json.at("commit"),
          json.at("file"),
          json.at("scenario"),
          overrides_of(json.at("set")),
          files_of(json.value("files", Json::array())),
          json.value("allow_oom", false)};
}

Json figure_json(const Figure& figure) {
  return {{"key", figure.key},
          {"title", figure.title},
          {"unit", unit_form(figure.unit).name},
          {"better", to_string(figure.better)},
          {"help", figure.help},
          {"origin", figure.origin}};
}

Json presentation_json() {
  Json units = Json::object();
  for (int i = 0; i <= static_cast<int>(Unit::word); ++i) {
    const auto& [name, form, base] = unit_form(static_cast<Unit>(i));
    Json& unit = units[std::string(name)];
    unit["scales"] = list_json(form->scales, [](const TextScale& scale) {
      return MEMBERS_JSON(scale, from, factor, unit, decimals);
    });
    PUT_MEMBERS(unit, *form, times, zero);
  }
  Json groups = Json::object();
  for (const FigureGroup& group : figure_groups()) groups[std::string(group.key)] = group.title;
  Json all = list_json(figures(), figure_json);
  for (const PartFigure<IntervalReport>& part : interval_figures()) {
    all.push_back(figure_json({fmt::format("campaign.interval.{}", part.key),
                               part.title,
                               part.unit,
                               part.better,
                               part.help,
                               {},
                               part.origin}));
  }
  return {{"units", units},
          {"range", range_pattern()},
          {"estimate", estimate_pattern()},
          {"interval", kIntervalTitle},
          {"shown_share", kShownShare},
          {"groups", groups},
          {"figures", all}};
}

Json campaign_json(const Record& record) {
  if (!record.campaign) return nullptr;
  Json document;
  place_figures(document, record, "campaign.");
  Json& campaign = document["campaign"];
  campaign["tiers"] = list_json(record.campaign->tiers, [](const TierReport& tier) {
    Json json = {{"name", tier.name}};
    place_parts(json, tier_figures(), tier);
    return json;
  });
  for (const RelaidLayout& layout : record.campaign->relaid) {
    campaign["relayouts"].push_back(MEMBERS_JSON(layout, nodes, tp, pp, dp, step_s));
    if (layout.progress < 1) campaign["relayouts"].back()["batch_share"] = layout.progress;
  }
  const std::optional<IntervalReport>& interval = record.campaign->interval;
  campaign["interval"] = interval ? interval_json(*interval) : Json(nullptr);
  campaign["other_intervals"] = list_json(record.campaign->other_intervals, interval_json);
  return std::move(campaign);
}

void place_studies(Json& document, const Record& record, StudyRole role) {
  for (const ShownStudy& study : shown_studies(role)) {
    if (!study.is_in(record)) continue;
    place_figures(document, record, fmt::format("{}.", study.key));
    if (study.add_json != nullptr) study.add_json(record, document[std::string(study.key)]);
  }
}

Json run_document(const Record& record, bool with_timing) {
  Json document = MEMBERS_JSON(record, scenario, key);
  PUT_MEMBERS(document, record.source, version, commit);
  place_figures(document, record, "iteration.");
  // How causal attention counts; mfu_causal counts half.
  document["iteration"]["mfu_counts"] = "full";
  place_memory(document["iteration"]["memory_bytes"], record);
  if (record.iteration.filling) place_filling(document["iteration"], *record.iteration.filling);
  document["campaign"] = campaign_json(record);
  place_studies(document, record, StudyRole::beside);
  place_figures(document, record, "origin.");
  document["model_error"] = model_error_json(record);
  document["engine"] = {{"events", record.timeline.events},
                        {"ranks_simulated", record.timeline.ranks_simulated},
                        {"ranks", record.ranks}};
  place_figures(document, record, "job.");
  place_studies(document, record, StudyRole::leading);
  document["model"] = model_json(record.job);
  document["notes"] = notes_json(record.notes);
  if (with_timing) {
    document["timing"] = MEMBERS_JSON(record, wall_s, peak_rss_bytes);
  }
  return document;
}

Json compare_document(const Comparison& comparison, bool with_timing) {
  Json points = Json::array();
  Json infeasible = Json::array();
  for (const ComparedPoint& point : comparison.points) {
    if (point.record) {
      points.push_back(
          {{"set", set_json(point.set)}, {"result", run_document(*point.record, with_timing)}});
    } else {
      infeasible.push_back({{"set", set_json(point.set)}, {"reason", point.reason}});
    }
  }
  return {{"points", points}, {"infeasible", infeasible}};
}

Json company_document(const CompanyReport& report, bool with_timing) {
  return {{"scenario", report.scenario},
          {"key", report.key},
          {"version", program_version()},
          {"commit", program_commit()},
          {"nodes", report.nodes},
          {"placement", name_of(report.placement)},
          {"starts", report.starts},
          {"jobs", list_json(report.jobs,
                             [&](const CompanyJob& job) { return job_json(job, with_timing); })}};
}

}  // namespace windtunnel
