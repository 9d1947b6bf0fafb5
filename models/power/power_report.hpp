// Power and energy of a step: of the whole cluster, and of the job's node and rack with the highest
// power. A peak is the largest sum at one time, not a sum of peaks. Data-parallel replicas compute
// and synchronise in phase, so the two are close (POLCA, Patel et al., arXiv 2308.12908).
#pragma once

#include <optional>

#include "models/machine/cluster.hpp"
#include "models/plan/timeline.hpp"
#include "models/power/oversubscription.hpp"
#include "models/power/power_curve.hpp"
#include "models/results/campaign_report.hpp"

namespace windtunnel {

// For training on all tokens, for the whole building.
struct RunEnergy {
  Estimate energy_J;
  Estimate usd;  // 0: no price is known
};

struct PowerReport {
  PowerSpec spec;
  double clock = 1;    // clock with the cap relative to without; lowest over pools
  PowerRange cluster;  // over the step: nodes, switches and storage
  PowerRange node;     // the one with the highest peak
  PowerRange rack;     // the rack with the highest peak
  double idle_W = 0;   // power of the cluster while all GPUs idle
  double aligned = 1;  // peak of all nodes together over the sum of the nodes' peaks
  double step_J = 0;   // of the whole building: includes PUE
  double token_J = 0;
  // energy for all tokens without failures; 0: the number of tokens is unknown
  double undisturbed_J = 0;
  // Mean power of the cluster over a campaign. While state is recomputed or iterations are longer,
  // GPUs draw as in a step; while they wait, detect, restart or load, they idle.
  std::optional<double> campaign_W;
  std::optional<RunEnergy> run;
  // Cost of all nodes, including spares, and their network; 0: the price of a node is unknown.
  double machines_usd = 0;
  double network_usd = 0;            // only the network; 0: no price is known
  NetworkParts network;              // needed by the job's nodes and spares
  double network_W = 0;              // without the spares' part
  double owned_usd_per_s = 0;        // depreciation over PowerSpec::years
  std::optional<RowReport> row;      // if the row has more nodes than planned
  std::vector<PowerReport> at_low;   // [uncertain number]: the report with it at its low end
  std::vector<PowerReport> at_high;  // the same at its high end
  double usd_of(double energy_J) const { return energy_J / kJoulesPerKWh * spec.usd_per_kWh; }
};

// Power of a timeline's ranks from `from_s` to `to_s`; cost, tokens and campaign are not set.
PowerReport power_report(const PowerSpec& spec, const Cluster& cluster, const Plan& plan,
                         const Timeline& timeline, double from_s, double to_s);
// Adds the cost of the machines; `spares` of the nodes are idle.
void add_machines(PowerReport& report, const Cluster& cluster, double spares);
// Adds the energy of steps of `step_s` and of `tokens` tokens, at the mean power of the simulated
// step.
void add_energy(PowerReport& report, double step_s, double tokens_per_step, double tokens);
// Adds a campaign of length report.job_days; `spares` nodes idle.
void add_campaign(PowerReport& power, const CampaignReport& report, const Cluster& cluster,
                  double spares);

}  // namespace windtunnel
