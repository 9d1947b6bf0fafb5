#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/reliability/failure_process.hpp"
#include "models/reliability/interval_theory.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/faults/fault_campaign.hpp"
#include "validate/accuracy/faults/faults.hpp"

namespace windtunnel {
namespace {

constexpr double kTolerance = 0.01;  // if no input is open
// Tolerance of a mean time between failures. It is large because it rests on few failures.
constexpr double kMeanTolerance = 0.15;

double seconds_per(std::string_view unit) {
  if (unit.starts_with("min")) return 60;
  if (unit.starts_with("h")) return kHour_s;
  if (unit.starts_with("d")) return kDay_s;
  return 1;
}

FaultPrediction named(const FaultPoint& point, const StatedNumber& measured) {
  FaultPrediction result;
  result.id = point.id;
  result.name = point.name;
  result.system = point.system;
  result.metric = point.metric;
  result.measured = measured.low;
  result.at_least = measured.relation == '>';
  return result;
}

void set_value(FaultPrediction& prediction, double value) {
  prediction.predicted = prediction.low = prediction.high = value;
}

void set_range(FaultPrediction& prediction, const PredictedRange& range) {
  prediction.predicted = range.value;
  prediction.low = range.low;
  prediction.high = range.high;
}

void set_inputs(FaultPrediction& prediction, std::vector<FaultInput> inputs) {
  prediction.unpublished = std::move(inputs);
  for (const FaultInput& input : prediction.unpublished) {
    prediction.origin = weakest(prediction.origin, input.origin);
  }
  if (prediction.unpublished.empty()) prediction.tolerance = kTolerance;
}

// --- shares of time

FaultRule formula_of(const FaultPoint& point, const FaultJob& job, const FaultCampaign& at) {
  if (at.elastic.groups > 0) {
    const double groups = at.elastic.groups;
    const double stall_s = at.elastic.stall_s + at.elastic.rejoin_stall_s;
    return {"FT-HSDP cycle",
            cycle_ettr(at.mtbf_s, stall_s, at.elastic.rejoin_s, (groups - 1) / groups)};
  }
  if (contains_text(point.metric, "ETTR")) {
    return {"RSC E[ETTR]",
            rsc_ettr(at.nodes, job.rate_per_node_s, at.restart_s, at.interval_s, at.stall_s)};
  }
  return {"exact, exponential",
          expected_goodput(at.interval_s, at.stall_s, at.mtbf_s, at.restart_s)};
}

// Returns the mean over the sizes that the metric averages.
double over_sizes(const FaultJob& job, const std::vector<double>& values,
                  const std::function<double(const FaultCampaign&)>& of) {
  double sum = 0;
  for (const int size : job.sizes) sum += of(job.at(values, size));
  return sum / static_cast<double>(job.sizes.size());
}

double simulated_goodput(const FaultCampaign& campaign) {
  return simulate(campaign).goodput.mean;
}

PredictedRange simulated_range(FaultJob& job, int threads) {
  const FaultPredictor predict = [&](const std::vector<double>& values) {
    return over_sizes(job, values, simulated_goodput);
  };
  return range_over(job.inputs, predict, threads);
}

// Describes the range under another reading of the row.
std::string other_reading(const FaultPoint& point, const FaultJob& job, int threads) {
  if (job.campaign.elastic.rejoin_stall_s > 0) {
    FaultJob other = job;
    other.campaign.elastic.stall_s += other.campaign.elastic.rejoin_stall_s;
    other.campaign.elastic.rejoin_stall_s = 0;
    const PredictedRange range = simulated_range(other, threads);
    return fmt::format(
        "the stated re-join stall of {:g} s is taken as part of the {:g} s, a reading settled "
        "after "
        "a first prediction; were all of it at the failure, the range would be {:.3f} .. {:.3f}; "
        "the middle of either lies above the source's arithmetic, which has failures at equal "
        "distances, because random ones overlap",
        job.campaign.elastic.rejoin_stall_s, other.campaign.elastic.stall_s, range.low, range.high);
  }
  if (point.lacks("actual interval") && point.interval_s.states()) {
    FaultJob other = with_open_interval(job);
    const PredictedRange range = simulated_range(other, threads);
    return fmt::format(
        "actual intervals are not published; the authors assume the stated one on both sides, so "
        "it is used here; over {:g} .. {:g} s the range would be {:.3f} .. {:.3f}",
        other.inputs.back().low, other.inputs.back().high, range.low, range.high);
  }
  return "";
}

std::string note_of(const FaultJob& job, const std::vector<double>& middle) {
  if (job.sizes.size() > 1) {
    return fmt::format(
        "mean of jobs with {} nodes, {:.3f}, and with {}, {:.3f}; all inputs in the middle of "
        "their ranges",
        job.sizes[0], simulated_goodput(job.at(middle, job.sizes[0])), job.sizes[1],
        simulated_goodput(job.at(middle, job.sizes[1])));
  }
  if (job.most_cost_s > 0) {
    return fmt::format(
        "uses only inputs that together cost at most {:.1f} min per interruption, which is what "
        "the measured bound leaves; so this tests the accounting and is not blind",
        job.most_cost_s / 60);
  }
  return "";
}

std::vector<FaultPrediction> share_of_time(const FaultPoint& point, const FaultContext& context) {
  FaultJob job = fault_job(point);
  FaultPrediction result = named(point, point.measured.value());
  set_range(result, simulated_range(job, context.threads));
  if (job.most_cost_s > 0) {
    const FaultPredictor predict = [&](const std::vector<double>& values) {
      return over_sizes(job, values, simulated_goodput);
    };
    result.unrestricted = {result.predicted, result.low, result.high, 0};
    const FaultConstraint allowed = [&](const std::vector<double>& values) {
      return job.cost_s(values) <= job.most_cost_s;
    };
    set_range(result, range_within(job.inputs, predict, allowed, context.threads));
  }
  std::vector<double> middle;
  for (const FaultInput& input : job.inputs) middle.push_back(input.at(0.5));
  result.formula = formula_of(point, job, job.at(middle, job.sizes[0]));
  result.formula->value = over_sizes(
      job, middle, [&](const FaultCampaign& at) { return formula_of(point, job, at).value; });
  const ElasticGroups& elastic = job.campaign.elastic;
  const double pause_s = elastic.stall_s + elastic.rejoin_stall_s;
  result.baseline = {"1 - rate x restart", over_sizes(job, middle, [&](const FaultCampaign& at) {
                       return std::max(0.0, 1 - (at.restart_s + pause_s) / at.mtbf_s);
                     })};
  result.note = note_of(job, middle);
  const std::string other = other_reading(point, job, context.threads);
  if (!other.empty()) result.note += (result.note.empty() ? "" : "; ") + other;
  set_inputs(result, job.inputs);
  return {result};
}

// --- rates

FaultPrediction mean_time(const FaultPoint& point, double rate_per_node_s) {
  const StatedNumber& measured = point.measured.value();
  FaultPrediction result = named(point, measured);
  result.unit = "h";
  result.measured *= seconds_per(measured.after) / kHour_s;
  if (!point.nodes.states()) throw Error("the number of nodes is not published");
  FailureClass failure_class;
  failure_class.rate_per_node_s = rate_per_node_s;
  const int nodes = static_cast<int>(point.nodes.value().low);
  set_value(result, 1 / job_rate_per_s(failure_class, nodes) / kHour_s);
  result.tolerance = kMeanTolerance;
  return result;
}

std::vector<FaultPrediction> mttf(const FaultPoint& point, const FaultContext& context) {
  const std::vector<PublishedMean> means = published_means(context.points, point, point.metric);
  if (means.empty()) throw Error("no mean time between failures is published");
  FaultPrediction result = mean_time(point, fitted_rate_per_node_s(means));
  result.note = fmt::format(
      "one rate per node for all causes, fitted on {} rows including this one", means.size());
  return {result};
}

std::vector<FaultPrediction> projected_mttf(const FaultPoint& point, const FaultContext&) {
  const StatedNumber* rate = point.other_inputs.with("r_f");
  if (rate == nullptr) throw Error("the projected rate is not published");
  FaultPrediction result = mean_time(point, rate->low / kDay_s);
  result.note = "only failures of the infrastructure, at the stated rate per node";
  return {result};
}

// Predicts failures per node and day, over the stated observation or over a number of mean gaps.
std::vector<FaultPrediction> rate(const FaultPoint& point, const FaultContext& context) {
  FaultPrediction result = named(point, point.measured.value());
  result.unit = "per node-day";
  if (!point.nodes.states() || !point.interruptions.states()) {
    throw Error("the number of nodes or of interruptions is not published");
  }
  const double count = point.interruptions.value().low;
  const double nodes = point.nodes.value().low;
  std::vector<FaultInput> inputs;
  if (!point.days.states()) {
    if (!point.mtti_h.states()) throw Error("neither days nor a mean time is published");
    const double mean_h = point.mtti_h.value().low;
    // The printed mean is off by up to half a unit of its last digit, as of "2.6".
    const size_t dot = point.mtti_h.text.find('.');
    const size_t digits = dot == std::string::npos ? 0 : point.mtti_h.text.size() - dot - 1;
    const double half_h = 0.5 * std::pow(10, -static_cast<double>(digits));
    inputs = {{"observation length", "d", (count - 1) * (mean_h - half_h) / 24,
               (count + 1) * (mean_h + half_h) / 24,
               "the number of mean gaps, plus or minus one, with the stated mean as it is rounded",
               Origin::published, -1}};
  }
  const FaultPredictor predict = [&](const std::vector<double>& values) {
    return count / nodes / (values.empty() ? point.days.value().low : values[0]);
  };
  set_range(result, range_over(inputs, predict, context.threads));
  set_inputs(result, inputs);
  if (contains_text(point.metric, "per 1000")) {
    result.unit = "per 1000 node-days";
    result.metric = "faults per 1000 node-days";
    for (double* value : {&result.predicted, &result.low, &result.high}) *value *= 1000;
    result.note = "the mean number of nodes down needs repair times, which the row does not state";
  }
  return {result};
}

// --- saves

double transfer_s(const FaultPoint& point) {
  const bool bytes = point.checkpoint_bytes.states();
  const bool bandwidth = point.storage_Bps.states();
  if (!bytes || !bandwidth) {
    throw Error(fmt::format("{} not published", bytes       ? "storage bandwidth"
                                                : bandwidth ? "checkpoint bytes"
                                                            : "checkpoint bytes and storage "
                                                              "bandwidth"));
  }
  const double bandwidth_Bps = point.storage_Bps.value().low;
  if (!(bandwidth_Bps > 0)) throw Error("the storage bandwidth is 0");
  return point.checkpoint_bytes.value().low / bandwidth_Bps;
}

std::vector<FaultPrediction> blocking_time(const FaultPoint& point, const FaultContext&) {
  const StatedNumber& measured = point.measured.value();
  FaultPrediction result = named(point, measured);
  result.unit = "s";
  result.measured *= seconds_per(measured.after);
  set_value(result, transfer_s(point));
  result.note =
      "the synchronous save takes bytes / bandwidth; how long the asynchronous one still blocks is "
      "an input of the row";
  set_inputs(result, {});
  return {result};
}

// Predicts the time of a save, which is the second of the measured numbers.
std::vector<FaultPrediction> save_time(const FaultPoint& point, const FaultContext&) {
  const std::vector<StatedNumber>& numbers = point.measured.numbers;
  const double save_s = transfer_s(point);
  if (numbers.size() < 2) throw Error("the time of the save is not among the measured ones");
  FaultPrediction result = named(point, numbers[1]);
  result.unit = "s";
  set_value(result, save_s);
  set_inputs(result, {});
  return {result};
}

// Saves follow each other without a pause, so the interval is the duration of one.
std::vector<FaultPrediction> wasted_time(const FaultPoint& point, const FaultContext&) {
  // Failures are this many saves apart, so that each costs its waste alone.
  constexpr double kRare = 1000;
  const StatedNumber& measured = point.measured.value();
  FaultPrediction result = named(point, measured);
  result.unit = "min";
  result.measured *= seconds_per(measured.after) / 60;
  const double save_s = transfer_s(point);
  FaultCampaign campaign;
  campaign.mtbf_s = kRare * save_s;
  campaign.interval_s = save_s;
  campaign.save_s = save_s;
  campaign.restart_s = save_s;
  set_value(result, simulated_loss_per_failure_s(campaign) / 60);
  result.formula = {"GEMINI wasted time", gemini_wasted_s(save_s, save_s, save_s) / 60};
  result.baseline = {"half an interval", save_s / 2 / 60};
  result.note = "failures are so far apart that their costs do not overlap";
  set_inputs(result, {});
  return {result};
}

// --- injected failures

std::vector<FaultPrediction> committed_steps(const FaultPoint& point, const FaultContext& context) {
  const std::vector<StatedNumber>& gaps = point.interruptions.numbers;
  const std::vector<StatedNumber>& shares = point.measured.numbers;
  if (!contains_text(point.interruptions.text, "injected") || gaps.empty()) {
    throw Error("the distance of injected failures is not published");
  }
  std::vector<FaultPrediction> results;
  for (size_t i = 0; i < shares.size(); ++i) {
    // In "0.823 at 60 s; 0.302 at 15 s" each gap follows its share.
    if (i % 2 == 1 || i + 1 >= shares.size()) continue;
    const double gap_s = shares[i + 1].low * seconds_per(shares[i + 1].after);
    if (!(gap_s > 0)) throw Error("failures are injected without any distance");
    FaultPrediction result = named(point, shares[i]);
    result.name += fmt::format(" {:g} s", gap_s);
    std::vector<FaultInput> inputs = quorum_inputs();
    const FaultPredictor predict = [&](const std::vector<double>& values) {
      FaultCampaign campaign;
      campaign.mtbf_s = gap_s;
      campaign.regular = true;
      campaign.interval_s = values[0];
      campaign.iterations_per_save = 1;
      campaign.restart_s = values[1];
      return simulated_goodput(campaign);
    };
    set_range(result, range_over(inputs, predict, context.threads));
    const double cost_s = inputs[0].at(0.5) / 2 + inputs[1].at(0.5);
    result.formula = {"1 - rate x (stall + half a step)", std::max(0.0, 1 - cost_s / gap_s)};
    const size_t other = shares.size() > 2 ? (i + 2) % shares.size() : i;
    if (other != i) {
      const double other_s = shares[other + 1].low * seconds_per(shares[other + 1].after);
      result.baseline = {"cost per failure of the other point",
                         1 - (1 - shares[other].low) * other_s / gap_s};
    }
    set_inputs(result, inputs);
    results.push_back(result);
  }
  if (results.empty()) throw Error("it is not published which share belongs to which distance");
  return results;
}

// --- the table

struct Metric {
  std::string_view name;  // part of the row's metric; the first match counts
  std::vector<FaultPrediction> (*predict)(const FaultPoint&, const FaultContext&);
  const char* why_not;  // if the metric cannot be predicted
};

constexpr std::array<Metric, 19> kMetrics = {{
    {"effective training time", share_of_time, nullptr},
    {"ETTR", share_of_time, nullptr},
    {"useful compute / elapsed", share_of_time, nullptr},
    {"goodput", share_of_time, nullptr},
    {"projected MTTF", projected_mttf, nullptr},
    {"MTTF", mttf, nullptr},
    {"MTBF", mttf, nullptr},
    {"MTTI", mttf, nullptr},
    {"daily failure rate", nullptr,
     "the stated rate is the measured value itself, so nothing can be tested"},
    {"faults per 1000 node-days", rate, nullptr},
    {"rate", rate, nullptr},
    {"average wasted time per failure", wasted_time, nullptr},
    {"blocking time", blocking_time, nullptr},
    {"stall/save/load", save_time, nullptr},
    {"committed steps", committed_steps, nullptr},
    {"recovery time", nullptr,
     "its parts (detection, scheduling, communicators, bytes to load) are not published, and "
     "restart_s is the measured value itself"},
    {"iteration-time overhead", nullptr, "checkpoint bytes not published"},
    {"load time", nullptr,
     "checkpoint bytes not published, and restart_s is the measured value itself"},
    {"downtime share", nullptr,
     "days observed, and detection and restart times before and after, are not published"},
}};

// Predicts a metric whose name is not in the table: a plain share can only be a share of time.
std::vector<FaultPrediction> unnamed_metric(const FaultPoint& point, const FaultContext& context) {
  const StatedNumber& measured = point.measured.value();
  const bool plain = measured.after.empty() && measured.before.empty();
  if (!plain || !(measured.low > 0) || measured.high > 1) {
    std::vector<std::string_view> known;
    for (const Metric& metric : kMetrics) known.push_back(metric.name);
    throw Error(
        fmt::format("there is no model of the metric '{}'; there are models of {}; a share of "
                    "useful time, such as 0.93, is predicted under any name",
                    point.metric, fmt::join(known, ", ")));
  }
  std::vector<FaultPrediction> results;
  try {
    results = share_of_time(point, context);
  } catch (const Error& error) {
    throw Error(
        fmt::format("there is no model of the metric '{}', and as a share of useful time it cannot "
                    "be predicted: {}",
                    point.metric, error.what()));
  }
  for (FaultPrediction& result : results) {
    result.note += fmt::format("{}'{}' is assumed to be the share of useful time",
                               result.note.empty() ? "" : "; ", point.metric);
  }
  return results;
}

}  // namespace

std::vector<FaultPrediction> predict_fault_point(const FaultPoint& point,
                                                 const FaultContext& context) {
  for (const Metric& metric : kMetrics) {
    if (!contains_text(point.metric, metric.name)) continue;
    if (metric.predict == nullptr) throw Error(metric.why_not);
    return metric.predict(point, context);
  }
  return unnamed_metric(point, context);
}

}  // namespace windtunnel
