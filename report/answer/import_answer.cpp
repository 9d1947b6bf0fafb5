#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "report/answer/command_answers.hpp"
#include "report/text/json_text.hpp"
#include "scenarios/language/imports/import.hpp"
#include "scenarios/language/imports/launch.hpp"

namespace windtunnel {
namespace {

std::string place_text(const Location& where) {
  const std::string file = std::filesystem::path(where.file).filename();
  return where.line == 0 ? file : fmt::format("{}:{}", file, where.line);
}

SummarySection read_section(const ImportedScenario& imported) {
  SummarySection section{.title = "Read", .rows = {}};
  section.table.columns = {{"key"}, {"value", Align::left, "", 40}, {"setting"}, {"from"}};
  for (const ReadKey& read : imported.read) {
    section.table.rows.push_back(
        {read.key, read.value, read.from.name, place_text(read.from.where)});
  }
  return section;
}

SummarySection assumed_section(const ImportedScenario& imported) {
  SummarySection section{.title = "Assumed, because no setting states it", .rows = {}};
  section.table = titled_table("key | value | why");
  for (const AssumedSetting& assumed : imported.assumed) {
    section.table.rows.push_back({assumed.key, assumed.value, assumed.why});
  }
  return section;
}

SummarySection left_out_section(const ImportedScenario& imported) {
  SummarySection section{.title = "Settings left out that may matter", .rows = {}};
  section.table.columns = {{"setting"}, {"value", Align::left, "", 24}, {"from"}, {"why"}};
  for (const LeftOut& left : imported.left_out) {
    section.table.rows.push_back(
        {left.setting.name, left.setting.value, place_text(left.setting.where),
         left.meant.empty() ? left.why : fmt::format("{}; {}", left.why, left.question())});
  }
  return section;
}

Json setting_json(const Setting& setting) {
  return {{"name", setting.name},
          {"value", setting.value},
          {"file", setting.where.file},
          {"line", setting.where.line}};
}

Json import_document(const ImportedScenario& imported) {
  Json document = {{"files", Json::array()},    {"software", imported.software},
                   {"read", Json::array()},     {"assumed", Json::array()},
                   {"left_out", Json::array()}, {"without_effect", Json::array()},
                   {"scenario", imported.text}};
  for (const auto& [path, kind] : imported.kinds) {
    document["files"].push_back({{"file", path}, {"kind", kind}});
  }
  for (const ReadKey& read : imported.read) {
    document["read"].push_back(
        {{"key", read.key}, {"value", read.value}, {"setting", setting_json(read.from)}});
  }
  for (const AssumedSetting& assumed : imported.assumed) {
    document["assumed"].push_back(
        {{"key", assumed.key}, {"value", assumed.value}, {"why", assumed.why}});
  }
  for (const LeftOut& left : imported.left_out) {
    document["left_out"].push_back(
        {{"setting", setting_json(left.setting)}, {"why", left.why}, {"meant", left.meant}});
  }
  for (const Setting& setting : imported.without_effect) {
    document["without_effect"].push_back(setting_json(setting));
  }
  return document;
}

Json launch_json(const Launch& launch) {
  Json unsaid = Json::array();
  for (const UnsaidKey& each : launch.unsaid) {
    unsaid.push_back({{"key", each.key}, {"value", each.value}, {"launched", each.launched}});
  }
  return {{"program", launch.program},
          {"file", launch.file},
          {"text", launch.text},
          {"unsaid", unsaid},
          {"why_not_whole", launch.why_not_whole}};
}

}  // namespace

Answer import_answer(const ImportedScenario& imported) {
  Answer answer;
  answer.kind = "import";
  answer.title = "Imported";
  for (const auto& [path, kind] : imported.kinds) {
    answer.figures.push_back({"file", path, kind});
  }
  answer.figures.push_back(
      {"software", imported.software.empty() ? "not said" : imported.software});
  answer.figures.push_back({"settings read", fmt::to_string(imported.read.size())});
  answer.figures.push_back(
      {"without effect", fmt::to_string(imported.without_effect.size()), "on time and memory"});
  answer.sections.push_back(
      {.title = "", .rows = {}, .where = ShownOn::console, .with_figures = true});
  answer.sections.push_back(read_section(imported));
  if (!imported.assumed.empty()) answer.sections.push_back(assumed_section(imported));
  if (!imported.left_out.empty()) answer.sections.push_back(left_out_section(imported));
  answer.document = [&imported] { return import_document(imported); };
  return answer;
}

void add_launch(const Launch& launch, Answer& answer) {
  SummarySection section{
      .title = fmt::format("What the configuration of {} does not express", launch.program),
      .rows = {}};
  if (!launch.why_not_whole.empty()) {
    section.rows.push_back({"without them", launch.why_not_whole});
  }
  if (launch.unsaid.empty() && section.rows.empty()) {
    section.rows.push_back(
        {"nothing",
         "when read back, its configuration gives the same job, with the same time and memory"});
  } else if (!launch.unsaid.empty()) {
    section.table.columns = {{"key"}, {"planned", Align::left, "", 40}, {"launched"}};
    for (const UnsaidKey& each : launch.unsaid) {
      section.table.rows.push_back(
          {each.key, each.value.empty() ? "-" : each.value,
           each.launched.empty() ? "set it by other means" : each.launched});
    }
  }
  section.rows.push_back(
      {"yours to add",
       "settings that change neither time nor memory here: those of the model, such "
       "as the base of rotary positions, the epsilon of norms and norms of "
       "queries and keys; also paths of data, learning rates, and where and how often it saves"});
  answer.sections.push_back(std::move(section));
  answer.document = [&launch, document = std::move(answer.document)] {
    Json whole = document();
    whole["launch"] = launch_json(launch);
    return whole;
  };
}

}  // namespace windtunnel
