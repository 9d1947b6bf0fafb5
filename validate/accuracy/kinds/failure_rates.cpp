// Published rates of failures and shares of their causes, against the classes of failures that a
// plan takes where its user states none (scenarios/library/planning.yaml).
#include <boost/math/special_functions/gamma.hpp>

#include "models/base/units.hpp"
#include "scenarios/language/library/facts/planning.hpp"
#include "validate/accuracy/kinds/kinds.hpp"

namespace windtunnel {
namespace {

struct RateRow {
  std::string id, source, system, gpu_type, quantity, cause, unit, note;
  std::size_t table_row = 0;
  std::optional<int> gpus, nodes;
  std::optional<double> days, events, value;
};

constexpr auto kRateColumns = std::to_array<RowField<RateRow>>({
    {"source", &RateRow::source, Needs::cell},
    {"system", &RateRow::system, Needs::cell},
    {"gpus", &RateRow::gpus, Needs::column, "", 1e6},
    {"gpu_type", &RateRow::gpu_type, Needs::column},
    {"nodes", &RateRow::nodes, Needs::column, "", 1e6},
    {"days", &RateRow::days, Needs::column, "", 1e5},
    {"events", &RateRow::events, Needs::column, "", 1e9},
    {"quantity", &RateRow::quantity, Needs::cell},
    {"cause", &RateRow::cause, Needs::cell},
    {"value", &RateRow::value, Needs::cell, "", 1e9},
    {"unit", &RateRow::unit, Needs::cell},
    {"note", &RateRow::note},
});

// Failures a second of a cluster, by what they stop.
struct ClassRates {
  double nodes = 0;      // a node is lost
  double processes = 0;  // the job starts again on the same nodes
  double all() const { return nodes + processes; }
};

ClassRates usual_rates(const NodeSpec& node, int nodes) {
  const Case the_case =
      case_of_row(fmt::format("name: rates\nmodel: llama3-8b\ncluster: {{nodes: {}, node: {}}}\n"
                              "layout: {{sharding: zero1}}\nbatch: {{global: {}}}\nfailures: {}\n",
                              nodes, node.name, nodes * node.gpus, usual_failures(node).text));
  ClassRates rates;
  for (const FailureClass& each : the_case.job.failures) {
    (each.kind == FailureKind::process ? rates.processes : rates.nodes) +=
        mean_rate_per_s(each, nodes, kDay_s);
  }
  return rates;
}

// The least and the largest count of which 5 % are below and above, where `mean` are expected.
double poisson_quantile(double mean, double below) {
  double count = 0;
  while (boost::math::gamma_q(count + 1, mean) < below && count < 1e6) ++count;
  return count;
}

// The cause by which the rows of a source name what a class of ours counts.
bool restarts_on_its_node(const std::string& cause) {
  return contains_text(cause, "recoverable");
}

ValidationRow figure_of(const RateRow& row, const char* metric, double measured, double predicted,
                        double expected) {
  ValidationRow result{.id = row.id,
                       .family = row.system,
                       .metric = metric,
                       .measured = measured,
                       .predicted = predicted,
                       .origin = Origin::published,
                       .baselines = {},
                       .label = fmt::format("{}: {}", row.quantity, row.cause),
                       .note = row.note};
  result.low = predicted * poisson_quantile(expected, 0.05) / expected;
  result.high = predicted * poisson_quantile(expected, 0.95) / expected;
  return result;
}

std::vector<PredictedRow> predict_rates(const RateRow& row) {
  const bool share = row.quantity == "share of faults" && row.unit == "percent";
  const bool mean_time = row.quantity == "mean time between failures" && row.unit == "h";
  if (!share && !mean_time) throw Error(fmt::format("'{}' is no rate", row.quantity));
  if (!row.gpus) throw Error("the number of GPUs is not stated");
  PredictedRow result;
  const bool stated = row.gpu_type != "not stated";
  if (!stated) result.assumed.emplace_back("nodes of eight H100");
  const NodeSpec& node = find_node(gpu_named(stated ? row.gpu_type : "H100", false).node);
  const int nodes = row.nodes.value_or(*row.gpus / node.gpus);
  const ClassRates rates = usual_rates(node, nodes);
  std::vector<PredictedRow> results;
  if (mean_time) {
    result.row = figure_of(row, "between_h", *row.value, 1 / rates.all() / kHour_s, 1);
    result.row.low = result.row.high = result.row.predicted;
    return {result};
  }
  if (!row.events || !row.days) throw Error("the events behind the share are not stated");
  if (!restarts_on_its_node(row.cause)) {
    throw Error(
        fmt::format("the usual classes do not tell '{}' from other faults of a node", row.cause));
  }
  PredictedRow rate = result;
  rate.row = figure_of(row, "faults_per_day", *row.events / *row.days, rates.all() * kDay_s,
                       rates.all() * *row.days * kDay_s);
  result.row = figure_of(row, "restart_share", *row.value / 100, rates.processes / rates.all(),
                         *row.events * rates.processes / rates.all());
  return {rate, result};
}

}  // namespace

MeasuredKind failure_kind() {
  return {"failures",
          "published rates of failures",
          "published rates of failures, beside those that a plan takes by itself",
          {"events", "quantity", "cause", "value"},
          "gpus>1000",
          judge_with<RateRow, kRateColumns, predict_rates>};
}

}  // namespace windtunnel
