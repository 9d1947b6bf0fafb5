#include "validate/accuracy/faults/fault_campaign.hpp"

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "models/reliability/saving_interval.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {
namespace {

constexpr double kFailures = 5000;
constexpr double kFailuresPerReplica = 250;  // if the source states no length
constexpr int kMostReplicas = 500;

FailureClass class_of(const FaultCampaign& campaign, const char* name, FailureKind kind,
                      double rate_per_s) {
  FailureClass result;
  result.name = name;
  result.kind = kind;
  result.rate_per_node_s = rate_per_s / campaign.nodes;
  return result;
}

std::vector<FailureClass> failures_of(const FaultCampaign& campaign) {
  const bool keeps_node = campaign.spares < 0;
  FailureClass hardware =
      class_of(campaign, "interruption", keeps_node ? FailureKind::process : FailureKind::node,
               (1 - campaign.divergence_share) / campaign.mtbf_s);
  hardware.repair.fixed_s = campaign.repair_s;
  if (campaign.regular) {
    hardware.arrivals = Arrivals::empirical;
    hardware.gaps_s = {campaign.mtbf_s};
  } else if (campaign.gap_shape != 1) {
    hardware.arrivals = Arrivals::weibull;
    hardware.weibull_shape = campaign.gap_shape;
  }
  std::vector<FailureClass> failures = {hardware};
  if (campaign.divergence_share > 0) {
    failures.push_back(class_of(campaign, "divergence", FailureKind::process,
                                campaign.divergence_share / campaign.mtbf_s));
    failures.back().detect_s = campaign.notice_s;
  }
  if (campaign.planned_per_s > 0) {
    failures.push_back(class_of(campaign, "planned", FailureKind::planned, campaign.planned_per_s));
  }
  return failures;
}

IterationTable table_of(const FaultCampaign& campaign) {
  IterationTable table;
  TierTiming timing;
  if (campaign.elastic.groups > 0) {
    timing.tier.place = SnapshotPlace::replicas;
    table.iteration_s = {campaign.iteration_s, campaign.iteration_s};
    for (int out = 1; out < campaign.elastic.groups; ++out) {
      table.shrunk_iteration_s.push_back(campaign.iteration_s);
      table.shrunk_progress.push_back(1 - static_cast<double>(out) / campaign.elastic.groups);
    }
  } else {
    const double iteration_s = campaign.interval_s / campaign.iterations_per_save;
    save_every_iterations(timing.tier, campaign.iterations_per_save);
    timing.complete_s = std::max(campaign.stall_s, campaign.save_s);
    table.iteration_s = {iteration_s, iteration_s + campaign.stall_s};
  }
  table.tiers = {timing};
  return table;
}

CampaignInputs inputs_of(const FaultCampaign& campaign) {
  CHECK(campaign.mtbf_s > 0 && campaign.nodes > 0, "{} s between failures of {} nodes",
        campaign.mtbf_s, campaign.nodes);
  CampaignInputs inputs;
  inputs.nodes = campaign.nodes;
  inputs.same_shard = {inputs.nodes, inputs.nodes, 1};
  inputs.table = table_of(campaign);
  inputs.failures = failures_of(campaign);
  inputs.recovery.spares = static_cast<int>(std::max(campaign.spares, 0.0));
  inputs.recovery.detect_s = 0;  // part of the restart
  inputs.recovery.restart_s = campaign.elastic.groups > 0 ? 0 : campaign.restart_s;
  inputs.recovery.elastic = campaign.elastic;
  inputs.campaign.length_s =
      campaign.length_s > 0 ? campaign.length_s : kFailuresPerReplica * campaign.mtbf_s;
  const double replicas = std::ceil(kFailures * campaign.mtbf_s / inputs.campaign.length_s);
  inputs.campaign.trials = static_cast<int>(std::clamp(replicas, 4.0, double{kMostReplicas}));
  return inputs;
}

}  // namespace

CampaignReport simulate(const FaultCampaign& campaign) {
  FaultCampaign played = campaign;
  // A group is lost as a whole and the rate is the job's, so it does not matter which node failed.
  if (campaign.elastic.groups > 0) played.nodes = campaign.elastic.groups;
  return run_campaign(inputs_of(played), 1);
}

double simulated_loss_per_failure_s(const FaultCampaign& campaign) {
  const CampaignReport report = simulate(campaign);
  const double lost_s = report.lost_s[static_cast<int>(Loss::redo)].mean +
                        report.lost_s[static_cast<int>(Loss::restart)].mean;
  return lost_s / report.failures.at("unexpected").mean;
}

}  // namespace windtunnel
