// Power and energy of a step: of the whole cluster, and of the job's node and rack with the highest
// power. A peak is the largest sum at one time, not a sum of peaks. Data-parallel replicas compute
// and synchronise in phase, so the two are close (POLCA, Patel et al., arXiv 2308.12908).
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/plan/timeline.hpp"
#include "models/power/oversubscription.hpp"
#include "models/power/power_curve.hpp"
#include "models/results/campaign_report.hpp"

namespace windtunnel {

// Energy of the whole building for training on all tokens, and its cost.
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
  std::vector<PowerReport> at_high;  // [uncertain number]: the report with it at its high end
  double usd_of(double energy_J) const { return energy_J / kJoulesPerKWh * spec.usd_per_kWh; }
};

// Power of a step under one or more PowerSpecs. The activity of the GPUs is found once. The power
// curves of nodes and racks are computed again only if a PowerSpec changes the watts of GPUs or
// nodes.
class PoweredStep {
 public:
  // The ranks of a timeline from `from_s` to `to_s`. The cluster must outlive this object.
  PoweredStep(const Cluster& cluster, const Plan& plan, const Timeline& timeline, double from_s,
              double to_s);
  // Cost, tokens and campaign are not set.
  PowerReport report(const PowerSpec& spec);

 private:
  // Equal nodes or racks: the parts of one, each with its number, and how many such there are.
  struct Kind {
    int pool = 0;
    std::vector<std::pair<int, double>> parts;
    double count = 0;
  };
  class Kinds;
  struct Gpu {
    int pool = 0;
    std::vector<ActivityStep> steps;  // none: a GPU without work
  };
  // Nodes of one kind: their curve, how many there are, and their power over the step.
  struct Nodes {
    PowerCurve curve;
    double count = 0;
    PowerRange range;
  };
  // This is the power of GPUs, nodes and racks under a PowerSpec.
  struct Draw {
    PowerSpec spec;
    std::vector<Nodes> nodes;
    PowerRange node;  // the one with the highest peak
    PowerRange rack;  // the one with the highest peak
    PowerCurve all;   // of all nodes
    double aligned = 1;
  };
  static bool draws_alike(const PowerSpec& a, const PowerSpec& b);
  void find_racks(int rack_nodes);
  Draw drawn(const PowerSpec& spec);
  RowReport row_of(const PowerSpec& spec, const Draw& draw) const;

  const Cluster& cluster_;
  double from_s_;
  double to_s_;
  std::map<int, Gpu> gpus_;  // distinct ones, by pool and recorded rank
  std::vector<Kind> nodes_;  // of gpus_
  std::vector<int> kind_of_node_;
  std::vector<Kind> racks_;    // of nodes_
  int rack_nodes_ = 0;         // nodes of a rack in racks_
  std::optional<Draw> first_;  // for the first PowerSpec asked for
};

// Adds the cost of the machines; `spares` of the nodes are idle.
void add_machines(PowerReport& report, const Cluster& cluster, double spares);
// Adds the energy of steps of `step_s` and of `tokens` tokens, at the mean power of the simulated
// step.
void add_energy(PowerReport& report, double step_s, double tokens_per_step, double tokens);
// Adds a campaign of length report.job_days; `spares` nodes idle.
void add_campaign(PowerReport& power, const CampaignReport& report, const Cluster& cluster,
                  double spares);

}  // namespace windtunnel
