#include "report/captured/fault_fit_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "models/base/units.hpp"
#include "report/figures/figure_text.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {
namespace {

constexpr double kPer1000NodeDays = 1e-3 / (24 * 3600);

std::string rate_text(double per_node_s) {
  return fmt::format("{:.3g}", per_node_s / kPer1000NodeDays);
}

std::string number_text(double value) {
  return fmt::format("{:.3g}", value);
}

// [i] such as "of 2 nodes 3.8 %".
std::string batches_text(const std::vector<double>& shares) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] > 0) parts.push_back(fmt::format("{}: {}", i + 1, format_percent(shares[i])));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Json fitted_json(const FittedValue& fitted) {
  if (fitted.high == 0) return nullptr;
  return MEMBERS_JSON(fitted, value, low, high);
}

// A result of the fit, for people and for programs.
struct FitRow {
  std::string key;
  Json value;
  std::vector<std::string> cells = {};  // empty: only for programs
};

FitRow fitted_row(const char* key, const char* title, const FittedValue& fitted,
                  std::string (*text)(double)) {
  Json value = fitted_json(fitted);
  if (value.is_null()) return {key, std::move(value), {title, "too few", "", ""}};
  return {key, std::move(value), {title, text(fitted.value), text(fitted.low), text(fitted.high)}};
}

FitRow number_row(const char* key, const char* title, const Json& value, const std::string& text,
                  bool shown = true) {
  if (!shown) return {key, value};
  return {key, value, {title, text, "", ""}};
}

std::vector<FitRow> rows_of(const FaultFit& fit) {
  const bool of_nodes = fit.nodes_with_fault > 0;  // otherwise faults do not name their node
  return {
      {"faults", fit.faults},
      {"nodes", fit.nodes},
      {"span_s", fit.span_s},
      fitted_row("rate_per_node_s", "faults per 1000 node-days", fit.rate_per_node_s, rate_text),
      {"rate_per_node_up_s", fit.rate_per_node_up_s},
      fitted_row("gap_mean_s", "mean gap between faults", fit.gap_mean_s, format_seconds),
      fitted_row("gap_weibull_shape", "Weibull shape of gaps above zero", fit.gap_shape,
                 number_text),
      number_row("zero_gaps", "gaps of zero", fit.zero_gap_share,
                 format_percent(fit.zero_gap_share)),
      number_row("dispersion", "bursts: variance / mean of counts per window", fit.dispersion,
                 number_text(fit.dispersion)),
      fitted_row("faults_in_batches", "faults at the same time as another", fit.faults_in_batches,
                 format_percent),
      {"batch_shares", fit.batch_shares},
      fitted_row("repair_median_s", "repair, median above zero", fit.repair_median_s,
                 format_seconds),
      fitted_row("repair_lognormal_median_s", "repair, log-normal median",
                 fit.repair_lognormal_median_s, format_seconds),
      fitted_row("repair_lognormal_sigma", "repair, log-normal sigma", fit.repair_lognormal_sigma,
                 number_text),
      number_row("repair_mean_s", "repair, mean including zeros", fit.repair_mean_s,
                 format_seconds(fit.repair_mean_s)),
      number_row("mean_nodes_down", "nodes down, mean", fit.mean_nodes_down,
                 number_text(fit.mean_nodes_down)),
      number_row("most_nodes_down", "nodes down, most", fit.most_nodes_down,
                 fmt::to_string(fit.most_nodes_down)),
      fitted_row("frailty_variance", "lemons: variance of nodes' rates", fit.frailty_variance,
                 number_text),
      number_row("nodes_with_fault", "nodes with a fault", fit.nodes_with_fault,
                 fmt::to_string(fit.nodes_with_fault), of_nodes),
      number_row("nodes_with_five", "nodes with five or more", fit.nodes_with_five,
                 fmt::to_string(fit.nodes_with_five), of_nodes)};
}

std::string title_of(const FaultLog& log) {
  return log.kind == FailureKind::node ? log.name : log.name + ", processes";
}

SummarySection fit_section(const FaultLog& log, const FaultFit& fit) {
  SummarySection section{fmt::format("{}: {} fault{} of {} nodes in {}", title_of(log),
                                     with_separators(fit.faults), fit.faults == 1 ? "" : "s",
                                     with_separators(fit.nodes), format_seconds(fit.span_s)),
                         {},
                         titled_table(" | fitted > | 95 % from > | to >")};
  for (FitRow& row : rows_of(fit)) {
    if (!row.cells.empty()) section.table.rows.push_back(std::move(row.cells));
  }
  if (log.nodes == 0) {
    section.rows.push_back(
        {"nodes",
         fit.nodes_with_fault > 0
             ? "counted up to the highest number in the log; state the true number with --nodes"
             : "no fault names its node, so all count as one node; state the number with --nodes"});
  }
  if (log.span_s == 0) {
    section.rows.push_back(
        {"days", "from the first to the last fault; state the true length with --days"});
  }
  section.rows.push_back({"nodes per event", batches_text(fit.batch_shares)});
  for (const auto& [what, text] : log.notes) section.rows.push_back({what, text});
  return section;
}

}  // namespace

Answer fault_fit_answer(const std::string& file, const std::vector<FittedLog>& logs) {
  Answer answer{
      .title = fmt::format("Faults of {}", file),
      .subtitle = "the fit of each log of the file",
      .figures = {},
      .sections = {},
      .kind = "fault-logs",
      .document = [&logs] {
        return Json{
            {"logs", list_json(logs, [](const FittedLog& each) {
               const bool nodes = each.log.kind == FailureKind::node;
               Json document = {{"name", each.log.name}, {"kind", nodes ? "node" : "process"}};
               for (FitRow& row : rows_of(each.fit)) {
                 document[row.key] = std::move(row.value);
               }
               return document;
             })}};
      }};
  for (const FittedLog& each : logs) answer.sections.push_back(fit_section(each.log, each.fit));
  return answer;
}

std::string failures_yaml(std::span<const FittedLog> kinds, const std::string& repairs_file) {
  std::string yaml;
  for (const auto& [log, fit] : kinds) {
    const FailureClass fitted = fitted_class(log, fit);
    yaml += fmt::format(
        "# {}: fitted on {} fault{} of {} nodes in {}; 95 % of the rate: {} .. {} per\n# 1000 "
        "node-days.\n",
        fitted.name, fit.faults, fit.faults == 1 ? "" : "s", fit.nodes, format_seconds(fit.span_s),
        rate_text(fit.rate_per_node_s.low), rate_text(fit.rate_per_node_s.high));
  }
  yaml +=
      "# A rate counts events per node and time in service. Use placement: adjacent if you know "
      "that\n# the nodes of a batch share a rack.\nfailures:\n";
  for (const auto& [log, fit] : kinds) {
    const FailureClass fitted = fitted_class(log, fit);
    yaml += fmt::format("  - class: {}\n    rate: {}\n", fitted.name,
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
    if (log.kind == FailureKind::node && !repairs_file.empty()) {
      yaml += fmt::format("    repair: {{empirical: {}}}\n", repairs_file);
    }
  }
  return yaml;
}

}  // namespace windtunnel
