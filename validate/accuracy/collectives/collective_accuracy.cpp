#include "validate/accuracy/collectives/collective_accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/base/units.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "scenarios/language/library/library.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/collectives/collective_fit.hpp"
#include "validate/accuracy/rows/row_selection.hpp"

namespace windtunnel {
namespace {

constexpr double kLargeBytes = 1e6;

// True for "cnode3-002": letters, then digits after the last hyphen.
bool is_host_name(const std::string& word) {
  const size_t hyphen = word.rfind('-');
  if (hyphen == std::string::npos || hyphen == 0 || hyphen + 1 == word.size()) return false;
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  return std::isalpha(static_cast<unsigned char>(word[0])) != 0 &&
         std::all_of(word.begin() + static_cast<std::ptrdiff_t>(hyphen) + 1, word.end(), digit);
}

// Each machine is made once, because the rows of a table share few machines.
class Machines {
 public:
  explicit Machines(const NodeSizes& sizes) : sizes_(sizes) {}

  // Throws Error as machine_of() does, also for each later row of such a machine.
  std::shared_ptr<const CollectiveMachine> of(const CollectiveRow& row) {
    const std::string key = fmt::format("{}|{}|{}|{}|{}|{}", row.machine, row.gpu, row.network,
                                        row.gpus, row.nodes, environment_of(row));
    if (const auto reason = failed_.find(key); reason != failed_.end()) {
      throw Error(reason->second);
    }
    std::shared_ptr<const CollectiveMachine>& machine = known_[key];
    if (machine != nullptr) return machine;
    try {
      machine = std::make_shared<const CollectiveMachine>(machine_of(row, sizes_));
    } catch (const Error& error) {
      failed_[key] = error.what();
      throw;
    }
    return machine;
  }

 private:
  const NodeSizes& sizes_;
  std::map<std::string, std::shared_ptr<const CollectiveMachine>> known_;
  std::map<std::string, std::string> failed_;
};

std::string before_semicolon(const std::string& notes) {
  return notes.substr(0, notes.find(';'));
}

// Returns "NCCL algorithm requested: tree"; empty if the notes do not begin so.
std::string requested_of(const std::string& notes) {
  const std::string text = before_semicolon(notes);
  return text.starts_with("NCCL algorithm requested:") ? text : "";
}

// Finds the laws for a point: those of its machine and environment, else those of the machine's
// environment with the most rows. Null: the machine has none.
const FittedNetwork* network_of(const std::vector<FittedNetwork>& networks, const ScoredRow& row) {
  const FittedNetwork* best = nullptr;
  for (const FittedNetwork& network : networks) {
    if (network.machine != row.machine) continue;
    if (network.environment == row.environment) return &network;
    if (best == nullptr || network.rows > best->rows) best = &network;
  }
  return best;
}

std::string family_of(const ScoredRow& row, bool specification) {
  return fmt::format("{}, {} 1 MB{}", row.machine, row.bytes >= kLargeBytes ? "from" : "below",
                     specification ? ", from specification" : "");
}

Calibration start_of(const ScoredRow& row, const std::optional<Calibration>& given) {
  return given ? *given : find_calibration(row.where->calibration);
}

// Describes how far a point lies from the fitted rows.
std::string distance_text(const FittedNetwork& network, const FitDistance& distance) {
  if (network.rows == 0) return "nothing fitted on the machine";
  std::string text;
  const auto add = [&](double octaves, const char* of) {
    if (octaves == 0) return;
    text += fmt::format("{}{:.3g} times the {} fitted", text.empty() ? "" : ", ",
                        std::exp2(octaves), of);
  };
  add(distance.ranks, "ranks");
  add(distance.sizes, "bytes");
  return text.empty() ? "within the fitted range" : text;
}

// Fits each (machine, environment) among the points.
std::vector<FittedNetwork> fit_networks(const std::vector<ScoredRow>& rows,
                                        const std::optional<Calibration>& start, int threads) {
  std::vector<std::vector<ScoredRow>> groups;
  std::map<std::pair<std::string, std::string>, size_t> index_of;
  for (const ScoredRow& row : rows) {
    const auto [at, is_new] = index_of.try_emplace({row.machine, row.environment}, groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(row);
  }
  // Each fit starts from a common fit over all environments of the machine and transport.
  std::map<std::pair<std::string, Transport>, std::vector<size_t>> kin;
  for (size_t i = 0; i < groups.size(); ++i) {
    const ScoredRow& first = groups[i].front();
    kin[{first.machine, first.where->cluster.fabric.transport}].push_back(i);
  }
  std::vector<Calibration> starts(groups.size());
  std::vector<std::vector<size_t>> families;
  for (const auto& [of, members] : kin) families.push_back(members);
  for_each_index(families.size(), threads, [&](size_t f) {
    const ScoredRow& first = groups[families[f].front()].front();
    Calibration calibration = start_of(first, start);
    if (families[f].size() > 1) {
      std::vector<ScoredRow> all;
      for (const size_t i : families[f]) {
        all.insert(all.end(), groups[i].begin(), groups[i].end());
      }
      calibration = shared_start(all, first.where->cluster, calibration);
    }
    for (const size_t i : families[f]) starts[i] = calibration;
  });
  std::vector<FittedNetwork> networks(groups.size());
  for_each_index(groups.size(), threads, [&](size_t i) {
    networks[i] = fit_network(groups[i], groups[i].front().where->cluster, starts[i]);
  });
  return networks;
}

ValidationRow predicted_row(const ScoredRow& row, const FittedNetwork* fitted,
                            const CollectivesOptions& options) {
  FittedNetwork specification;
  if (fitted == nullptr) {
    specification = fit_network({}, row.where->cluster, start_of(row, options.calibration));
    set_release(*row.where, specification.calibration.network);
  }
  const FittedNetwork& network = fitted != nullptr ? *fitted : specification;
  const CollectiveCost cost = collective_cost(row.kind, row.choice, row.where->shape, row.bytes,
                                              row.where->cluster, network.calibration);
  const double seconds =
      fitted == nullptr ? reported_s(row.where->process_gpus, cost.seconds) : cost.seconds;
  const FitDistance distance = distance_of(network, row);
  const TimeFactors factors = interval(network, distance, row);
  ValidationRow found;
  found.id = row.id;
  found.family = family_of(row, fitted == nullptr && !options.calibration);
  found.metric = "time_s";
  found.measured = row.seconds;
  found.predicted = seconds;
  found.low = cost.seconds * factors.low;  // the process that launches is not known
  found.high = seconds * factors.high;
  found.origin = cost.origin;
  found.label = fmt::format("{}, {} {}, {}", label_of(row), to_string(cost.algorithm),
                            to_string(cost.protocol), distance_text(network, distance));
  found.note = row.environment;
  return found;
}

// Counts for each family the points with each assumption.
void count_assumptions(const std::vector<ScoredRow>& rows, CollectivesReport& report) {
  std::map<std::string, std::map<std::string, int>> counts;
  std::map<std::string, std::string> family_of_row;
  for (const ValidationRow& row : report.report.rows) family_of_row[row.id] = row.family;
  for (const ScoredRow& row : rows) {
    auto& family = counts[family_of_row[row.id]];
    for (const std::string& assumed : row.where->assumed) ++family[assumed];
    if (!row.fell_back.empty()) ++family[row.fell_back];
  }
  for (ValidationFamily& family : report.report.families) family.assumed = counts[family.name];
}

}  // namespace

std::string environment_of(const std::string& notes) {
  std::string environment;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && !is_host_name(word)) {
      if (!environment.empty()) environment += ' ';
      environment += word;
    }
    word.clear();
  };
  for (const char c : before_semicolon(notes)) {
    if (c == ' ') {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  return environment;
}

std::string environment_of(const CollectiveRow& row) {
  // Runs of one machine that only differ in forced choices share one law.
  return requested_of(row.notes).empty() ? environment_of(row.notes) : "";
}

std::string label_of(const ScoredRow& row) {
  return fmt::format("{}, {} GPUs on {} node{}, {}", to_string(row.kind), row.gpus, row.nodes,
                     row.nodes == 1 ? "" : "s", format_bytes(row.bytes));
}

std::vector<ScoredRow> scored_rows(const std::vector<const CollectiveRow*>& rows,
                                   const NodeSizes& sizes, std::vector<SkippedRow>& skipped) {
  Machines machines(sizes);
  std::vector<ScoredRow> found;
  std::map<std::string, size_t> index_of;
  for (const CollectiveRow* row : rows) {
    if (!row->unusable.empty()) {
      skipped.push_back({row->id, row->unusable});
      continue;
    }
    const std::string environment = environment_of(*row);
    const std::string key = fmt::format(
        "{}|{}|{}|{}|{}|{}|{}|{}|{:.0f}", row->machine, row->gpu, row->network, environment,
        requested_of(row->notes), static_cast<int>(row->kind), row->gpus, row->nodes, row->bytes);
    if (const auto known = index_of.find(key); known != index_of.end()) {
      found[known->second].samples.push_back(row->seconds);
      found[known->second].labels.push_back(row->notes);
      continue;
    }
    ScoredRow scored;
    try {
      scored.where = machines.of(*row);
    } catch (const Error& error) {
      skipped.push_back({row->id, error.what()});
      continue;
    }
    scored.id = row->id;
    scored.machine = row->machine;
    scored.environment = environment;
    scored.kind = row->kind;
    RunningChoice running = running_choice(row->kind, forced_choice(row->notes), *scored.where);
    scored.choice = running.choice;
    scored.fell_back = std::move(running.fell_back);
    scored.gpus = row->gpus;
    scored.nodes = scored.where->cluster.nodes;
    scored.bytes = row->bytes;
    scored.samples = {row->seconds};
    scored.labels = {row->notes};
    index_of[key] = found.size();
    found.push_back(std::move(scored));
  }
  for (ScoredRow& row : found) row.seconds = median(row.samples);
  return found;
}

CollectivesReport validate_collectives(const std::vector<CollectiveRows>& files,
                                       const CollectivesOptions& options) {
  CollectivesReport out;
  std::vector<const CollectiveRow*> to_fit;
  std::vector<const CollectiveRow*> to_judge;
  for (const auto& row : select_rows(files,
                                     {.where = options.where,
                                     .fit_where = options.fit_where,
                                     .calibrate_on = options.calibrate_on},
                                     out.report.skipped)) {
    (row.fit ? to_fit : to_judge).push_back(row.run);
  }
  if (options.where && to_judge.empty()) throw Error("--where: no row is left to judge");
  NodeSizes sizes;
  for (const std::vector<CollectiveRows>* tables : {&files, &options.calibrate_on}) {
    for (const CollectiveRows& file : *tables) {
      for (const auto& [machine, gpus] : node_sizes(file.rows)) {
        sizes[machine] = std::max(sizes[machine], gpus);
      }
    }
  }
  const std::vector<ScoredRow> fit_rows = scored_rows(to_fit, sizes, out.report.skipped);
  const std::vector<ScoredRow> judged = scored_rows(to_judge, sizes, out.report.skipped);
  if (fit_rows.empty() && (options.fit_where || !options.calibrate_on.empty())) {
    throw Error("none of the rows for the fit can be used");
  }
  out.networks = fit_networks(fit_rows, options.calibration, options.threads);
  const CollectiveBaselines baselines(fit_rows);
  const auto predict_all = [&](const std::vector<ScoredRow>& rows,
                               std::vector<ValidationRow>& into) {
    into.resize(rows.size());
    for_each_index(rows.size(), options.threads, [&](size_t i) {
      into[i] = predicted_row(rows[i], network_of(out.networks, rows[i]), options);
      into[i].baselines = baselines.seconds(rows[i]);
    });
  };
  predict_all(fit_rows, out.report.fitted);
  predict_all(judged, out.report.rows);
  for (const ScoredRow& row : judged) out.measured_rows += static_cast<int>(row.samples.size());
  summarise_families(out.report, {});
  out.summary = summary_of(judged, out.report.rows, out.networks);
  count_assumptions(judged, out);
  return out;
}

namespace {

constexpr double kSmall = 1e6;

// Compares relative errors of our predictions with the plain ring's at the same points.
struct Errors {
  std::vector<double> ours;
  std::vector<double> ring;

  void add(const ValidationRow& row) {
    ours.push_back(row.relative_error());
    ring.push_back(std::abs(row.baselines.at("specification, ring") / row.measured - 1));
  }
  MedianErrors medians() const {
    if (ours.empty()) return {};
    return {static_cast<int>(ours.size()), median(ours), median(ring)};
  }
};

struct BySize {
  Errors all, below, from;

  void add(double bytes, const ValidationRow& row) {
    all.add(row);
    (bytes < kSmall ? below : from).add(row);
  }
};

struct MachineSoFar {
  JudgedMachine machine;
  BySize errors;
  int inside = 0;
};

bool is_in_view(const std::string& machine) {
  return std::ranges::any_of(machines_in_view(),
                             [&](const std::string& word) { return contains_text(machine, word); });
}

}  // namespace

CollectivesSummary summary_of(const std::vector<ScoredRow>& points,
                              const std::vector<ValidationRow>& predictions,
                              const std::vector<FittedNetwork>& networks) {
  std::map<std::string, const ValidationRow*> prediction_of;
  for (const ValidationRow& row : predictions) prediction_of[row.id] = &row;
  std::map<std::string, int> fitted_gpus;
  for (const FittedNetwork& network : networks) {
    int& most = fitted_gpus[network.machine];
    most = std::max(most, network.most_gpus);
  }
  std::vector<MachineSoFar> machines;
  std::map<std::string, size_t> index_of;
  BySize beyond;
  BySize unseen;
  BySize in_view;
  for (const ScoredRow& point : points) {
    const auto found = prediction_of.find(point.id);
    if (found == prediction_of.end()) continue;
    const ValidationRow& row = *found->second;
    const auto [at, is_new] = index_of.try_emplace(point.machine, machines.size());
    if (is_new) machines.emplace_back().machine.name = point.machine;
    MachineSoFar& of = machines[at->second];
    const auto most = fitted_gpus.find(point.machine);
    of.machine.fitted = most != fitted_gpus.end();
    of.machine.in_view = is_in_view(point.machine);
    of.machine.fitted_gpus = of.machine.fitted ? most->second : 0;
    of.machine.gpus = std::max(of.machine.gpus, point.gpus);
    of.machine.rows += static_cast<int>(point.samples.size());
    of.inside += row.measured >= row.low && row.measured <= row.high ? 1 : 0;
    of.errors.add(point.bytes, row);
    if (!of.machine.fitted) (of.machine.in_view ? in_view : unseen).add(point.bytes, row);
    if (of.machine.fitted && point.gpus > of.machine.fitted_gpus) beyond.add(point.bytes, row);
  }
  CollectivesSummary summary;
  for (MachineSoFar& of : machines) {
    of.machine.all = of.errors.all.medians();
    of.machine.below = of.errors.below.medians();
    of.machine.from = of.errors.from.medians();
    of.machine.covered = static_cast<double>(of.inside) / of.machine.all.points;
    summary.machines.push_back(std::move(of.machine));
  }
  summary.beyond_below = beyond.below.medians();
  summary.beyond_from = beyond.from.medians();
  summary.unseen_below = unseen.below.medians();
  summary.unseen_from = unseen.from.medians();
  summary.unseen = unseen.all.medians();
  summary.in_view_below = in_view.below.medians();
  summary.in_view_from = in_view.from.medians();
  return summary;
}

}  // namespace windtunnel
