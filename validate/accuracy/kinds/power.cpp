// Compares measured watts of training nodes with the power of a scenario's step
// (models/power/power_report.hpp).
#include <cmath>

#include "models/power/power_report.hpp"
#include "scenarios/language/library/facts/power_watts.hpp"
#include "validate/accuracy/kinds/kinds.hpp"

namespace windtunnel {
namespace {

struct WattsRow {
  std::string id, source, system, gpu_type, workload, model, quantity, unit, note;
  std::size_t table_row = 0;
  int gpus = 0;
  double value_W = 0;
  std::optional<double> rated_W;  // of the node
};

constexpr auto kUnits = std::to_array<std::string_view>({"W"});

constexpr auto kWattsColumns = std::to_array<RowField<WattsRow>>({
    {"source", &WattsRow::source, Needs::cell},
    {"system", &WattsRow::system, Needs::column},
    {"gpus", &WattsRow::gpus, Needs::cell, "", 1e6},
    {"gpu_type", &WattsRow::gpu_type, Needs::cell},
    {"workload", &WattsRow::workload, Needs::column},
    {"model", &WattsRow::model},
    {"quantity", &WattsRow::quantity, Needs::cell},
    {"value", &WattsRow::value_W, Needs::cell, "W", 1e9},
    {"unit", &WattsRow::unit, Needs::cell, "", 0, {}, 1, kUnits},
    {"rated_W", &WattsRow::rated_W, Needs::column, "W", 1e9},
    {"note", &WattsRow::note},
});

// The watts of a node in the report.
double watts_of(const PowerReport& report, bool peak) {
  return peak ? report.node.peak_W : report.node.mean_W;
}

std::vector<PredictedRow> predict_watts(const WattsRow& row) {
  if (!contains_text(row.quantity, "node power")) {
    throw Error(fmt::format("'{}': only the power of a node is predicted", row.quantity));
  }
  std::vector<std::string> assumed = {
      "FSDP, two sequences of 4,096 tokens on a GPU, full recomputation"};
  const std::string model = row.model.empty() ? "llama2-13b" : model_named(row.model).name;
  if (row.model.empty()) assumed.push_back("the model: " + model);
  const GpuName& gpu = gpu_named(row.gpu_type, false);
  const std::string text = fmt::format(
      "name: power\nmodel: {}\ncluster: {{nodes: 1, node: {{base: {}, gpus: {}}}, power: "
      "{{}}}}\nlayout: {{sharding: zero3}}\nbatch: {{global: {}, micro: 2, sequence: 4096}}\n"
      "precision: bf16\nrecompute: full\ncommunication: {{overlap: bucketed}}\n",
      model, gpu.node, row.gpus, 2 * row.gpus);
  const PowerReport report = *simulate_row(text).studies.find<PowerReport>();
  const bool peak = contains_text(row.quantity, "maximum");
  const double watts = watts_of(report, peak);
  // The ends of uncertain numbers are those of 90 % intervals. The numbers are independent, so
  // their effects add in quadrature.
  double below = 0;
  double above = 0;
  for (std::size_t i = 0; i < report.at_low.size(); ++i) {
    const double low = watts_of(report.at_low[i], peak) - watts;
    const double high = watts_of(report.at_high[i], peak) - watts;
    below = std::hypot(below, std::min({0.0, low, high}));
    above = std::hypot(above, std::max({0.0, low, high}));
  }
  PredictedRow figure =
      figure_of(row, row.system, peak ? "peak_W" : "mean_W", row.value_W, watts, row.workload);
  figure.row.low = watts - below;
  figure.row.high = watts + above;
  if (row.rated_W) figure.row.baselines = {{"rated watts", *row.rated_W}};
  figure.assumed = assumed;
  return {figure};
}

}  // namespace

MeasuredKind power_kind() {
  return {"power",
          "watts of nodes",
          "compare the power of nodes while they train",
          {"gpu_type", "workload", "quantity", "value", "rated_W"},
          "gpus==8",
          [](const KindOptions& options) {
            return judge_files<WattsRow>(options, kWattsColumns, predict_watts, watts_fitted_on());
          }};
}

}  // namespace windtunnel
