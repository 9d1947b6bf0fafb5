#include "report/plan/optimise_tables.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/base/units.hpp"
#include "report/console/console.hpp"
#include "report/figures/figures.hpp"
#include "report/summary/comparison_columns.hpp"

namespace windtunnel {

TextTable ranking_table(const Optimisation& result) {
  std::vector<std::string> keys;
  for (const RankedConfiguration& at : result.best) {
    for (const auto& [key, value] : at.set) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  const bool of_cost = std::ranges::any_of(
      result.best, [](const RankedConfiguration& at) { return at.estimated_usd > 0; });
  const Figure& step_time = figure("iteration.time_s");
  const Figure& memory = figure("iteration.memory_bytes.peak");
  std::vector<const Record*> records;
  for (const RankedConfiguration& at : result.best) {
    if (at.record) records.push_back(&*at.record);
  }
  std::vector<const Figure*> simulated = mfu_columns(records);
  simulated.insert(simulated.begin(), &step_time);
  if (std::ranges::any_of(result.best,
                          [](const auto& at) { return at.record && at.record->campaign; })) {
    simulated.push_back(&figure("campaign.goodput"));
    if (of_cost) simulated.push_back(&figure("campaign.job.cost_usd"));
  }
  TextTable table{
      {{"rank", Align::right}, {"estimate", Align::right}, {memory.title, Align::right}}, {}};
  const Figure& cost = figure("job.cost_usd");
  if (of_cost) table.columns.push_back({cost.title, Align::right});
  for (const Figure* each : simulated) table.columns.push_back({each->title, Align::right});
  for (const std::string& key : keys) table.columns.push_back({key});
  for (size_t i = 0; i < result.best.size(); ++i) {
    const RankedConfiguration& at = result.best[i];
    std::vector<std::string> row = {std::to_string(i + 1),
                                    value_text(step_time.unit, at.estimated_s),
                                    value_text(memory.unit, at.memory_bytes)};
    if (of_cost) row.push_back(value_text(cost.unit, at.estimated_usd));
    for (const Figure* each : simulated) {
      const std::string text = at.record ? each->text(*at.record) : "";
      const bool failed = each == &step_time && !at.failure.empty();
      row.push_back(failed ? "failed" : text.empty() ? "-" : text);
    }
    for (const std::string& key : keys) {
      const auto found =
          std::ranges::find_if(at.set, [&](const auto& each) { return each.first == key; });
      row.push_back(found != at.set.end() ? found->second : "");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

double seconds_per_GiB(const RankedConfiguration& less, const RankedConfiguration& more) {
  return (less.estimated_s - more.estimated_s) /
         ((more.memory_bytes - less.memory_bytes) / kGibibyte);
}

TextTable frontier_table(const Optimisation& result) {
  const Figure& memory = figure("iteration.memory_bytes.peak");
  const Figure& step_time = figure("iteration.time_s");
  TextTable table{{{memory.title, Align::right},
                   {"estimate", Align::right},
                   {"saves", Align::right},
                   {"for", Align::right},
                   {"each GiB", Align::right},
                   {"by"}},
                  {}};
  for (size_t i = result.frontier.size(); i-- > 0;) {
    const RankedConfiguration& at = result.frontier[i];
    std::vector<std::string> row = {value_text(memory.unit, at.memory_bytes),
                                    value_text(step_time.unit, at.estimated_s),
                                    "-",
                                    "-",
                                    "-",
                                    set_text(at.set)};
    if (i + 1 < result.frontier.size()) {
      const RankedConfiguration& above = result.frontier[i + 1];
      row[2] = value_text(memory.unit, above.memory_bytes - at.memory_bytes);
      row[3] = format_seconds(at.estimated_s - above.estimated_s);
      row[4] = format_seconds(seconds_per_GiB(at, above));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace windtunnel
