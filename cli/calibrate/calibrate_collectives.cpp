#include "cli/calibrate/calibrate_collectives.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "cli/program/output.hpp"
#include "models/base/quantile.hpp"
#include "models/base/units.hpp"
#include "report/json/json.hpp"
#include "report/text/table.hpp"
#include "scenarios/language/library/calibration_writer.hpp"
#include "scenarios/language/library/library.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/collectives/collective_accuracy.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

struct FitPoints {
  std::string machine;
  std::vector<ScoredRow> points;  // of that machine, one environment
  std::vector<SkippedRow> skipped;
  std::map<std::string, int> other_environments;  // points
};

// The rows that the filter and --machine leave, all of one machine.
FitPoints points_of(const CollectiveRows& rows, const CollectiveCalibration& options) {
  std::vector<const CollectiveRow*> chosen;
  std::optional<RowFilter> filter;
  if (!options.where.empty()) {
    filter = RowFilter::parse(options.where, "--where");
    filter->check(rows.table);
  }
  std::set<std::string> machines;
  for (const CollectiveRow& row : rows.rows) {
    if (filter && !filter->matches(rows.table, row.table_row)) continue;
    machines.insert(row.machine);
    if (options.machine.empty() || row.machine == options.machine) chosen.push_back(&row);
  }
  const std::vector<std::string> names(machines.begin(), machines.end());
  if (names.empty()) throw Error("--where: no row is left");
  if (chosen.empty()) throw Error("--machine: " + unknown_name("machine", options.machine, names));
  if (options.machine.empty() && names.size() > 1) {
    throw Error(Location{rows.path},
                fmt::format("has rows of {} machines, a calibration is of one; choose with "
                            "--machine: {}",
                            names.size(), fmt::join(names, ", ")));
  }
  FitPoints found;
  found.machine = chosen.front()->machine;
  std::vector<ScoredRow> points = scored_rows(chosen, node_sizes(rows.rows), found.skipped);
  std::map<std::string, int> environments;
  for (const ScoredRow& point : points) ++environments[point.environment];
  if (environments.empty()) {
    throw Error(Location{rows.path},
                fmt::format("no row can be fitted on: {}", found.skipped.front().reason));
  }
  const auto most =
      std::max_element(environments.begin(), environments.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  for (ScoredRow& point : points) {
    if (point.environment == most->first) found.points.push_back(std::move(point));
  }
  found.other_environments = environments;
  found.other_environments.erase(found.points.front().environment);
  return found;
}

constexpr double kNever = 1e18;  // bytes: no message is so large

// |predicted / measured - 1| by class of collective.
struct Residuals {
  std::vector<double> before;
  std::vector<double> after;
};

std::map<std::string, Residuals> residuals_of(const std::vector<ScoredRow>& points,
                                              const Calibration& before, const Calibration& after) {
  std::map<std::string, Residuals> found;
  for (const ScoredRow& point : points) {
    const auto error = [&](const Calibration& calibration) {
      const double seconds = collective_cost(point.kind, point.choice, point.where->shape,
                                             point.bytes, point.where->cluster, calibration)
                                 .seconds;
      return std::abs(seconds / point.seconds - 1);
    };
    const std::string name =
        fmt::format("{}, {} 1 MB", to_string(point.kind), point.bytes >= 1e6 ? "from" : "below");
    found[name].before.push_back(error(before));
    found[name].after.push_back(error(after));
  }
  return found;
}

// The parameters that the fit moved.
std::string parameters_text(const Calibration& before, const Calibration& after) {
  TextTable table{{{"parameter"}, {"before"}, {"fitted (90 % interval)"}}, {}};
  const auto add = [&](std::string_view name, std::string_view unit, const Parameter& from,
                       const Parameter& to) {
    if (from.value == to.value && from.low == to.low && from.high == to.high) return;
    const std::string value = value_text(to.value, unit);
    table.rows.push_back({std::string(name), value_text(from.value, unit),
                          to.low == to.high
                              ? value
                              : fmt::format("{} ({} to {})", value, value_text(to.low, unit),
                                            value_text(to.high, unit))});
  };
  for (const CalibrationField& field : calibration_fields()) {
    add(field.name, field.unit, before.*field.member, after.*field.member);
  }
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    add(field.name, field.unit, before.network.*field.member, after.network.*field.member);
  }
  return table.rows.empty() ? "no parameter was moved\n" : table_text(table);
}

std::string report_text(const CollectiveCalibration& options, const FitPoints& points,
                        const Calibration& base, const FittedNetwork& fitted) {
  const ScoredRow& first = points.points.front();
  std::string text = fmt::format(
      "{}: {} points of {}{}, start {}\n\n", fs::path(options.from).filename().string(),
      points.points.size(), points.machine,
      first.environment.empty() ? "" : fmt::format(" ({})", first.environment), base.name);
  text += parameters_text(base, fitted.calibration);
  TextTable table{{{"residuals"},
                   {"points", Align::right},
                   {"median before", Align::right},
                   {"median", Align::right},
                   {"p90", Align::right}},
                  {}};
  for (const auto& [name, residuals] : residuals_of(points.points, base, fitted.calibration)) {
    table.rows.push_back({name, std::to_string(residuals.after.size()),
                          format_percent(quantile(residuals.before, 0.5)),
                          format_percent(quantile(residuals.after, 0.5)),
                          format_percent(quantile(residuals.after, 0.9))});
  }
  text += "\n" + table_text(table);
  const InterconnectLaw& law = fitted.calibration.network;
  text += fmt::format(
      "\nnoise of the logarithm {:.3f} from 1 MB, {:.3f} below; {} of the nodes are slow in a job, "
      "by {:.2f}\n",
      law.noise_log.value, law.small_noise_log.value, format_percent(law.slow_share.value),
      std::exp(law.slow_log.value));
  for (const std::string& assumed : first.where->assumed) {
    text += fmt::format("assumed: {}\n", assumed);
  }
  for (const auto& [environment, count] : points.other_environments) {
    text += fmt::format("not fitted on: {} points of environment '{}' (--where chooses)\n", count,
                        environment);
  }
  std::map<std::string, std::pair<int, std::string>> reasons;
  for (const SkippedRow& row : points.skipped) {
    auto& [count, id] = reasons[row.reason];
    if (count++ == 0) id = row.id;
  }
  for (const auto& [reason, rows] : reasons) {
    text +=
        fmt::format("warning: {} rows not used: {}, first {}\n", rows.first, reason, rows.second);
  }
  return text + fmt::format("\nwrote {}\n", options.out);
}

Json report_document(const CollectiveCalibration& options, const FitPoints& points,
                     const Calibration& base, const FittedNetwork& fitted) {
  Json residuals = Json::array();
  for (const auto& [name, of] : residuals_of(points.points, base, fitted.calibration)) {
    residuals.push_back({{"name", name},
                         {"points", of.after.size()},
                         {"median_ape_before", quantile(of.before, 0.5)},
                         {"median_ape_after", quantile(of.after, 0.5)},
                         {"p90_ape_after", quantile(of.after, 0.9)}});
  }
  Json skipped = Json::array();
  for (const SkippedRow& row : points.skipped) {
    skipped.push_back({{"id", row.id}, {"reason", row.reason}});
  }
  const InterconnectLaw& law = fitted.calibration.network;
  return {{"out", options.out},
          {"machine", points.machine},
          {"environment", points.points.front().environment},
          {"base", base.name},
          {"points", points.points.size()},
          {"noise_log", law.noise_log.value},
          {"small_noise_log", law.small_noise_log.value},
          {"slow_share", law.slow_share.value},
          {"slow_log", law.slow_log.value},
          {"residuals", residuals},
          {"other_environments", points.other_environments},
          {"skipped", skipped}};
}

}  // namespace

std::string value_text(double value, std::string_view unit) {
  if (unit == "B" && value >= kNever) return "never";
  if (unit == "s") return format_seconds(value);
  if (unit == "B") return format_bytes(value);
  return fmt::format("{:.4g}", value);
}

bool holds_collectives(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".txt" || extension == ".json" || extension == ".log") return true;
  const std::string text = read_file(path);
  return text.substr(0, text.find('\n')).find("time_us") != std::string::npos;
}

ExitCode calibrate_on_collectives(const CollectiveCalibration& options) {
  const CollectiveRows rows =
      read_collectives(options.from, {.machine = options.machine, .network = options.network});
  const FitPoints points = points_of(rows, options);
  const ScoredRow& first = points.points.front();
  const Calibration base =
      calibration_of(options.base.empty() ? first.where->calibration : options.base);
  // What is predicted without rows: residuals before the fit are of this.
  const Calibration start = fit_network({}, first.where->cluster, base).calibration;
  FittedNetwork fitted = fit_network(points.points, first.where->cluster, base);
  fitted.calibration.name = fs::path(options.out).stem().string();
  fitted.calibration.gpu = first.where->cluster.node.gpu.name;
  write_file(options.out,
             calibration_text(fitted.calibration,
                              fmt::format("Written by windtunnel calibrate from {}, {}, start {}.",
                                          fs::path(options.from).filename().string(),
                                          points.machine, base.name)));
  if (options.json) {
    print_result(json_text(report_document(options, points, start, fitted)));
  }
  print_human(report_text(options, points, start, fitted), options.json);
  return ExitCode::ok;
}

}  // namespace windtunnel
