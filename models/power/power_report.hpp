// Power and energy of a step: of the whole cluster, and of the node and the rack of the job that
// draw most. A peak is the largest sum of what is drawn at one time, not a sum of peaks: data
// parallel replicas compute and synchronise in phase, so the two come close (POLCA, Patel et al.,
// arXiv 2308.12908).
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

// To train on all tokens, of the whole building.
struct RunEnergy {
  Estimate energy_J;
  Estimate usd;  // 0: no price is known
};

struct PowerReport {
  PowerSpec spec;
  double clock = 1;    // under the cap, over the one without; of pools the lowest
  PowerRange cluster;  // over the step: nodes, switches and storage
  PowerRange node;     // the one with the highest peak
  PowerRange rack;     // the same
  double idle_W = 0;   // power of the cluster while all GPUs idle
  double aligned = 1;  // peak of all nodes together over the sum of the peak of each
  double step_J = 0;   // of the whole building: with PUE
  double token_J = 0;
  double undisturbed_J = 0;  // energy for all tokens if nothing fails; 0: their number is not known
  // Mean power of the cluster over a campaign. While state is redone or iterations are longer, GPUs
  // draw what they do in a step; while they wait, detect, restart or load, they idle.
  std::optional<double> campaign_W;
  std::optional<RunEnergy> run;
  // All nodes, spares too, and their network cost this; 0: no price of a node is known.
  double machines_usd = 0;
  double network_usd = 0;            // of the network alone; 0: no price is known
  NetworkParts network;              // the network that the job's nodes need, spares included
  double network_W = 0;              // without that of spares
  double owned_usd_per_s = 0;        // written off over PowerSpec::years
  std::optional<RowReport> row;      // where it has more nodes than were planned for
  std::vector<PowerReport> at_low;   // [number that is unsure]: the report with it at its low end
  std::vector<PowerReport> at_high;  // the same
  double usd_of(double energy_J) const { return energy_J / kJoulesPerKWh * spec.usd_per_kWh; }
};

// A step that is reported with several PowerSpecs. What its GPUs do is found once, and the curves
// of nodes and racks again only for a PowerSpec by which GPUs or nodes draw other watts.
class PoweredStep {
 public:
  // The ranks of a timeline from `from_s` to `to_s`. Keeps a reference to the cluster.
  PoweredStep(const Cluster& cluster, const Plan& plan, const Timeline& timeline, double from_s,
              double to_s);
  // Money, tokens and campaign are left open.
  PowerReport report(const PowerSpec& spec);

 private:
  // Things of one kind: what one consists of with how many of each, and how many there are.
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
  // What GPUs, nodes and racks draw by a PowerSpec.
  struct Draw {
    PowerSpec spec;
    std::vector<Nodes> nodes;
    PowerRange node;  // the one with the highest peak
    PowerRange rack;  // the same
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
  std::map<int, Gpu> gpus_;  // those that differ, by pool and recorded rank
  std::vector<Kind> nodes_;  // of gpus_
  std::vector<int> kind_of_node_;
  std::vector<Kind> racks_;    // of nodes_
  int rack_nodes_ = 0;         // that racks_ have
  std::optional<Draw> first_;  // of the PowerSpec that was asked for first
};

// Adds the cost of the machines, of which `spares` nodes idle.
void add_machines(PowerReport& report, const Cluster& cluster, double spares);
// Adds the energy of steps of `step_s` and of `tokens` tokens, at the mean power of the simulated
// step.
void add_energy(PowerReport& report, double step_s, double tokens_per_step, double tokens);
// Adds a campaign; `spares` are nodes that idle. It lasts report.job_days.
void add_campaign(PowerReport& power, const CampaignReport& report, const Cluster& cluster,
                  double spares);

}  // namespace windtunnel
