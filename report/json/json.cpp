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
  for (const char* key : {"per_stage", "allocated_per_stage", "reserved_per_stage"}) {
    memory[key] = Json::array();
  }
  for (const GpuMemory& stage : record.iteration.memory) {
    memory["per_stage"].push_back(stage.total());
    memory["allocated_per_stage"].push_back(stage.allocated());
    memory["reserved_per_stage"].push_back(stage.allocated() + stage.fragmentation);
  }
  if (offload_of(record.job).any()) {
    memory["tiers_per_stage"] = Json::array();
    const auto parts = [](const TierMemory& tier) {
      return Json{{"weights", tier.weights},
                  {"gradients", tier.gradients},
                  {"optimizer", tier.optimizer},
                  {"activations", tier.activations}};
    };
    for (const GpuMemory& stage : record.iteration.memory) {
      memory["tiers_per_stage"].push_back(
          {{"host", parts(stage.host)}, {"disk", parts(stage.disk)}});
    }
  }
  memory["activation_peaks"] = Json::array();
  for (const ActivationPeak& peak : record.activation_peaks) {
    memory["activation_peaks"].push_back(
        {{"rank", peak.rank}, {"task", peak.task}, {"at_s", peak.at_s}, {"bytes", peak.bytes}});
  }
}

Json interval_json(const IntervalReport& report) {
  Json json = {{"tier", report.tier}};
  place_parts(json, interval_figures(), report);
  json["points"] = Json::array();
  for (const IntervalReport::Point& point : report.points) {
    json["points"].push_back({{"every_s", point.every_s},
                              {"expected", point.expected},
                              {"goodput", estimate_json(point.goodput)}});
  }
  return json;
}

Json familiarity_json(const Familiarity& familiarity) {
  Json nearest = Json::array();
  for (const AlikeFamily& family : familiarity.nearest) {
    nearest.push_back(
        {{"name", family.name}, {"rows", family.rows}, {"deviation", family.deviation}});
  }
  return {{"rows", familiarity.rows},           {"nearest", std::move(nearest)},
          {"families", familiarity.families},   {"alike", familiarity.alike},
          {"deviation", familiarity.deviation}, {"unfamiliar", familiarity.unfamiliar}};
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
          {"host_spread",
           {{"shorter", record.iteration.host_spread.shorter},
            {"longer", record.iteration.host_spread.longer}}},
          {"familiarity", familiarity_json(record.iteration.familiarity)},
          {"ranges", ranges}};
}

void place_filling(Json& iteration, const FillingReport& report) {
  Json works = Json::array();
  for (const FilledWork& work : report.work) {
    works.push_back({{"name", work.name},
                     {"unit_s", work.unit_s},
                     {"piece_s", work.piece_s},
                     {"units", work.done},
                     {"exposed_units", work.exposed},
                     {"exposed_s", work.exposed_s},
                     {"left_out", work.left_out}});
  }
  Json ranks = Json::array();
  for (const FilledRank& rank : report.ranks) {
    ranks.push_back({{"idle_s", rank.idle_s},
                     {"filled_s", rank.filled_s},
                     {"short_s", rank.short_s},
                     {"memory_s", rank.memory_s},
                     {"memory_bytes", rank.memory_bytes}});
  }
  iteration["filling"]["work"] = std::move(works);
  iteration["filling"]["ranks"] = std::move(ranks);
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
  return {{"mean", estimate.mean},
          {"low", estimate.low},
          {"high", estimate.high},
          {"p05", estimate.p05},
          {"p95", estimate.p95}};
}

Json parameter_json(const Parameter& parameter) {
  return {{"value", parameter.value},
          {"low", parameter.low},
          {"high", parameter.high},
          {"origin", to_string(parameter.origin)},
          {"source", parameter.source}};
}

Json set_json(const Overrides& set) {
  Json object = Json::object();
  for (const auto& [key, value] : set) object[key] = value;
  return object;
}

Json overrides_json(const Overrides& overrides) {
  Json pairs = Json::array();
  for (const auto& [key, value] : overrides) pairs.push_back({key, value});
  return pairs;
}

Overrides overrides_of(const Json& pairs) {
  Overrides overrides;
  for (const Json& pair : pairs) {
    overrides.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
  }
  return overrides;
}

Json files_json(const std::vector<NamedFile>& files) {
  Json json = Json::array();
  for (const NamedFile& file : files) {
    json.push_back({{"name", file.name},
                    {"hash", file.hash},
                    {"text", file.text && is_utf8(*file.text) ? Json(*file.text) : Json(nullptr)}});
  }
  return json;
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
  Json json = Json::array();
  for (const Note& note : notes) json.push_back({{"key", note.key}, {"text", note_text(note)}});
  return json;
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
    Json scales = Json::array();
    for (const TextScale& scale : form->scales) {
      scales.push_back({{"from", scale.from},
                        {"factor", scale.factor},
                        {"unit", scale.unit},
                        {"decimals", scale.decimals}});
    }
    units[std::string(name)] = {{"scales", scales}, {"times", form->times}, {"zero", form->zero}};
  }
  Json groups = Json::object();
  for (const FigureGroup& group : figure_groups()) groups[std::string(group.key)] = group.title;
  Json all = Json::array();
  for (const Figure& figure : figures()) all.push_back(figure_json(figure));
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
  campaign["tiers"] = Json::array();
  for (const TierReport& tier : record.campaign->tiers) {
    Json json = {{"name", tier.name}};
    place_parts(json, tier_figures(), tier);
    campaign["tiers"].push_back(std::move(json));
  }
  for (const RelaidLayout& layout : record.campaign->relaid) {
    campaign["relayouts"].push_back({{"nodes", layout.nodes},
                                     {"tp", layout.tp},
                                     {"pp", layout.pp},
                                     {"dp", layout.dp},
                                     {"step_s", layout.step_s}});
    if (layout.progress < 1) campaign["relayouts"].back()["batch_share"] = layout.progress;
  }
  const std::optional<IntervalReport>& interval = record.campaign->interval;
  campaign["interval"] = interval ? interval_json(*interval) : Json(nullptr);
  campaign["other_intervals"] = Json::array();
  for (const IntervalReport& other : record.campaign->other_intervals) {
    campaign["other_intervals"].push_back(interval_json(other));
  }
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
  Json document = {{"scenario", record.scenario},
                   {"key", record.key},
                   {"version", record.source.version},
                   {"commit", record.source.commit}};
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
    document["timing"] = {{"wall_s", record.wall_s}, {"peak_rss_bytes", record.peak_rss_bytes}};
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
  Json jobs = Json::array();
  for (const CompanyJob& job : report.jobs) jobs.push_back(job_json(job, with_timing));
  return {{"scenario", report.scenario},  {"key", report.key},
          {"version", program_version()}, {"commit", program_commit()},
          {"nodes", report.nodes},        {"placement", name_of(report.placement)},
          {"starts", report.starts},      {"jobs", jobs}};
}

}  // namespace windtunnel
