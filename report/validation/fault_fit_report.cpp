#include "report/validation/fault_fit_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/units.hpp"
#include "report/summary/summary.hpp"
#include "report/text/table.hpp"

namespace windtunnel {
namespace {

constexpr double kPer1000NodeDays = 1e-3 / (24 * 3600);

std::string rate_text(double per_node_s) {
  return fmt::format("{:.3g}", per_node_s / kPer1000NodeDays);
}

std::string number_text(double value) {
  return fmt::format("{:.3g}", value);
}

// [i]: "of 2 nodes 3.8 %".
std::string batches_text(const std::vector<double>& shares) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] > 0) parts.push_back(fmt::format("{}: {}", i + 1, format_percent(shares[i])));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Json fitted_json(const FittedValue& fitted) {
  if (fitted.high == 0) return nullptr;
  return {{"value", fitted.value}, {"low", fitted.low}, {"high", fitted.high}};
}

class FitTable {
 public:
  void add(const std::string& what, const FittedValue& fitted, std::string (*text)(double)) {
    if (fitted.high == 0) {
      table_.rows.push_back({what, "too few", "", ""});
    } else {
      table_.rows.push_back({what, text(fitted.value), text(fitted.low), text(fitted.high)});
    }
  }
  void add(const std::string& what, const std::string& value) {
    table_.rows.push_back({what, value, "", ""});
  }
  std::string text(std::size_t width) const { return table_text(table_, width); }

 private:
  TextTable table_{
      {{""}, {"fitted", Align::right}, {"95 % from", Align::right}, {"to", Align::right}}, {}};
};

}  // namespace

std::string fault_fit_text(const FaultLog& log, const FaultFit& fit, std::size_t width) {
  std::string text =
      fmt::format("{}: {} faults of {} nodes in {}\n", log.name, with_separators(fit.faults),
                  with_separators(fit.nodes), format_seconds(fit.span_s));
  const bool named = fit.nodes_with_fault > 0;
  if (log.nodes == 0) {
    text += named ? "  nodes are counted up to the highest number; --nodes says more\n"
                  : "  no fault names its node, so all are counted as one; --nodes says more\n";
  }
  if (log.span_s == 0) text += "  from the first to the last fault; --days says more\n";
  FitTable table;
  table.add("faults per 1000 node-days", fit.rate_per_node_s, rate_text);
  table.add("mean gap between faults", fit.gap_mean_s, format_seconds);
  table.add("Weibull shape of gaps above zero", fit.gap_shape, number_text);
  table.add("gaps of zero", format_percent(fit.zero_gap_share));
  table.add("bursts: variance / mean of counts", number_text(fit.dispersion));
  table.add("faults that begin with another's", fit.faults_in_batches, format_percent);
  table.add("repair, median above zero", fit.repair_median_s, format_seconds);
  table.add("repair, log-normal median", fit.repair_lognormal_median_s, format_seconds);
  table.add("repair, log-normal sigma", fit.repair_lognormal_sigma, number_text);
  table.add("repair, mean with zeros", format_seconds(fit.repair_mean_s));
  table.add("nodes down, mean", number_text(fit.mean_nodes_down));
  table.add("nodes down, most", fmt::format("{}", fit.most_nodes_down));
  table.add("lemons: variance of hazards", fit.frailty_variance, number_text);
  if (named) {
    table.add("nodes with a fault", fmt::format("{}", fit.nodes_with_fault));
    table.add("nodes with five or more", fmt::format("{}", fit.nodes_with_five));
  }
  return text + table.text(width) +
         fmt::format("nodes per event: {}\n", batches_text(fit.batch_shares));
}

Json fault_fit_document(const FaultLog& log, const FaultFit& fit) {
  return {{"name", log.name},
          {"faults", fit.faults},
          {"nodes", fit.nodes},
          {"span_s", fit.span_s},
          {"rate_per_node_s", fitted_json(fit.rate_per_node_s)},
          {"rate_per_node_up_s", fit.rate_per_node_up_s},
          {"gap_mean_s", fitted_json(fit.gap_mean_s)},
          {"gap_weibull_shape", fitted_json(fit.gap_shape)},
          {"zero_gaps", fit.zero_gap_share},
          {"dispersion", fit.dispersion},
          {"faults_in_batches", fitted_json(fit.faults_in_batches)},
          {"batch_shares", fit.batch_shares},
          {"repair_median_s", fitted_json(fit.repair_median_s)},
          {"repair_lognormal_median_s", fitted_json(fit.repair_lognormal_median_s)},
          {"repair_lognormal_sigma", fitted_json(fit.repair_lognormal_sigma)},
          {"repair_mean_s", fit.repair_mean_s},
          {"mean_nodes_down", fit.mean_nodes_down},
          {"most_nodes_down", fit.most_nodes_down},
          {"frailty_variance", fitted_json(fit.frailty_variance)},
          {"nodes_with_fault", fit.nodes_with_fault},
          {"nodes_with_five", fit.nodes_with_five}};
}

std::string failures_yaml(const FaultLog& log, const FaultFit& fit,
                          const std::string& repairs_file) {
  const FailureClass fitted = fitted_class(log, fit);
  std::string yaml = fmt::format(
      "# Fitted on {} faults of {} nodes in {}. The rate is of events, per node and time out of\n"
      "# repair. placement: adjacent if you know that those of a batch share a rack.\n"
      "failures:\n"
      "  - class: {}\n"
      "    rate: {}\n",
      fit.faults, fit.nodes, format_seconds(fit.span_s), fitted.name,
      format_quantity(fitted.rate_per_node_s, Dimension::per_node_s));
  if (fitted.arrivals == Arrivals::weibull) {
    yaml += fmt::format("    arrivals: {{weibull: {:.4g}}}\n", fitted.weibull_shape);
  }
  if (fitted.frailty_variance > 0) {
    yaml += fmt::format("    frailty: {:.4g}\n", fitted.frailty_variance);
  }
  if (!fitted.batch_shares.empty()) {
    yaml += fmt::format("    batch: {{shares: [{:.9f}], placement: any}}\n",
                        fmt::join(fitted.batch_shares, ", "));
  }
  if (!repairs_file.empty()) yaml += fmt::format("    repair: {{empirical: {}}}\n", repairs_file);
  return yaml;
}

}  // namespace windtunnel
