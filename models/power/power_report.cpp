#include "models/power/power_report.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

constexpr double kYear_s = 365.25 * kDay_s;

double nodes_idle_W(const PowerSpec& spec, const Cluster& cluster) {
  double idle_W = 0;
  for (int node = 0; node < cluster.nodes; ++node) {
    const NodePower& own = spec.of_pool(cluster.pool_of_node(node));
    idle_W += cluster.node.gpus * gpu_watts(spec, own, 0) + own.rest_W.value;
  }
  return idle_W;
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

// Groups nodes or racks by what they consist of: all with the same parts are one Kind.
class PoweredStep::Kinds {
 public:
  int of(int pool, std::vector<int> parts) {
    const auto [at, fresh] = known_.try_emplace({pool, std::move(parts)}, std::ssize(kinds_));
    if (fresh) {
      std::map<int, double> counts;
      for (const int part : at->first.second) ++counts[part];
      kinds_.push_back({pool, {counts.begin(), counts.end()}, 0});
    }
    ++kinds_[at->second].count;
    return at->second;
  }
  std::vector<Kind> take() { return std::move(kinds_); }

 private:
  std::map<std::pair<int, std::vector<int>>, int> known_;
  std::vector<Kind> kinds_;
};

PoweredStep::PoweredStep(const Cluster& cluster, const Plan& plan, const Timeline& timeline,
                         double from_s, double to_s)
    : cluster_(cluster), from_s_(from_s), to_s_(to_s) {
  const int unused = static_cast<int>(timeline.ranks.size());
  Kinds kinds;
  for (int node = 0; node < cluster.nodes; ++node) {
    const int pool = std::max(0, cluster.pool_of_node(node));
    std::vector<int> parts;
    for (int slot = 0; slot < cluster.node.gpus; ++slot) {
      const int gpu = cluster.rank_on(node, slot);
      const int recorded = gpu < plan.ranks ? timeline.recorded_as[gpu] : unused;
      parts.push_back(pool * (unused + 1) + recorded);
      const auto [at, fresh] = gpus_.try_emplace(parts.back(), Gpu{pool, {}});
      if (!fresh || recorded == unused) continue;
      const RankTimeline& rank = timeline.ranks[recorded];
      at->second.steps = activity_steps(plan.classes[rank.rank_class], rank);
    }
    kind_of_node_.push_back(kinds.of(pool, std::move(parts)));
  }
  nodes_ = kinds.take();
}

void PoweredStep::find_racks(int rack_nodes) {
  if (std::exchange(rack_nodes_, rack_nodes) == rack_nodes) return;
  Kinds kinds;
  for (int first = 0; first < cluster_.nodes; first += rack_nodes) {
    const int behind = std::min(cluster_.nodes, first + rack_nodes);
    std::vector<int> own(kind_of_node_.begin() + first, kind_of_node_.begin() + behind);
    std::ranges::sort(own);
    kinds.of(0, std::move(own));
  }
  racks_ = kinds.take();
}

bool PoweredStep::draws_alike(const PowerSpec& a, const PowerSpec& b) {
  const auto alike = [](const NodePower& one, const NodePower& other) {
    return one.gpu_W.value == other.gpu_W.value && one.gpu_idle_W.value == other.gpu_idle_W.value &&
           one.rest_W.value == other.rest_W.value;
  };
  return a.computing == b.computing && a.communicating == b.communicating && a.cap_W == b.cap_W &&
         a.rack_nodes == b.rack_nodes && std::ranges::equal(a.nodes, b.nodes, alike);
}

PoweredStep::Draw PoweredStep::drawn(const PowerSpec& spec) {
  find_racks(spec.rack_nodes);
  Draw draw{.spec = spec, .nodes = {}, .node = {}, .rack = {}, .all = {}};
  std::map<int, PowerCurve> gpus;
  for (const auto& [place, gpu] : gpus_) {
    gpus[place] = gpu_curve(spec, spec.of_pool(gpu.pool), gpu.steps);
  }
  for (const Kind& kind : nodes_) {
    std::vector<CountedCurve> own;
    for (const auto& [gpu, count] : kind.parts) own.push_back({&gpus[gpu], count});
    Nodes& nodes = draw.nodes.emplace_back();
    nodes.curve = sum_of(own, spec.of_pool(kind.pool).rest_W.value);
    nodes.count = kind.count;
    nodes.range = range_of(nodes.curve, from_s_, to_s_);
  }
  const auto keep_highest = [](PowerRange& highest, const PowerRange& range) {
    if (range.peak_W > highest.peak_W) highest = range;
  };
  for (const Kind& kind : racks_) {
    std::vector<CountedCurve> own;
    for (const auto& [node, count] : kind.parts) own.push_back({&draw.nodes[node].curve, count});
    keep_highest(draw.rack, range_of(sum_of(own), from_s_, to_s_));
  }
  std::vector<CountedCurve> all;
  double peaks_W = 0;
  for (const Nodes& nodes : draw.nodes) {
    keep_highest(draw.node, nodes.range);
    all.push_back({&nodes.curve, nodes.count});
    peaks_W += nodes.count * nodes.range.peak_W;
  }
  draw.all = sum_of(all);
  draw.aligned = range_of(draw.all, from_s_, to_s_).peak_W / peaks_W;
  return draw;
}

// Nodes of one job work in step, with the mean over the stages of a pipeline. With
// PowerSpec::row_apart each node may be in any phase of its step.
RowReport PoweredStep::row_of(const PowerSpec& spec, const Draw& draw) const {
  const NodePower& node = spec.of_pool(0);
  const int gpus = cluster_.node.gpus;
  RowLoad load;
  load.limit_W = gpus * node.gpu_W.value + node.rest_W.value;
  load.base_W = gpus * node.gpu_idle_W.value + node.rest_W.value;
  load.aligned = !spec.row_apart;
  load.clock_power = spec.clock_power;
  if (load.aligned) {
    load.phases = phases_of(draw.all, cluster_.nodes, from_s_, to_s_);
  } else {
    for (const Nodes& nodes : draw.nodes) {
      for (LoadPhase phase : phases_of(nodes.curve, 1, from_s_, to_s_)) {
        phase.share *= nodes.count / cluster_.nodes;
        load.phases.push_back(phase);
      }
    }
  }
  return oversubscribed(load, cluster_.nodes, spec.more_nodes);
}

PowerReport PoweredStep::report(const PowerSpec& spec) {
  if (!first_) first_ = drawn(spec);
  std::optional<Draw> other;
  if (!draws_alike(spec, first_->spec)) other = drawn(spec);
  const Draw& draw = other ? *other : *first_;
  PowerReport report;
  report.spec = spec;
  for (const NodePower& node : spec.nodes) {
    report.clock = std::min(report.clock, clock_under_cap(spec, node));
  }
  report.node = draw.node;
  report.rack = draw.rack;
  report.aligned = draw.aligned;
  report.network_W = switches_W(spec, cluster_);
  const double shared = report.network_W + spec.storage_W;
  report.cluster = range_of(sum_of({{&draw.all, 1}}, shared), from_s_, to_s_);
  report.idle_W = nodes_idle_W(spec, cluster_) + shared;
  if (spec.more_nodes > 0) report.row = row_of(spec, draw);
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
