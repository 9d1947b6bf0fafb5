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
  Json json = MEMBERS_JSON(setting, name, value);
  PUT_MEMBERS(json, setting.where, file, line);
  return json;
}

Json import_document(const ImportedScenario& imported) {
  return {
      {"files", list_json(imported.kinds,
                          [](const auto& each) -> Json {
                            return {{"file", each.first}, {"kind", each.second}};
                          })},
      {"software", imported.software},
      {"read", list_json(imported.read,
                         [](const ReadKey& read) {
                           Json json = MEMBERS_JSON(read, key, value);
                           json["setting"] = setting_json(read.from);
                           return json;
                         })},
      {"assumed", list_json(imported.assumed,
                            [](const AssumedSetting& assumed) {
                              return MEMBERS_JSON(assumed, key, value, why);
                            })},
      {"left_out", list_json(imported.left_out,
                             [](const LeftOut& left) -> Json {
                               return {{"setting", setting_json(left.setting)}, {"why", left.why}};
                             })},
      {"without_effect", list_json(imported.without_effect, setting_json)},
      {"scenario", imported.text}};
}

Json launch_json(const Launch& launch) {
  Json json = MEMBERS_JSON(launch, program, file, text);
  json["unsaid"] = list_json(launch.unsaid, [](const UnsaidKey& each) {
    return MEMBERS_JSON(each, key, value, launched);
  });
  json["why_not_whole"] = launch.why_not_whole;
  return json;
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
