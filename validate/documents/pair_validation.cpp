#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/base/units.hpp"
#include "report/figures/figure_text.hpp"
#include "validate/documents/form_document.hpp"
#include "validate/documents/kind_documents.hpp"
#include "validate/documents/validation.hpp"

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

// Sizes are in binary units, because nccl-tests steps by powers of two.
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

// Lists the causes of differences between the pairs of a machine.
Document variation_document(const PairSpreadMachine& machine) {
  const PairVariation& found = machine.variation;
  const NicVariation& nics = found.shared_nics;
  std::vector<std::string> leaves;
  if (found.uplinks > 0) {  // otherwise all nodes are on one leaf
    for (const auto& nodes : leaves_of(machine)) {
      leaves.push_back(fmt::format("{}", fmt::join(nodes, " ")));
    }
  }
  return {"variation",
          {{"machine", machine.name},
           {"nodes", std::to_string(machine.nodes.size())},
           {"leaves", fmt::format("{}", fmt::join(leaves, " | "))},
           {"uplinks", std::to_string(found.uplinks)},
           {"uplink_nics", fmt::format("{:.2f}", found.uplink_nics)},
           {"uplink_growth", growth_text(found.uplink_growth)},
           {"shared", nics.slow_share == 0 ? "" : fmt::format("{:.1f}", nics.slow_share * 100)},
           {"share", fmt::format("{:.2f}", nics.slow_factor)},
           {"sigma", fmt::format("{:.2g}", nics.slow_sigma)},
           {"growth", growth_text(found.nic_growth[0])},
           {"several", fmt::format("{:.2f}", found.felt_excess[1])},
           {"several_growth", growth_text(found.nic_growth[1])}}};
}

Document verdict_document(const PairSpreadMachine& machine) {
  SpreadCounts counts;
  add_counts(machine, counts);
  return {"spread_verdict",
          {{"judged", std::to_string(counts.judged)},
           {"good", std::to_string(counts.good)},
           {"uniform", std::to_string(counts.uniform)}}};
}

}  // namespace

std::string variation_text(const PairSpreadMachine& machine) {
  return console_text(variation_document(machine));
}

TextTable spread_table(const PairSpreadMachine& machine) {
  TextTable table = titled_table(
      "collective | GPUs per node > | size > | pairs > | p10 > | p50 > | p90 > | "
      "simulated p10 > | p50 > | p90 > | error > | equal pairs > | ");
  for (const PairSeriesSpread& series : machine.series) table.rows.push_back(spread_cells(series));
  return table;
}

std::string spread_verdict(const PairSpreadMachine& machine) {
  return console_text(verdict_document(machine));
}

void add_counts(const PairSpreadMachine& machine, SpreadCounts& counts) {
  for (const PairSeriesSpread& series : machine.series) {
    if (series.fitted) continue;
    ++counts.judged;
    counts.good += series.error() <= kGood ? 1 : 0;
    counts.uniform += series.uniform_error() <= kGood ? 1 : 0;
    counts.worst = std::max(counts.worst, series.error());
  }
}

std::string series_name(const PairSeriesSpread& series) {
  return fmt::format("{}, {} per node, {}", to_string(series.kind),
                     counted(series.gpus_per_node, "GPU"), size_text(series.bytes));
}

Document pairs_document(const PairSpread& spread) {
  std::vector<Document> machines;
  for (const PairSpreadMachine& machine : spread.machines) {
    Document& document = machines.emplace_back(variation_document(machine));
    document["series"] = spread_table(machine);
    document.parts.merge(verdict_document(machine).parts);
  }
  TextTable not_used = titled_table("row | reason");
  for (const SkippedRow& row : spread.skipped) not_used.rows.push_back({row.id, row.reason});
  return {"pairs", {{"machines", std::move(machines)}, {"not_used", std::move(not_used)}}};
}

Json pairs_json(const PairSpread& spread) {
  Json machines = Json::array();
  for (const PairSpreadMachine& machine : spread.machines) {
    machines.push_back(machine_json(machine));
  }
  return {{"machines", std::move(machines)}, {"skipped", skipped_json(spread.skipped)}};
}

}  // namespace windtunnel
