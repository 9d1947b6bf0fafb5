#include "report/validation/pair_validation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/units.hpp"
#include "report/figures/figure_text.hpp"
#include "report/text/table.hpp"
#include "report/validation/validation.hpp"

namespace windtunnel {
namespace {

constexpr double kGood = 0.1;

std::vector<std::vector<std::string>> leaves_of(const PairSpreadMachine& machine) {
  std::vector<std::vector<std::string>> leaves(machine.variation.leaves);
  for (size_t i = 0; i < machine.nodes.size(); ++i) {
    leaves[machine.variation.leaf[i]].push_back(machine.nodes[i]);
  }
  return leaves;
}

std::string growth_text(const ContentionGrowth& growth) {
  return fmt::format("{:.2g} per GiB beyond 512 MiB (sigma {:.2g})", growth.median * kGibibyte,
                     growth.sigma);
}

// In binary units, which is how the tool steps.
std::string size_text(double bytes) {
  return bytes < kGibibyte ? fmt::format("{:g} MiB", bytes / kMebibyte)
                           : fmt::format("{:g} GiB", bytes / kGibibyte);
}

std::vector<std::string> spread_cells(const PairSeriesSpread& series) {
  std::vector<std::string> cells = {to_string(series.kind), std::to_string(series.gpus_per_node),
                                    size_text(series.bytes), std::to_string(series.pairs)};
  for (const auto* values : {&series.measured_Bps, &series.simulated_Bps}) {
    for (const double value : *values) cells.push_back(fmt::format("{:.2f}", value / 1e9));
  }
  cells.push_back(fmt::format("{:.1f}%", series.error() * 100));
  cells.push_back(fmt::format("{:.0f}%", series.uniform_error() * 100));
  cells.emplace_back(series.fitted ? "fitted" : "");
  return cells;
}

Json growth_json(const ContentionGrowth& growth) {
  return {{"per_byte", growth.median}, {"sigma", growth.sigma}};
}

Json series_json(const PairSeriesSpread& series) {
  return {{"collective", to_string(series.kind)},
          {"gpus_per_node", series.gpus_per_node},
          {"bytes", series.bytes},
          {"pairs", series.pairs},
          {"fitted", series.fitted},
          {"measured_Bps", series.measured_Bps},
          {"simulated_Bps", series.simulated_Bps},
          {"uniform_Bps", series.uniform_Bps},
          {"error", series.error()},
          {"uniform_error", series.uniform_error()}};
}

Json machine_json(const PairSpreadMachine& machine) {
  const PairVariation& found = machine.variation;
  Json series = Json::array();
  for (const PairSeriesSpread& one : machine.series) series.push_back(series_json(one));
  return {{"name", machine.name},
          {"leaves", leaves_of(machine)},
          {"uplinks",
           {{"count", found.uplinks},
            {"nics", found.uplink_nics},
            {"growth", growth_json(found.uplink_growth)}}},
          {"shared_nics",
           {{"probability", found.shared_nics.slow_share},
            {"factor", found.shared_nics.slow_factor},
            {"sigma", found.shared_nics.slow_sigma},
            {"growth", growth_json(found.nic_growth[0])},
            {"several_excess", found.felt_excess[1]},
            {"several_growth", growth_json(found.nic_growth[1])}}},
          {"series", std::move(series)}};
}

}  // namespace

std::string variation_text(const PairSpreadMachine& machine) {
  const PairVariation& found = machine.variation;
  std::string text = fmt::format("{}: {} nodes\n", machine.name, machine.nodes.size());
  if (found.uplinks == 0) {
    text += "  one leaf: no pair of whole nodes is slow\n";
  } else {
    std::vector<std::string> leaves;
    for (const auto& nodes : leaves_of(machine)) {
      leaves.push_back(fmt::format("{}", fmt::join(nodes, " ")));
    }
    text += fmt::format("  leaves: {}\n", fmt::join(leaves, " | "));
    text += fmt::format(
        "  between them {} uplinks of {:.2f} NICs each, by hash; lost time grows by {}\n",
        found.uplinks, found.uplink_nics, growth_text(found.uplink_growth));
  }
  const NicVariation& nics = found.shared_nics;
  if (nics.slow_share == 0) {
    return text + "  jobs that leave GPUs of their nodes to others are not slowed\n";
  }
  return text + fmt::format(
                    "  jobs that leave GPUs of their nodes to others find a NIC shared with "
                    "probability {:.1f} %:\n"
                    "    it gives them {:.2f} of its bandwidth (sigma {:.2g}); lost time grows by "
                    "{}\n"
                    "    all-to-alls over several NICs lose {:.2f} of that; growing by {}\n",
                    nics.slow_share * 100, nics.slow_factor, nics.slow_sigma,
                    growth_text(found.nic_growth[0]), found.felt_excess[1],
                    growth_text(found.nic_growth[1]));
}

TextTable spread_table(const PairSpreadMachine& machine) {
  TextTable table{{{"collective"},
                   {"GPUs per node", Align::right},
                   {"size", Align::right},
                   {"pairs", Align::right},
                   {"p10", Align::right},
                   {"p50", Align::right},
                   {"p90", Align::right},
                   {"simulated p10", Align::right},
                   {"p50", Align::right},
                   {"p90", Align::right},
                   {"error", Align::right},
                   {"equal pairs", Align::right},
                   {""}},
                  {}};
  for (const PairSeriesSpread& series : machine.series) table.rows.push_back(spread_cells(series));
  return table;
}

std::string spread_verdict(const PairSpreadMachine& machine) {
  int judged = 0;
  int good = 0;
  int uniform = 0;
  for (const PairSeriesSpread& series : machine.series) {
    if (series.fitted) continue;
    ++judged;
    good += series.error() <= kGood ? 1 : 0;
    uniform += series.uniform_error() <= kGood ? 1 : 0;
  }
  return fmt::format(
      "  {} of {} series at sizes not fitted on have all three quantiles within 10 %; with equal "
      "pairs {}\n",
      good, judged, uniform);
}

std::string series_name(const PairSeriesSpread& series) {
  return fmt::format("{}, {} per node, {}", to_string(series.kind),
                     counted(series.gpus_per_node, "GPU"), size_text(series.bytes));
}

std::string pairs_text(const PairSpread& spread, std::size_t width) {
  std::string text = "Bus bandwidth over node pairs, GB/s\n";
  for (const PairSpreadMachine& machine : spread.machines) {
    text += "\n" + variation_text(machine) + table_text(spread_table(machine), width) +
            spread_verdict(machine);
  }
  for (const SkippedRow& row : spread.skipped) {
    text += fmt::format("not used: {}: {}\n", row.id, row.reason);
  }
  return text;
}

Json pairs_document(const PairSpread& spread) {
  Json machines = Json::array();
  for (const PairSpreadMachine& machine : spread.machines) {
    machines.push_back(machine_json(machine));
  }
  return {{"machines", std::move(machines)}, {"skipped", skipped_document(spread.skipped)}};
}

}  // namespace windtunnel
