#include "models/power/power_report.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

constexpr double kYear_s = 365.25 * kDay_s;

// Devices of one kind: their power curve, how many there are, and their power between two times.
struct Alike {
  PowerCurve curve;
  double count = 0;
  PowerRange range;
};

// Parts of a machine by what they consist of, the first of a kind standing for all.
class Kinds {
 public:
  int of(const std::vector<int>& parts) {
    const auto [at, fresh] = known_.try_emplace(parts, static_cast<int>(kinds_.size()));
    if (fresh) kinds_.emplace_back(parts, 0);
    ++kinds_[at->second].second;
    return at->second;
  }
  const std::vector<std::pair<std::vector<int>, int>>& all() const { return kinds_; }

 private:
  std::map<std::vector<int>, int> known_;
  std::vector<std::pair<std::vector<int>, int>> kinds_;  // {parts, how many}
};

std::vector<CountedCurve> counted(const std::vector<int>& parts, const auto& curve_of) {
  std::map<int, double> counts;
  for (const int part : parts) ++counts[part];
  std::vector<CountedCurve> curves;
  for (const auto& [part, count] : counts) curves.push_back({curve_of(part), count});
  return curves;
}

const Alike& highest(const std::vector<Alike>& all) {
  return *std::ranges::max_element(all, {}, [](const Alike& one) { return one.range.peak_W; });
}

double nodes_idle_W(const PowerSpec& spec, const Cluster& cluster) {
  double idle_W = 0;
  for (int node = 0; node < cluster.nodes; ++node) {
    const NodePower& own = spec.of_pool(cluster.pool_of_node(node));
    idle_W += cluster.node.gpus * gpu_watts(spec, own, 0) + own.rest_W.value;
  }
  return idle_W;
}

// Nodes of a job work in step, pipelines on average over their stages. Nodes that are apart may
// each be in any phase of their step.
std::vector<LoadPhase> row_phases(const PowerSpec& spec, const Cluster& cluster,
                                  const PowerCurve& all, const std::vector<Alike>& nodes,
                                  double from_s, double to_s) {
  if (!spec.row_apart) return phases_of(all, cluster.nodes, from_s, to_s);
  std::vector<LoadPhase> phases;
  for (const Alike& node : nodes) {
    for (LoadPhase phase : phases_of(node.curve, 1, from_s, to_s)) {
      phase.share *= node.count / cluster.nodes;
      phases.push_back(phase);
    }
  }
  return phases;
}

RowReport row_of(const PowerSpec& spec, const Cluster& cluster, const PowerCurve& all,
                 const std::vector<Alike>& nodes, double from_s, double to_s) {
  const NodePower& node = spec.of_pool(0);
  const int gpus = cluster.node.gpus;
  RowLoad load;
  load.limit_W = gpus * node.gpu_W.value + node.rest_W.value;
  load.base_W = gpus * node.gpu_idle_W.value + node.rest_W.value;
  load.phases = row_phases(spec, cluster, all, nodes, from_s, to_s);
  load.aligned = !spec.row_apart;
  load.clock_power = spec.clock_power;
  return oversubscribed(load, cluster.nodes, spec.more_nodes);
}

double nics_of(const Cluster& cluster) {
  double nics = 0;
  for (int node = 0; node < cluster.nodes; ++node) nics += cluster.spec_of(node).nics;
  return nics;
}

double switches_W(const PowerSpec& spec, const Cluster& cluster) {
  if (spec.switch_W) return nics_of(cluster) * *spec.switch_W;
  return network_watts(network_parts(cluster, spec.kit, cluster.nodes), spec.kit);
}

}  // namespace

PowerReport power_report(const PowerSpec& spec, const Cluster& cluster, const Plan& plan,
                         const Timeline& timeline, double from_s, double to_s) {
  const int gpus = cluster.node.gpus;
  PowerReport report;
  report.spec = spec;
  for (const NodePower& node : spec.nodes) {
    report.clock = std::min(report.clock, clock_under_cap(spec, node));
  }
  // One curve for each recorded rank in each pool; the last of a pool is a GPU without work.
  const int unused = static_cast<int>(timeline.ranks.size());
  const auto curve_place = [&](int pool, int recorded) {
    return std::max(pool, 0) * (unused + 1) + recorded;
  };
  std::map<int, PowerCurve> of_gpu;
  Kinds node_kinds;
  std::vector<int> kind_of_node;
  for (int node = 0; node < cluster.nodes; ++node) {
    std::vector<int> parts{std::max(0, cluster.pool_of_node(node))};
    const NodePower& own = spec.of_pool(parts.front());
    for (int slot = 0; slot < gpus; ++slot) {
      const int gpu = cluster.rank_on(node, slot);
      const int recorded = gpu < plan.ranks ? timeline.recorded_as[gpu] : unused;
      parts.push_back(curve_place(parts.front(), recorded));
      auto [at, fresh] = of_gpu.try_emplace(parts.back());
      if (!fresh) continue;
      if (recorded == unused) {
        at->second = {{0, gpu_watts(spec, own, 0)}};
      } else {
        const RankTimeline& rank = timeline.ranks[recorded];
        at->second = gpu_curve(spec, own, plan.classes[rank.rank_class], rank);
      }
    }
    kind_of_node.push_back(node_kinds.of(parts));
  }
  std::vector<Alike> nodes;
  for (const auto& [parts, count] : node_kinds.all()) {
    const std::vector<int> own(parts.begin() + 1, parts.end());
    Alike& node = nodes.emplace_back();
    node.curve = sum_of(counted(own, [&](int part) { return &of_gpu.at(part); }),
                        spec.of_pool(parts.front()).rest_W.value);
    node.count = count;
    node.range = range_of(node.curve, from_s, to_s);
  }
  const auto curve_of_node = [&](int kind) { return &nodes[kind].curve; };
  Kinds rack_kinds;
  for (int first = 0; first < cluster.nodes; first += spec.rack_nodes) {
    const int behind = std::min(cluster.nodes, first + spec.rack_nodes);
    std::vector<int> own(kind_of_node.begin() + first, kind_of_node.begin() + behind);
    std::ranges::sort(own);
    rack_kinds.of(own);
  }
  std::vector<Alike> racks;
  for (const auto& [parts, count] : rack_kinds.all()) {
    Alike& rack = racks.emplace_back();
    rack.curve = sum_of(counted(parts, curve_of_node));
    rack.range = range_of(rack.curve, from_s, to_s);
  }
  report.node = highest(nodes).range;
  report.rack = highest(racks).range;
  const PowerCurve all = sum_of(counted(kind_of_node, curve_of_node));
  double peaks_W = 0;
  for (const Alike& node : nodes) peaks_W += node.count * node.range.peak_W;
  report.aligned = range_of(all, from_s, to_s).peak_W / peaks_W;
  report.network_W = switches_W(spec, cluster);
  const double shared = report.network_W + spec.storage_W;
  report.cluster = range_of(sum_of({{&all, 1}}, shared), from_s, to_s);
  report.idle_W = nodes_idle_W(spec, cluster) + shared;
  if (spec.more_nodes > 0) report.row = row_of(spec, cluster, all, nodes, from_s, to_s);
  return report;
}

void add_machines(PowerReport& report, const Cluster& cluster, double spares) {
  const PowerSpec& spec = report.spec;
  const double nodes = cluster.nodes + spares;
  report.network = network_parts(cluster, spec.kit, nodes);
  report.network_usd = spec.nic_usd ? nics_of(cluster) / cluster.nodes * nodes * *spec.nic_usd
                                    : network_usd(report.network, spec.kit);
  if (spec.node_usd <= 0) return;
  report.machines_usd = nodes * spec.node_usd + report.network_usd;
  report.owned_usd_per_s = report.machines_usd / (spec.years * kYear_s);
}

void add_energy(PowerReport& report, double step_s, double tokens_per_step, double tokens) {
  report.step_J = report.cluster.mean_W * report.spec.pue * step_s;
  report.token_J = report.step_J / tokens_per_step;
  report.undisturbed_J = report.token_J * tokens;
}

void add_campaign(PowerReport& power, const CampaignReport& report, const Cluster& cluster,
                  double spares) {
  const auto lost_s = [&](Loss loss) { return report.lost_s[static_cast<int>(loss)].mean; };
  double idle_s = 0;
  for (const Loss loss : {Loss::detect, Loss::restart, Loss::wait, Loss::sync, Loss::log}) {
    idle_s += lost_s(loss);
  }
  const double idle_share = std::clamp(idle_s / report.wall_s.mean, 0.0, 1.0);
  const double spare_W = nodes_idle_W(power.spec, cluster) / cluster.nodes * spares;
  power.campaign_W = (1 - idle_share) * power.cluster.mean_W + idle_share * power.idle_W + spare_W;
  if (report.job_days.mean <= 0) return;
  const auto scaled = [](const Estimate& days, double factor) {
    return Estimate{days.mean * factor, days.low * factor, days.high * factor, days.p05 * factor,
                    days.p95 * factor};
  };
  const double per_day_J = *power.campaign_W * power.spec.pue * kDay_s;
  power.run = {scaled(report.job_days, per_day_J),
               scaled(report.job_days, power.usd_of(per_day_J))};
}

}  // namespace windtunnel
