// Compares published failure rates and shares of causes with the failure classes that a plan
// assumes by default (scenarios/library/planning.yaml).
#include <boost/math/distributions/poisson.hpp>
#include <cmath>

#include "models/base/units.hpp"
#include "models/calibration/prediction_error.hpp"
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

// Counts the failures per second of a cluster by their consequence.
struct ClassRates {
  double nodes = 0;      // a node is lost
  double processes = 0;  // the job restarts on the same nodes
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

// The 90 % interval of a Poisson count with this expectation. Its ends are the smallest counts
// whose cumulative probability reaches 5 and 95 %.
void add_count_interval(PredictedRow& rate, double expected) {
  using boost::math::policies::discrete_quantile, boost::math::policies::integer_round_up;
  using Whole = boost::math::policies::policy<discrete_quantile<integer_round_up>>;
  if (!(expected > 0)) throw Error("no failure is expected in such a short time");
  const boost::math::poisson_distribution<double, Whole> counts(expected);
  rate.row.low = rate.row.predicted * quantile(counts, 0.05) / expected;
  rate.row.high = rate.row.predicted * quantile(counts, 0.95) / expected;
}

// Clusters differ by more than the counts of one cluster do.
void add_cluster_interval(PredictedRow& rate) {
  ValidationRow& row = rate.row;
  if (row.low == row.high) row.low = row.high = row.predicted;
  const double other = std::log(error_factor(failure_rate_error(), 0.9));
  if (row.low > 0) {
    row.low = row.predicted / std::exp(std::hypot(std::log(row.predicted / row.low), other));
  }
  row.high = row.predicted * std::exp(std::hypot(std::log(row.high / row.predicted), other));
}

// Whether the source's cause means faults after which the job restarts on the same node.
bool restarts_on_its_node(const std::string& cause) {
  return contains_text(cause, "recoverable");
}

PredictedRow rate_of(const RateRow& row, const char* metric, double measured, double predicted) {
  PredictedRow rate = figure_of(row, row.system, metric, measured, predicted,
                                fmt::format("{}: {}", row.quantity, row.cause));
  rate.row.origin = Origin::published;
  if (row.gpu_type == "not stated") rate.assumed.emplace_back("nodes of eight H100");
  return rate;
}

std::vector<PredictedRow> predict_rates(const RateRow& row) {
  const bool share = row.quantity == "share of faults" && row.unit == "percent";
  const bool mean_time = row.quantity == "mean time between failures" && row.unit == "h";
  if (!share && !mean_time) throw Error(fmt::format("'{}' is no rate", row.quantity));
  if (!row.gpus && !row.nodes) throw Error("neither GPUs nor nodes are stated");
  const std::string gpu = row.gpu_type == "not stated" ? "H100" : row.gpu_type;
  const NodeSpec& node = find_node(gpu_named(gpu, false).node);
  const int nodes = row.nodes ? *row.nodes : (*row.gpus + node.gpus - 1) / node.gpus;
  const ClassRates rates = usual_rates(node, nodes);
  if (mean_time) {  // the number of failures is not stated, so there is no interval of a count
    PredictedRow between =
        rate_of(row, "time_between_failures_h", *row.value, 1 / rates.all() / kHour_s);
    add_cluster_interval(between);
    return {between};
  }
  if (!row.events || !row.days)
    throw Error("the number of events from which the share was computed is not stated");
  if (!restarts_on_its_node(row.cause)) {
    throw Error(fmt::format("the usual classes do not distinguish '{}' from other faults of a node",
                            row.cause));
  }
  PredictedRow faults =
      rate_of(row, "faults_per_day", *row.events / *row.days, rates.all() * kDay_s);
  add_count_interval(faults, rates.all() * *row.days * kDay_s);
  add_cluster_interval(faults);
  const double share_of_all = rates.processes / rates.all();
  PredictedRow restarts = rate_of(row, "share_of_restarts", *row.value / 100, share_of_all);
  add_count_interval(restarts, *row.events * share_of_all);
  return {faults, restarts};
}

}  // namespace

MeasuredKind failure_kind() {
  return {"failures",
          "published rates of failures",
          "compare published rates of failures with the rates that a plan assumes by default",
          {"events", "quantity", "cause", "value"},
          "gpus>1000",
          judge_with<RateRow, kRateColumns, predict_rates>};
}

}  // namespace windtunnel
