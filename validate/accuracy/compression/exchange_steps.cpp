#include "validate/accuracy/compression/exchange_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "validate/accuracy/rows/row_filter.hpp"

namespace windtunnel {
namespace {

bool is_served(const StepRow& row) {
  return row.job.communication.aggregation == Aggregation::parameter_server;
}

bool is_suspect(const ExchangeSource& source, const ExchangeMethod& method,
                const CompressionRun& run) {
  return !source.suspect_methods.empty() && run.network.starts_with(source.suspect_network) &&
         std::ranges::count(source.suspect_methods, method.name) > 0;
}

// ---- Converting rows to jobs.

// Whether the row is only a step on one GPU, from which others are predicted.
bool is_alone(const ExchangeSource& source, const CompressionRun& run) {
  if (!source.alone.empty()) return run.method == source.alone;
  const ExchangeMethod* method = method_of(source, run);
  return source.law && run.gpus == 1 && method != nullptr && method->refused.empty();
}

std::map<std::string, double> times_alone(const ExchangeSource& source,
                                          const std::vector<SelectedExchange>& rows) {
  std::map<std::string, double> alone_s;
  for (const SelectedExchange& row : rows) {
    if (!row.run->step_s || !is_alone(source, *row.run)) continue;
    alone_s[alone_key(*row.run)] = *row.run->step_s;
  }
  return alone_s;
}

double alone_s_of(const ExchangeSource& source, const CompressionRun& run,
                  const std::map<std::string, double>& alone_s) {
  if (source.borrowed && run.compute_s) return *run.compute_s;
  const auto known = alone_s.find(alone_key(run));
  if (known == alone_s.end()) {
    throw Error(fmt::format("no row states the time of {} on one GPU", run.model));
  }
  return known->second;
}

StepRow make_row(const ExchangeSource& source, const CompressionRun& run,
                 const std::map<std::string, double>& alone_s) {
  StepRow row;
  row.run = &run;
  row.method = method_of(source, run);
  if (row.method == nullptr) {
    throw Error(fmt::format("unknown method of exchange '{}'", run.method));
  }
  if (!row.method->refused.empty()) throw Error(row.method->refused);
  if (is_alone(source, run)) throw Error("the step on one GPU with which its series begins");
  if (!run.step_s) throw Error("no time is stated");
  row.alone_s = alone_s_of(source, run, alone_s);
  row.job = job_of(source, *row.method, run);
  row.network = run.network;
  row.tcp = cluster_of(source, run).tcp;
  row.suspect = is_suspect(source, *row.method, run);
  set_alone_s(row.job, row.alone_s);
  row.prepared = prepare_iteration(row.job);
  return row;
}

// ---- Rows to judge.

std::string family_of(const ExchangeSource& source, const StepRow& row) {
  const std::string& gpu = row.run->gpu_type;
  return fmt::format(fmt::runtime(source.family), fmt::arg("method", row.method->name),
                     fmt::arg("gpu", gpu.substr(0, gpu.find(' '))));
}

// Returns what simpler rules predict for a step.
std::map<std::string, double> baselines_of(const ExchangeSource& source, const StepRow& row) {
  if (source.borrowed) return {{"no communication", row.alone_s}};
  const double ranks = row.run->gpus;
  const double bytes = 4 * exchange_parameters(row.job);
  const NodeSpec& node = row.job.cluster.node;
  const double link_Bps = row.job.cluster.nodes > 1 ? node.nic_Bps.value : node.pcie_Bps.value;
  const double ring_s = 2 * (ranks - 1) / ranks * bytes / link_Bps;
  return {{"no communication", row.alone_s},
          {"perfect overlap", std::max(row.alone_s, ring_s)},
          {"ring at nominal bandwidth", row.alone_s + ring_s}};
}

ValidationRow validation_row(const ExchangeSource& source, StepRow& row, const FittedLaw& law) {
  const CompressionRun& run = *row.run;
  ValidationRow result;
  result.id = run.id;
  const std::string_view doubt = row.suspect ? "suspect" : run.recalled ? "recalled" : "";
  result.family = family_of(source, row);
  if (!doubt.empty()) result.family = fmt::format("{}: {}", doubt, result.family);
  result.measured = *run.step_s;
  result.predicted = predicted_s(row, law);
  const double unseen = law.unseen_at(stage_of(*law.rules, row.job));
  if (law.rules->growth) {
    result.metric = "step_over_one_gpu";
    result.measured /= row.alone_s;
    result.predicted /= row.alone_s;
    result.low = result.predicted - unseen;
    result.high = result.predicted + unseen;
    result.baselines = {{"no growth", 1}};
  } else {
    result.metric = !doubt.empty()    ? fmt::format("{}_step_s", doubt)
                    : source.borrowed ? "inferred_step_s"
                                      : "step_s";
    result.low = result.predicted / std::exp(unseen);
    result.high = result.predicted * std::exp(unseen);
    result.baselines = baselines_of(source, row);
  }
  result.origin = source.borrowed ? Origin::assumed : Origin::published;
  if (source.compared) {
    result.group = fmt::format("{}, {}, {} GPUs", run.model, run.network, run.gpus);
    result.configuration = row.method->name;
    result.label = fmt::format("{}, {}", result.group, row.method->name);
  } else {
    result.label = fmt::format("{}, {} GPUs, {}", run.model, run.gpus, run.method);
    if (!run.batch) result.label += fmt::format(", batch of {} assumed", source.batch);
  }
  result.note = run.note;
  return result;
}

// ---- Notes on families.

double mape(const std::vector<const ValidationRow*>& rows) {
  double sum = 0;
  for (const ValidationRow* row : rows) sum += row->relative_error();
  return sum / static_cast<double>(std::max<size_t>(rows.size(), 1));
}

// Notes the error over judged and fitted rows together, for families that have both.
void note_fitted(JudgedExchanges& steps) {
  std::map<std::string, std::vector<const ValidationRow*>> families;
  for (const ValidationRow& row : steps.fitted) families[row.family].push_back(&row);
  for (auto& [family, all] : families) {
    const size_t fitted = all.size();
    for (const ValidationRow& row : steps.judged) {
      if (row.family == family) all.push_back(&row);
    }
    steps.notes[family] = fmt::format("with the {} rows on which the law was fitted: MAPE {:.1f} %",
                                      fitted, 100 * mape(all));
  }
}

// Counts growths with an error above a bound, with and without the effect of rounding in both
// times.
struct Misses {
  static constexpr double kBound = 0.015;
  static constexpr double kPrinted_s = 1e-3;  // the last digit that sources print
  int rows = 0;
  int off = 0;
  int off_beyond_rounding = 0;
  double most_rounding = 0;

  void add(const ValidationRow& row, double alone_s) {
    const double error = std::abs(row.predicted - row.measured);
    const double rounding = kPrinted_s / 2 / alone_s * (1 + row.measured);
    ++rows;
    off += error > kBound ? 1 : 0;
    off_beyond_rounding += error > kBound + rounding ? 1 : 0;
    most_rounding = std::max(most_rounding, rounding);
  }
  std::string text() const {
    return fmt::format(
        "{} of {} rows are off by more than {:.1f} points, and {} by more than that plus the "
        "rounding of both times to a millisecond (up to {:.1f} points)",
        off, rows, 100 * kBound, off_beyond_rounding, 100 * most_rounding);
  }
};

// ---- The order of methods.

struct Alternative {
  const ValidationRow* row = nullptr;
  bool judged = false;
  bool served = false;
};
using Alternatives = std::map<std::string, std::vector<Alternative>>;  // by group

// Counts two exchanges of one job if their times differ enough.
void count_pair(const std::string& name, const ValidationRow& one, const ValidationRow& other,
                PairOrder& order) {
  constexpr double kApart = 0.05;
  const bool first = one.measured < other.measured;
  const ValidationRow& fast = first ? one : other;
  const ValidationRow& slow = first ? other : one;
  if (slow.measured <= fast.measured * (1 + kApart)) return;
  ++order.pairs;
  if (fast.predicted < slow.predicted) {
    ++order.right;
    return;
  }
  order.wrong.push_back(fmt::format("{}: {} is faster than {} by {:.0f} %, predicted {:.0f} %",
                                    name, fast.configuration, slow.configuration,
                                    100 * (slow.measured / fast.measured - 1),
                                    100 * (slow.predicted / fast.predicted - 1)));
}

PairOrder order_of(const Alternatives& groups, bool with_servers) {
  PairOrder order;
  for (const auto& [name, all] : groups) {
    std::vector<Alternative> group = all;
    if (!with_servers) std::erase_if(group, [](const Alternative& each) { return each.served; });
    for (size_t i = 0; i < group.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (group[i].judged || group[j].judged) {
          count_pair(name, *group[i].row, *group[j].row, order);
        }
      }
    }
  }
  return order;
}

// Judged rows come first in each group; doubtful rows are left out.
Alternatives alternatives_of(const JudgedExchanges& steps, const std::vector<StepRow>& rows) {
  std::map<std::string_view, const StepRow*> by_id;
  for (const StepRow& row : rows) by_id[row.run->id] = &row;
  Alternatives groups;
  for (const bool judged : {true, false}) {
    for (const ValidationRow& row : judged ? steps.judged : steps.fitted) {
      const StepRow& of = *by_id.at(row.id);
      if (!of.suspect && !of.run->recalled) {
        groups[row.group].push_back({&row, judged, is_served(of)});
      }
    }
  }
  return groups;
}

// ---- One source.

std::vector<StepRow> rows_of(const ExchangeSource& source,
                             const std::vector<SelectedExchange>& selected, bool chosen,
                             const std::map<std::string, double>& alone_s,
                             std::vector<SkippedRow>& skipped) {
  std::vector<StepRow> rows;
  for (const SelectedExchange& each : selected) {
    const CompressionRun& run = *each.run;
    if (run.method == source.alone) continue;
    try {
      rows.push_back(make_row(source, run, alone_s));
    } catch (const Error& error) {
      skipped.push_back({run.id, error.what()});
      continue;
    }
    if (!source.law) continue;
    const bool fit = source.law->chosen && chosen
                         ? each.fit
                         : is_among(source.law->fit_on, *each.table, run.table_row);
    rows.back().fit = fit && !rows.back().suspect;
  }
  return rows;
}

// Returns the source's own law, or the borrowed one; null if no row determines it.
const FittedLaw* law_of(const ExchangeSource& source, std::vector<StepRow>& rows, int threads,
                        std::map<std::string, double> alone_s, FittedLaws& laws) {
  if (source.borrowed) {
    const auto known = laws.find(source.borrowed->of);
    if (known == laws.end()) return nullptr;
    const std::string* network = known->second.network_named(source.borrowed->network);
    if (network == nullptr) return nullptr;
    for (StepRow& row : rows) row.network = *network;
    return &known->second;
  }
  const auto tells = [&](const StepRow& row) {
    return row.fit && !row.method->hooks && stage_of(*source.law, row.job) == 0;
  };
  if (std::ranges::none_of(rows, tells)) return nullptr;
  FittedLaw& law = laws[source.name] = fitted_law(*source.law, rows, threads);
  law.alone_s = std::move(alone_s);
  return &law;
}

void judge(const ExchangeSource& source, std::vector<StepRow>& rows, const FittedLaw& law,
           JudgedExchanges& steps) {
  std::map<std::string, Misses> misses;
  for (StepRow& row : rows) {
    ValidationRow judged = validation_row(source, row, law);
    if (law.rules->growth && !row.fit) misses[judged.family].add(judged, row.alone_s);
    (row.fit ? steps.fitted : steps.judged).push_back(std::move(judged));
  }
  for (const auto& [family, missed] : misses) steps.notes[family] = missed.text();
  if (!law.rules->growth) note_fitted(steps);
}

}  // namespace

JudgedExchanges validate_steps(const ExchangeSource& source,
                               const std::vector<SelectedExchange>& selected, bool chosen,
                               int threads, FittedLaws& laws) {
  JudgedExchanges steps;
  std::map<std::string, double> alone_s = times_alone(source, selected);
  if (source.borrowed && laws.contains(source.borrowed->of)) {
    alone_s = laws.at(source.borrowed->of).alone_s;
  }
  std::vector<StepRow> rows = rows_of(source, selected, chosen, alone_s, steps.skipped);
  const FittedLaw* law = law_of(source, rows, threads, std::move(alone_s), laws);
  if (law == nullptr && source.law && source.law->chosen && !selected.empty()) {
    throw Error(
        fmt::format("no row of {} with a method without servers and hooks is left for the fit; "
                    "choose others with --fit-where, or files with --calibrate-on",
                    source.begins));
  }
  if (law == nullptr) {
    const std::string reason =
        source.borrowed
            ? std::string("there are no rows of its cluster on which the links can be fitted")
            : fmt::format("needs rows for the fit, {}", source.law->fit_on.front().where);
    for (const StepRow& row : rows) steps.skipped.push_back({row.run->id, reason});
    return steps;
  }
  judge(source, rows, *law, steps);
  if (source.law) steps.laws = {law->text()};
  if (source.compared) {
    const Alternatives groups = alternatives_of(steps, rows);
    steps.order = order_of(groups, true);
    steps.all_reduce_order = order_of(groups, false);
  }
  return steps;
}

}  // namespace windtunnel
