#include "validate/commands/calibrate_collectives.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <exception>
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
#include "scenarios/language/library/interconnect_laws.hpp"
#include "scenarios/language/library/library.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/collectives/collective_accuracy.hpp"
#include "validate/accuracy/collectives/collective_machine.hpp"
#include "validate/commands/calibrate_kernels.hpp"
#include "validate/pages/calibration_answer.hpp"
#include "validate/pages/validation_page.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

struct FitPoints {
  std::string machine;
  std::string files;              // without folders
  std::vector<ScoredRow> points;  // of that machine, one environment
  std::vector<SkippedRow> skipped;
  std::map<std::string, int> other_environments;  // points
};

// An option given once holds for all logs, otherwise it has one value per log.
std::string of_log(const std::vector<std::string>& said, size_t i, size_t logs,
                   const char* option) {
  if (said.empty()) return "";
  if (said.size() == 1) return said.front();
  if (said.size() == logs) return said[i];
  throw Error(fmt::format(
      "{}: {} were given for {} logs; give one for all logs, or one for each in the same order",
      option, said.size(), logs));
}

std::vector<CollectiveRows> read_files(const CollectiveCalibration& options) {
  std::vector<std::string> texts;
  size_t logs = 0;
  for (const std::string& path : options.from) {
    texts.push_back(read_file(path));
    logs += is_nccl_log(texts.back()) ? 1 : 0;
  }
  std::vector<CollectiveRows> files;
  size_t log = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string& path = options.from[i];
    if (!is_nccl_log(texts[i])) {
      files.push_back(parse_collective_rows(texts[i], path));
      continue;
    }
    files.push_back(
        parse_nccl_tests(texts[i], path,
                         {.machine = of_log(options.machines, log, logs, "--machine"),
                          .network = of_log(options.networks, log, logs, "--network"),
                          .collective = of_log(options.collectives, log, logs, "--collective")}));
    ++log;
  }
  return files;
}

// The rows of each machine that pass the filter and --machine.
using ChosenRows = std::map<std::string, std::vector<const CollectiveRow*>>;

ChosenRows chosen_rows(const std::vector<CollectiveRows>& files,
                       const CollectiveCalibration& options) {
  std::optional<RowFilter> filter;
  if (!options.where.empty()) filter = RowFilter::parse(options.where, "--where");
  ChosenRows chosen;
  for (const CollectiveRows& file : files) {
    if (filter) filter->check(file.table);
    std::set<std::string> machines;
    for (const CollectiveRow& row : file.rows) {
      if (filter && !filter->matches(file.table, row.table_row)) continue;
      machines.insert(row.machine);
      chosen[row.machine].push_back(&row);
    }
    if (options.machines.empty() && machines.size() > 1) {
      throw Error(Location{file.path},
                  fmt::format("contains rows of {} machines, but a calibration describes one; "
                              "choose with --machine, which may be repeated: {}",
                              machines.size(), fmt::join(machines, ", ")));
    }
  }
  if (chosen.empty()) throw Error("--where: no row is left");
  std::vector<std::string> names;
  for (const auto& [machine, rows] : chosen) names.push_back(machine);
  for (const std::string& machine : options.machines) {
    if (chosen.contains(machine)) continue;
    throw Error("--machine: " + unknown_name("machine", machine, names));
  }
  const auto& wanted = options.machines;
  std::erase_if(chosen, [&](const auto& machine) {
    return !wanted.empty() && std::ranges::find(wanted, machine.first) == wanted.end();
  });
  return chosen;
}

std::string file_names(const std::vector<const CollectiveRow*>& rows) {
  std::vector<std::string> names;
  for (const CollectiveRow* row : rows) {
    const std::string path = row->id.substr(0, row->id.rfind(':'));
    const std::string name = fs::path(path).filename().string();
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

FitPoints points_of(const std::vector<const CollectiveRow*>& rows, const NodeSizes& sizes) {
  FitPoints found;
  found.machine = rows.front()->machine;
  found.files = file_names(rows);
  std::vector<ScoredRow> points = scored_rows(rows, sizes, found.skipped);
  std::map<std::string, int> environments;
  for (const ScoredRow& point : points) ++environments[point.environment];
  if (environments.empty()) {
    throw Error(fmt::format("{}: no row of {} can be used for the fit: {}", found.files,
                            found.machine, found.skipped.front().reason));
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

double seconds_of(const ScoredRow& point, const Calibration& calibration) {
  return collective_cost(point.kind, point.choice, point.where->shape, point.bytes,
                         point.where->cluster, calibration)
      .seconds;
}

std::string class_of(const ScoredRow& point) {
  return fmt::format("{}, {} 1 MB", to_string(point.kind), point.bytes >= 1e6 ? "from" : "below");
}

std::map<std::string, Residuals> residuals_of(const std::vector<ScoredRow>& points,
                                              const Calibration& before, const Calibration& after) {
  std::map<std::string, Residuals> found;
  for (const ScoredRow& point : points) {
    const auto error = [&](const Calibration& calibration) {
      return std::abs(seconds_of(point, calibration) / point.seconds - 1);
    };
    const std::string name = class_of(point);
    found[name].before.push_back(error(before));
    found[name].after.push_back(error(after));
  }
  return found;
}

// Tells whether points limited by bandwidth deviate from such a calibration: points from 64 MB on,
// or from 1 MB on if there are none, or all. (With smaller points, latencies shorter than predicted
// could hide links at half their bandwidth.)
NetworkPace pace_of_points(const std::vector<ScoredRow>& points, const Calibration& calibration) {
  std::vector<double> ratios;
  for (const double least_bytes : {64e6, 1e6, 0.0}) {
    for (const ScoredRow& point : points) {
      if (point.bytes < least_bytes) continue;
      ratios.push_back(seconds_of(point, calibration) / point.seconds);
    }
    if (!ratios.empty()) break;
  }
  return pace_of(ratios);
}

// Visits the parameters that the fit changed.
template <class Add>
void for_each_moved(const Calibration& before, const Calibration& after, const Add& add) {
  const auto check = [&](std::string_view name, std::string_view unit, const Parameter& from,
                         const Parameter& to) {
    if (from.value == to.value && from.low == to.low && from.high == to.high) return;
    add(std::string(name), unit, from, to);
  };
  for (const CalibrationField& field : calibration_fields()) {
    check(field.name, field.unit, before.*field.member, after.*field.member);
  }
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    check(field.name, field.unit, before.network.*field.member, after.network.*field.member);
  }
}

TextTable parameters_table(const Calibration& before, const Calibration& after) {
  TextTable table = titled_table("parameter | before | fitted (90 % interval)");
  for_each_moved(
      before, after,
      [&](const std::string& name, std::string_view unit, const Parameter& from,
          const Parameter& to) {
        const std::string value = value_text(to.value, unit);
        table.rows.push_back({name, value_text(from.value, unit),
                              to.low == to.high
                                  ? value
                                  : fmt::format("{} ({} to {})", value, value_text(to.low, unit),
                                                value_text(to.high, unit))});
      });
  return table;
}

// The fit of one machine's rows.
struct MachineFit {
  FitPoints points;
  Calibration base;
  // This is the prediction without rows, for residuals before the fit.
  Calibration start;
  FittedNetwork fitted;  // one law for all groups
  Origin origin = Origin::measured;
  std::string kept;  // from keep_unmeasured()
  std::string out;
};

// Warns that the network deviates from the prediction, and whether the fit follows; empty: no
// warnings.
std::vector<std::string> pace_warnings(const MachineFit& fit) {
  std::vector<std::string> warnings;
  const std::vector<ScoredRow>& points = fit.points.points;
  if (const auto text = pace_text(pace_of_points(points, fit.start),
                                  "what the specification of such a machine predicts")) {
    warnings.push_back(fmt::format("this network {}", *text));
  }
  const Calibration& after = fit.fitted.calibration;
  if (const auto text = pace_text(pace_of_points(points, after), "what the fit predicts")) {
    warnings.push_back(fmt::format(
        "the fit does not describe the rows: this network {}, which no law within bounds explains, "
        "so this is probably not the named machine: check the number and the speed of its links "
        "(--network, e.g. 'NDR 400G'), or whether something else was running",
        *text));
  }
  return warnings;
}

TextTable residuals_table(const MachineFit& fit) {
  TextTable table = titled_table("residuals | points > | median before > | median > | p90 >");
  for (const auto& [name, residuals] :
       residuals_of(fit.points.points, fit.start, fit.fitted.calibration)) {
    table.rows.push_back({name, std::to_string(residuals.after.size()),
                          format_percent(quantile(residuals.before, 0.5)),
                          format_percent(quantile(residuals.after, 0.5)),
                          format_percent(quantile(residuals.after, 0.9))});
  }
  return table;
}

SummarySection parameters_section(const MachineFit& fit) {
  SummarySection section{"Parameters", {}, parameters_table(fit.start, fit.fitted.calibration)};
  if (section.table.rows.empty()) section = {"Parameters", {{"moved", "none"}}};
  if (!fit.fitted.untold.empty()) {
    section.rows.push_back({"as before", fmt::format("because no row depends on them: {}",
                                                     fmt::join(fit.fitted.untold, ", "))});
  }
  if (!fit.kept.empty()) section.rows.push_back({"kept", fit.kept});
  return section;
}

SummarySection residuals_section(const MachineFit& fit) {
  const InterconnectLaw& law = fit.fitted.calibration.network;
  SummarySection section{
      "Residuals",
      {{"noise of the logarithm", fmt::format("{:.3f} from 1 MB, {:.3f} below", law.noise_log.value,
                                              law.small_noise_log.value)},
       {"slow nodes",
        fmt::format("{} of the nodes in a job, by a factor of {:.2f}",
                    format_percent(law.slow_share.value), std::exp(law.slow_log.value))}},
      residuals_table(fit)};
  for (const std::string& assumed : fit.points.points.front().where->assumed) {
    section.rows.push_back({"assumed", assumed});
  }
  for (const auto& [environment, count] : fit.points.other_environments) {
    section.rows.push_back(
        {"not fitted on",
         fmt::format("{} points of environment '{}' (--where chooses)", count, environment)});
  }
  return section;
}

Json report_document(const MachineFit& fit) {
  const FitPoints& points = fit.points;
  Json residuals = Json::array();
  for (const auto& [name, of] : residuals_of(points.points, fit.start, fit.fitted.calibration)) {
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
  const InterconnectLaw& law = fit.fitted.calibration.network;
  return {{"out", fit.out},
          {"machine", points.machine},
          {"environment", points.points.front().environment},
          {"base", fit.base.name},
          {"points", points.points.size()},
          {"without_influence", fit.fitted.untold},
          {"kept", fit.kept},
          {"noise_log", law.noise_log.value},
          {"small_noise_log", law.small_noise_log.value},
          {"slow_share", law.slow_share.value},
          {"slow_log", law.slow_log.value},
          {"residuals", residuals},
          {"ratio_before", pace_of_points(points.points, fit.start).ratio},
          {"ratio_after", pace_of_points(points.points, fit.fitted.calibration).ratio},
          {"warnings", pace_warnings(fit)},
          {"other_environments", points.other_environments},
          {"skipped", skipped}};
}

Answer answer_of(const MachineFit& fit) {
  const FitPoints& points = fit.points;
  const std::string& environment = points.points.front().environment;
  const Calibration& after = fit.fitted.calibration;
  FitAnswer answer{.answer = {.title = fmt::format("Network of {}", points.machine),
                              .subtitle = fmt::format(
                                  "fitted on {} {} points of {}{}, starting from {}; written to {}",
                                  points.points.size(), to_string(fit.origin), points.files,
                                  environment.empty() ? "" : fmt::format(" ({})", environment),
                                  fit.base.name, fit.out),
                              .figures = {},
                              .sections = {},
                              .warnings = pace_warnings(fit),
                              .kind = "calibrate-collectives"},
                   .parameters = parameters_section(fit),
                   .more = {residuals_section(fit)}};
  for (const ScoredRow& point : points.points) {
    const double seconds = seconds_of(point, after);
    answer.rows.rows.push_back({.id = point.id,
                                .family = class_of(point),
                                .metric = "time_s",
                                .measured = point.seconds,
                                .predicted = seconds,
                                .low = seconds,
                                .high = seconds,
                                .baselines = {{kBeforeTheFit, seconds_of(point, fit.start)}},
                                .label = fmt::format("{} of {}, {} GPUs", to_string(point.kind),
                                                     format_bytes(point.bytes), point.gpus)});
  }
  answer.rows.skipped = points.skipped;
  summarise_families(answer.rows, {});
  answer.answer.figures = accuracy_figures(answer.rows);
  for_each_moved(
      fit.start, after,
      [&](const std::string& name, std::string_view, const Parameter& from, const Parameter& to) {
        if (to.value < kNever) answer.moved.push_back(moved_item(name, from, to));
      });
  return fit_answer(std::move(answer));
}

// Puts the machine's name into the file's: "AWS p5.48xlarge" makes "net-aws-p5-48xlarge.yaml" from
// "net.yaml".
std::string machine_file(const std::string& out, const std::string& machine) {
  std::string name;
  for (const char c : machine) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) {
      name += static_cast<char>(std::tolower(letter));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  if (name.ends_with('-')) name.pop_back();
  const fs::path path(out);
  const std::string file =
      fmt::format("{}-{}{}", path.stem().string(), name, path.extension().string());
  return (path.parent_path() / file).string();
}

MachineFit fit_machine(FitPoints points, const CollectiveCalibration& options,
                       const std::string& out) {
  const CollectiveMachine& where = *points.points.front().where;
  const Cluster& cluster = where.cluster;
  MachineFit fit;
  fit.out = out;
  fit.origin = options.origin;
  fit.base = calibration_of(options.base.empty() ? where.calibration : options.base);
  fit.start = fit_network({}, cluster, fit.base).calibration;
  fit.fitted = fit_network(points.points, cluster, fit.base, options.origin);
  fit.points = std::move(points);
  return fit;
}

void write_calibration(MachineFit& fit) {
  Calibration written = fit.fitted.calibration;
  written.name = fs::path(fit.out).stem().string();
  const Cluster& cluster = fit.points.points.front().where->cluster;
  written.gpu = cluster.node.gpu.name;
  Calibration before = fit.base;
  state_network_law(cluster.node, cluster.fabric.transport, before);
  fit.kept = keep_unmeasured(fit.points.points, before, written);
  write_file(
      fit.out,
      calibration_text(written,
                       fmt::format("Written by windtunnel calibrate from {}, {}, starting from {}.",
                                   fit.points.files, fit.points.machine, fit.base.name)));
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
  const std::vector<CollectiveRows> files = read_files(options);
  std::vector<CollectiveRow> all;
  for (const CollectiveRows& file : files) {
    all.insert(all.end(), file.rows.begin(), file.rows.end());
  }
  const NodeSizes sizes = node_sizes(all);
  const ChosenRows chosen = chosen_rows(files, options);
  std::vector<MachineFit> fits;
  for (const auto& [machine, rows] : chosen) {
    const std::string out = chosen.size() == 1 ? options.out : machine_file(options.out, machine);
    if (chosen.size() > 1) check_out(out, options.force);
    fits.push_back(fit_machine(points_of(rows, sizes), options, out));
  }
  for (MachineFit& fit : fits) write_calibration(fit);
  // All machines share one document, but each has its page.
  if (options.output.json) {
    Json documents = Json::array();
    for (const MachineFit& fit : fits) documents.push_back(report_document(fit));
    print_document("calibrate-collectives", fits.size() == 1 ? documents.front() : documents);
  }
  // If one machine's page cannot be written, the others are still written.
  std::exception_ptr not_written;
  for (const MachineFit& fit : fits) {
    AnswerOutput output = options.output;
    for (auto& [option, file] : output.files) {
      if (fits.size() > 1 && !file.empty()) file = machine_file(file, fit.points.machine);
    }
    const bool follows = !pace_of_points(fit.points.points, fit.fitted.calibration).one_sided();
    try {
      hand_out(answer_of(fit), output,
               fmt::format("\nwrote {}{}\n", fit.out,
                           follows ? "" : ", which does not describe the rows"));
    } catch (const Error&) {
      if (!not_written) not_written = std::current_exception();
    }
  }
  for (const CollectiveRows& file : files) {
    for (const UnusableRow& row : file.unreadable) {
      print_human(fmt::format("warning: {}: {}; the row is not used\n", row.id, row.reason), true);
    }
  }
  if (not_written) std::rethrow_exception(not_written);
  return ExitCode::ok;
}

}  // namespace windtunnel
