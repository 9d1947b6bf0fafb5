#include "report/answer/launch_answer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/text/json_text.hpp"

namespace windtunnel {
namespace {

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

void add_launch(const Launch& launch, Answer& answer) {
  SummarySection section{.title = fmt::format("What {} does not take over", launch.program),
                         .rows = {}};
  if (!launch.why_not_whole.empty()) {
    section.rows.push_back({"without them", launch.why_not_whole});
  }
  if (launch.unsaid.empty() && section.rows.empty()) {
    section.rows.push_back(
        {"nothing", "its configuration is read as the same job, with the same time and memory"});
  } else if (!launch.unsaid.empty()) {
    section.table.columns = {{"key"}, {"planned", Align::left, "", 40}, {"launched"}};
    for (const UnsaidKey& each : launch.unsaid) {
      section.table.rows.push_back({each.key, each.value.empty() ? "-" : each.value,
                                    each.launched.empty() ? "say it elsewhere" : each.launched});
    }
  }
  section.rows.push_back(
      {"yours to add",
       "what this model counts neither time nor memory for: settings of the model such as the base "
       "of rotary "
       "positions, the epsilon of norms and norms of queries and keys; paths of data, learning "
       "rates"});
  answer.sections.push_back(std::move(section));
  answer.document = [&launch, document = std::move(answer.document)] {
    Json whole = document();
    whole["launch"] = launch_json(launch);
    return whole;
  };
}

}  // namespace windtunnel
