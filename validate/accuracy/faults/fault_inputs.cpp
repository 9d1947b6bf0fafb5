#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/faults/fault_campaign.hpp"

namespace windtunnel {
namespace {

constexpr double kMostNodes = 1e7;
// CheckFreq (Mohan et al., FAST 2021) saves as often as possible at this share of the time.
constexpr double kMostStallShare = 0.035;
// A secondary source that says "about 2 min" has this relative uncertainty.
constexpr double kAbout = 0.5;

struct KnownRange {
  FaultKnob knob;
  FaultInput input;
};

// Gives ranges for inputs that a source leaves out. The ends come from other systems of similar
// size and age; none was changed after a prediction.
const std::vector<KnownRange>& known_ranges() {
  using enum Origin;
  static const std::vector<KnownRange> ranges = {
      {&FaultCampaign::interval_s,
       {"checkpoint interval", "s", 120, 3600,
        "2 min (100K GPUs) to 1 h (RSC-1 jobs), both arXiv:2410.21680; not above the mean time "
        "between failures, beyond which most segments never end",
        published, 0}},
      {&FaultCampaign::stall_s,
       {"blocking time of a save", "s", 0, 50,
        "about 0 (arXiv:2410.21680) to 50 s (PyTorch DCP, synchronous, 512 H100), at most 3.5 % of "
        "the interval (CheckFreq's bound, FAST 2021)",
        published, -1}},
      {&FaultCampaign::save_s,
       {"time until a save is complete", "s", 0, 51.06,
        "at once to the 51.06 s of a 405B model on 8,960 GPUs (arXiv:2407.20143, table 8)",
        published, -1}},
      {&FaultCampaign::restart_s,
       {"restart time", "s", 150, 1200,
        "150 s (4,800 devices, arXiv:2509.03047) to 20 min (arXiv:2410.21680's slowest)", published,
        -1}},
      {&FaultCampaign::gap_shape,
       {"shape of the gaps between failures", "", 0.62, 1,
        "Weibull 0.62 (InfiniteHBD-Trace, 400 servers) to exponential", published, 0}},
      {&FaultCampaign::repair_s,
       {"repair time of a node", "s", 15 * kHour_s, 5.5 * kDay_s,
        "median to mean repair of InfiniteHBD-Trace", published, -1}},
      {&FaultCampaign::divergence_share,
       {"share of restarts due to instability", "", 0, 0.61,
        "none to all but the 35 manual restarts that the paper blames on hardware, of 90 "
        "(arXiv:2205.01068, section 2.5)",
        published, -1}},
      {&FaultCampaign::notice_s,
       {"time until a divergence is noticed", "s", 0, 8 * kHour_s,
        "from at once to a night in which nobody looks", assumed, -1}},
      {&FaultCampaign::iteration_s,
       {"iteration time", "s", 6, 62,
        "6 s (16 M tokens of Llama 3 405B on 16,384 GPUs at 400 TFLOP/s each, arXiv:2407.21783) to "
        "62 s (GPT-2 100B on 128 A100, GEMINI, SOSP 2023, from memory)",
        assumed, -1}},
  };
  return ranges;
}

FaultInput known_range(FaultKnob knob) {
  for (const KnownRange& known : known_ranges()) {
    if (known.knob == knob) return known.input;
  }
  CHECK(false, "no range for an input");
  return {};
}

void add_unpublished(FaultJob& job, FaultKnob knob, FaultInput input) {
  job.campaign.*knob = input.at(0.5);
  job.knobs.push_back(knob);
  job.inputs.push_back(std::move(input));
}

// Adds what the row states (a number, about a number, a range, or several cases), else the table's
// range.
void add(FaultJob& job, FaultKnob knob, const StatedCell& cell) {
  FaultInput input = known_range(knob);
  if (!cell.states()) {
    add_unpublished(job, knob, std::move(input));
    return;
  }
  input.low = cell.numbers.front().low;
  input.high = input.low;
  for (const StatedNumber& number : cell.numbers) {
    input.low = std::min(input.low, number.low);
    input.high = std::max(input.high, number.high);
  }
  input.stated = true;
  input.origin = Origin::published;
  input.why = fmt::format("stated as '{}'", cell.text);
  if (cell.numbers.front().relation == '~' && input.low == input.high && input.low > 0) {
    input.stated = false;
    input.origin = Origin::assumed;
    input.why += ", second hand: half to one and a half times that";
    input.high = (1 + kAbout) * input.low;
    input.low *= 1 - kAbout;
  }
  if (input.low == input.high) {
    job.campaign.*knob = input.low;
  } else {
    add_unpublished(job, knob, std::move(input));
  }
}

// Parses "180 stall, then 420 at 11/12": after a stall of 180 s, one of twelve groups is out for
// 420 s.
bool add_elastic(FaultJob& job, const StatedCell& restart, const StatedCell& other) {
  const StatedNumber* stall = restart.with("stall");
  if (stall == nullptr) return false;
  const std::vector<StatedNumber>& numbers = restart.numbers;
  if (numbers.size() != 4 || numbers[2].low + 1 != numbers[3].low) {
    throw Error(fmt::format("restart_s '{}' does not say how many groups go on", restart.text));
  }
  job.campaign.elastic.groups = static_cast<int>(numbers[3].low);
  job.campaign.elastic.stall_s = stall->low;
  job.campaign.elastic.rejoin_s = numbers[1].low;
  // The row's arithmetic counts one stall per failure, which includes the stated stall of the
  // re-join.
  if (const StatedNumber* rejoin = other.with("re-join stall")) {
    job.campaign.elastic.rejoin_stall_s = std::min(rejoin->low, stall->low);
    job.campaign.elastic.stall_s -= job.campaign.elastic.rejoin_stall_s;
  }
  return true;
}

void add_restart(FaultJob& job, const FaultPoint& point) {
  if (point.restart_s.states() || point.restart_s.text.empty()) {
    add(job, &FaultCampaign::restart_s, point.restart_s);
    return;
  }
  if (point.restart_s.text != "hours") {
    throw Error(fmt::format("restart time '{}' is not a number", point.restart_s.text));
  }
  FaultInput input = known_range(&FaultCampaign::restart_s);
  input.low = 4080;
  input.high = 8 * kHour_s;
  input.why = "stated as 'hours': 68 min (mean manual restart, arXiv:2401.00134) to 8 h (a night)";
  input.origin = Origin::assumed;
  add_unpublished(job, &FaultCampaign::restart_s, std::move(input));
}

// Sets the failure rate from the first of these that the row states: a rate per node, counts and
// days, a mean time.
void set_rate(FaultJob& job, const FaultPoint& point) {
  const double nodes = job.campaign.nodes;
  const StatedNumber* rate = point.interruptions.with("r_f");
  const StatedNumber* unexpected = point.interruptions.with("unexpected");
  if (rate != nullptr) {
    job.rate_per_node_s = rate->low / kDay_s;
  } else if (point.days.states() && point.interruptions.states()) {
    job.campaign.length_s = point.days.value().low * kDay_s;
    const double count = unexpected != nullptr ? unexpected->low : point.interruptions.value().low;
    job.rate_per_node_s = count / job.campaign.length_s / nodes;
  } else if (point.mtti_h.states()) {
    job.rate_per_node_s = 1 / (point.mtti_h.value().low * kHour_s) / nodes;
  } else {
    throw Error("the failure rate is not published");
  }
  job.campaign.mtbf_s = 1 / (job.rate_per_node_s * nodes);
  if (!std::isnormal(job.campaign.mtbf_s)) throw Error("the published failure rate is zero");
  const StatedNumber* planned = point.interruptions.with("planned");
  if (planned != nullptr && job.campaign.length_s > 0) {
    job.campaign.planned_per_s = planned->low / job.campaign.length_s;
  }
}

void add_spares(FaultJob& job, const FaultPoint& point) {
  if (!point.lacks("spare")) return;
  FaultInput spares{"spare nodes",
                    "",
                    std::ceil(job.campaign.nodes / 16.0),
                    job.campaign.nodes / 2.0,
                    "a sixteenth of the job's nodes to half of them (Llama 3: 16K of 24K GPUs)",
                    Origin::assumed,
                    1};
  add_unpublished(job, &FaultCampaign::spares, std::move(spares));
  add_unpublished(job, &FaultCampaign::repair_s, known_range(&FaultCampaign::repair_s));
}

// Sets the bound from a goodput above x: after all interruptions, the share x of the time must be
// left.
void set_bound(FaultJob& job, const FaultPoint& point) {
  const StatedNumber& measured = point.measured.value();
  if (measured.relation != '>' || job.campaign.length_s == 0) return;
  const double per_s = 1 / job.campaign.mtbf_s + job.campaign.planned_per_s;
  job.gap_s = 1 / per_s;
  job.most_cost_s = (1 - measured.low) * job.gap_s;
}

// The interval is the last input.
void cap_interval(FaultJob& job) {
  FaultInput& interval = job.inputs.back();
  interval.high = std::max(interval.low, std::min(interval.high, job.campaign.mtbf_s));
}

void add_inputs(FaultJob& job, const FaultPoint& point) {
  // An expected ETTR comes from a formula, so inputs that the formula lacks do not affect it.
  const bool by_formula = contains_text(point.metric, "expected ETTR");
  const bool average = contains_text(point.metric, "average ETTR");
  if (add_elastic(job, point.restart_s, point.other_inputs)) {
    add(job, &FaultCampaign::iteration_s, {});
  } else {
    if (point.interval_s.with("it") != nullptr) {
      throw Error("the interval is stated in iterations, whose time is not published");
    }
    add(job, &FaultCampaign::interval_s, point.interval_s);
    if (!point.interval_s.states()) cap_interval(job);
    add(job, &FaultCampaign::stall_s, point.block_s);
    if (!point.block_s.states() && !by_formula && !average) add(job, &FaultCampaign::save_s, {});
    add_restart(job, point);
    add_spares(job, point);
    if (point.lacks("instability")) {
      add(job, &FaultCampaign::divergence_share, {});
      add(job, &FaultCampaign::notice_s, {});
    }
  }
  if (!by_formula) add(job, &FaultCampaign::gap_shape, {});
}

}  // namespace

FaultCampaign FaultJob::at(const std::vector<double>& values, int size) const {
  FaultCampaign result = campaign;
  bool stall_is_open = false;
  for (size_t i = 0; i < knobs.size(); ++i) {
    result.*knobs[i] = values[i];
    stall_is_open |= knobs[i] == &FaultCampaign::stall_s && !inputs[i].stated;
  }
  if (stall_is_open) {
    result.stall_s = std::min(result.stall_s, kMostStallShare * result.interval_s);
  }
  result.nodes = size;
  result.mtbf_s = 1 / (rate_per_node_s * size);
  return result;
}

double FaultJob::cost_s(const std::vector<double>& values) const {
  const FaultCampaign costs = at(values, campaign.nodes);
  const double saving_s = costs.stall_s * gap_s / costs.interval_s;
  return costs.restart_s + costs.interval_s / 2 + std::max(costs.save_s, costs.stall_s) + saving_s;
}

FaultJob fault_job(const FaultPoint& point) {
  FaultJob job;
  if (!point.nodes.states()) throw Error("the number of nodes is not published");
  const StatedNumber& nodes = point.nodes.value();
  if (nodes.low < 1 || nodes.high > kMostNodes) {
    throw Error(fmt::format("'{}' is not a number of nodes", point.nodes.text));
  }
  job.campaign.nodes = static_cast<int>(nodes.low);
  job.sizes = {job.campaign.nodes};
  if (nodes.high > nodes.low) job.sizes.push_back(static_cast<int>(nodes.high));
  set_rate(job, point);
  add_inputs(job, point);
  if (job.campaign.elastic.groups == 0 && !(job.campaign.interval_s > 0)) {
    throw Error(fmt::format("'{}' is not an interval", point.interval_s.text));
  }
  set_bound(job, point);
  return job;
}

FaultJob with_open_interval(FaultJob job) {
  add(job, &FaultCampaign::interval_s, {});
  cap_interval(job);
  return job;
}

std::vector<FaultInput> quorum_inputs() {
  return {{"step time", "s", 1, 10, "Llama of 1 to 8 billion parameters on L40S over TCP",
           Origin::assumed, 0},
          {"time until the other groups go on", "s", 0.7, 9,
           "fast to plain quorum of arXiv:2602.00277", Origin::published, 0}};
}

}  // namespace windtunnel
