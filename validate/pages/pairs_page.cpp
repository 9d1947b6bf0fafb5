#include "validate/pages/pairs_page.hpp"

#include <fmt/format.h>

#include "models/base/units.hpp"
#include "report/answer/answer_page.hpp"
#include "report/answer/charts.hpp"
#include "validate/documents/pair_validation.hpp"

namespace windtunnel {
namespace {

constexpr size_t kDrawnSeries = 60;

// Omits series at sizes that were fitted on.
Json spread_chart(const PairSpread& spread) {
  RangeChart chart{.title = "Bus bandwidth over pairs of nodes: measured, and simulated",
                   .note =
                       "Line: median of the measured pairs, from the 10 % to the 90 % quantile. "
                       "Marks: the same three of simulated pairs. Sizes not fitted on.",
                   .axis = {"bus bandwidth (GB/s)", Unit::count},
                   .items = {}};
  for (const PairSpreadMachine& machine : spread.machines) {
    for (const PairSeriesSpread& series : machine.series) {
      if (series.fitted || chart.items.size() == kDrawnSeries) continue;
      const auto& [low, median, high] = series.measured_Bps;
      chart.items.push_back({.name = series_name(series),
                             .value = {.mean = median / 1e9, .low = low / 1e9, .high = high / 1e9},
                             .group = machine.name,
                             .tip = counted(static_cast<double>(series.pairs), "pair"),
                             .best = false,
                             .marks = {{"simulated 10 %", series.simulated_Bps[0] / 1e9},
                                       {"simulated median", series.simulated_Bps[1] / 1e9},
                                       {"simulated 90 %", series.simulated_Bps[2] / 1e9}}});
    }
  }
  return chart_json(chart);
}

std::vector<SummaryRow> spread_figures(const PairSpread& spread) {
  SpreadCounts counts;
  for (const PairSpreadMachine& machine : spread.machines) add_counts(machine, counts);
  const auto share = [&](int series) { return fmt::format("{} of {}", series, counts.judged); };
  return {{"within 10 %", share(counts.good), "series, all three quantiles"},
          {"with equal pairs", share(counts.uniform), "what a simpler rule gets"},
          {"worst", format_percent(counts.worst), "of a quantile"}};
}

}  // namespace

std::string pairs_page(const PairSpread& spread, const std::string& command) {
  Answer answer{.title = "Predicted against measured: pairs of nodes",
                .subtitle = command,
                .figures = spread_figures(spread),
                .sections = {chart_section([&spread] { return spread_chart(spread); })}};
  for (const PairSpreadMachine& machine : spread.machines) {
    answer.sections.push_back(
        {fmt::format("Bus bandwidth of {}, GB/s", machine.name),
         {{"what differs", variation_text(machine)}, {"judged", spread_verdict(machine)}},
         spread_table(machine)});
  }
  return answer_page(answer);
}

}  // namespace windtunnel
