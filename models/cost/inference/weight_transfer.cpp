#include "models/cost/inference/weight_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/inference/engine_speed.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/cost/parallel/tensor_rules.hpp"
#include "models/network/collectives/collective_edges.hpp"
#include "models/workload/stage_parameters.hpp"

namespace windtunnel {
namespace {

// If ZeRO-3 has more replicas, this many of them, evenly spread, represent all.
constexpr int kMostReplicas = 512;

// [stage] parameters on one of its GPUs that a step changes.
std::vector<double> changed_parameters(const Job& job) {
  if (job.training == nullptr || merges_adapters(job)) {
    return stage_parameters(job.model, job.layout);
  }
  std::vector<double> changed;
  for (const TrainedParameters& of :
       trained_parameters(job.model, job.layout, *job.training, bytes_of(job.precision))) {
    changed.push_back(of.trained);
  }
  return changed;
}

// Which shares of the model the learner's ranks hold, by pipeline rank, and which of them send.
class Holders {
 public:
  explicit Holders(const Job& job) : layout_(job.layout) {
    const std::vector<double> stages = changed_parameters(job);
    share_.assign(layout_.pp, 0.0);
    for (std::size_t s = 0; s < stages.size(); ++s) share_[s % layout_.pp] += stages[s];
    const double all = std::accumulate(share_.begin(), share_.end(), 0.0);
    for (double& share : share_) share /= all;
  }

  int replicas() const { return layout_.dp * layout_.cp; }
  bool scattered() const { return layout_.sharding == Sharding::zero3 && replicas() > 1; }
  int rank(int tp, int pp, int replica) const {
    return rank_of(layout_,
                   {.tp = tp, .cp = replica % layout_.cp, .dp = replica / layout_.cp, .pp = pp});
  }
  int replica_of(int rank) const {
    const RankCoordinates at = coordinates_of(layout_, rank);
    return at.dp * layout_.cp + at.cp;
  }

  // Calls add(pp, tp, share of the model) for every part of the model that slice `part` of `parts`
  // contains.
  template <class Add>
  void each(int part, int parts, const Add& add) const {
    const double begin = static_cast<double>(part) / parts;
    const double end = static_cast<double>(part + 1) / parts;
    for (int tp = 0; tp < layout_.tp; ++tp) {
      const double from = std::max(begin, static_cast<double>(tp) / layout_.tp);
      const double to = std::min(end, static_cast<double>(tp + 1) / layout_.tp);
      if (to <= from) continue;
      for (int pp = 0; pp < layout_.pp; ++pp) add(pp, tp, share_[pp] * (to - from));
    }
  }

 private:
  const Layout& layout_;
  std::vector<double> share_;  // [pp]
};

// Replicas that send equal parts to receiver `index` of `receivers`: all, or only those assigned to
// it.
std::vector<int> senders(int replicas, bool all, int index, int receivers) {
  if (!all && receivers >= replicas) return {index % replicas};
  const int step = all ? std::max(1, replicas / kMostReplicas) : receivers;
  std::vector<int> chosen;
  for (int r = all ? 0 : index; r < replicas; r += step) chosen.push_back(r);
  return chosen;
}

class FlowBuilder {
 public:
  FlowBuilder(const Job& job, const RolloutSpec& rollout, const RolloutMachine& machine)
      : machine_(machine),
        tp_(rollout.engine.tp),
        holders_(job),
        bytes_(changed_weight_bytes(job)) {
    flows_.gpus.resize(machine.cluster.gpus());
    std::iota(flows_.gpus.begin(), flows_.gpus.end(), 0);
  }

  // Adds transfers to a GPU of an engine from all ranks of the learner that hold parts of its
  // slice; they send the given share of it.
  void from_learner(int gpu, int part, double share, const std::vector<int>& replicas) {
    holders_.each(part, tp_, [&](int pp, int tp, double of_model) {
      for (const int replica : replicas) {
        add(holders_.rank(tp, pp, replica), gpu,
            share * of_model * bytes_ / static_cast<double>(replicas.size()));
      }
    });
  }

  // `from_all`: each engine gets a share from every replica.
  void direct(bool from_all) {
    for (int e = 0; e < machine_.engines; ++e) {
      const auto from =
          senders(holders_.replicas(), from_all || holders_.scattered(), e, machine_.engines);
      for (int part = 0; part < tp_; ++part) from_learner(gpu_of(e, part), part, 1, from);
    }
  }

  // A chain over nodes for each engine position in a node, carrying an equal share of every slice:
  // it enters a node at that engine, and continues from there to the next node and to the node's
  // other engines.
  void broadcast() {
    const int lanes = std::max(1, machine_.cluster.node.gpus / tp_);
    CHECK(machine_.engines % lanes == 0, "{} engines, {} in a node", machine_.engines, lanes);
    const auto from = senders(holders_.replicas(), true, 0, 1);
    for (int lane = 0; lane < lanes; ++lane) {
      for (int part = 0; part < tp_; ++part) {
        from_learner(gpu_of(lane, part), part, 1.0 / lanes, from);
        chain(lane, lanes, part);
      }
    }
    flows_.hops = machine_.engines / lanes + lanes - 1;
  }

  // Every GPU needs its slice of all stages, from ranks of its own replica if these hold it.
  void colocated() {
    for (int e = 0; e < machine_.engines; ++e) {
      for (int part = 0; part < tp_; ++part) {
        const int gpu = gpu_of(e, part);
        const std::vector<int> from = holders_.scattered()
                                          ? senders(holders_.replicas(), true, 0, 1)
                                          : std::vector<int>{holders_.replica_of(gpu)};
        from_learner(gpu, part, 1, from);
      }
    }
  }

  WeightFlows take() { return std::move(flows_); }

 private:
  // The GPU of an engine's part, by the rank on it: engines fill the nodes one after the other.
  int gpu_of(int engine, int part) const {
    return machine_.cluster.ranks.rank_on(machine_.first_gpu + engine * tp_ + part);
  }

  void add(int from, int to, double bytes) {
    if (from != to && bytes > 0) flows_.edges.push_back({from, to, bytes});
  }

  void chain(int lane, int lanes, int part) {
    const double bytes = bytes_ / tp_ / lanes;
    for (int first = 0; first < machine_.engines; first += lanes) {
      if (first > 0) add(gpu_of(first - lanes + lane, part), gpu_of(first + lane, part), bytes);
      for (int i = 1; i < lanes; ++i) {
        add(gpu_of(first + (lane + i - 1) % lanes, part), gpu_of(first + (lane + i) % lanes, part),
            bytes);
      }
    }
  }

  const RolloutMachine& machine_;
  int tp_;
  Holders holders_;
  double bytes_;
  WeightFlows flows_;
};

void check_engines(const Job& learner, const RolloutSpec& rollout) {
  const int gpus = learner.cluster.node.gpus;
  const int tp = rollout.engine.tp;
  const int nodes = rollout.colocated ? learner.cluster.nodes : rollout.nodes;
  if (tp <= gpus ? gpus % tp == 0 : tp % gpus == 0 && nodes % (tp / gpus) == 0) return;
  throw Error::of_key(
      "rollout.engine.tp",
      "is {}, but engines must fill their nodes of {} GPUs ({} nodes): take a divisor of the GPUs "
      "of one node, or a multiple of them that divides the GPUs of all these nodes",
      tp, gpus, nodes);
}

// Finds the pools of engines that share the learner's nodes.
void find_pools(const Job& learner, const EngineSpec& spec, RolloutMachine& machine) {
  const Cluster& cluster = learner.cluster;
  const Precision precision = engine_precision(learner, spec);
  const int tp = spec.tp;
  // Reading weights limits a decoding step, so the slowest memory decides, and among equals the
  // slowest products.
  const auto pace = [&](int pool) {
    const GpuSpec& gpu = cluster.pools[pool].node.gpu;
    return std::pair(gpu.memory_Bps.value, peak_flops(gpu, precision));
  };
  for (int engine = 0; engine < machine.engines && !cluster.pools.empty(); ++engine) {
    int slowest = cluster.pool_of_node(engine * tp / cluster.node.gpus);
    for (int gpu = engine * tp; gpu < (engine + 1) * tp; gpu += cluster.node.gpus) {
      const int own = cluster.pool_of_node(gpu / cluster.node.gpus);
      if (pace(own) < pace(slowest)) slowest = own;
    }
    machine.pools.push_back(slowest);
  }
}

// Engines on separate nodes, which are like those of one of the learner's pools.
void add_engine_pool(const RolloutSpec& rollout, RolloutMachine& machine) {
  Cluster& both = machine.cluster;
  const auto like = std::ranges::find(both.pools, rollout.pool, &Pool::name);
  if (like == both.pools.end()) {
    std::string names;
    for (const Pool& pool : both.pools) names += (names.empty() ? "" : ", ") + pool.name;
    throw Error::about(
        {"rollout.pool", "rollout"},
        "rollout.pool: {}; the nodes of engines must be of the same kind as those "
        "of one of cluster.pools: {}",
        rollout.pool.empty() ? "is missing" : fmt::format("there is no '{}'", rollout.pool), names);
  }
  const int of_engines = static_cast<int>(like - both.pools.begin());
  int first = 0;
  for (const Pool& pool : both.pools) first += pool.nodes;
  machine.first_gpu = both.gpus();
  machine.engines = rollout.nodes * both.node.gpus / rollout.engine.tp;
  machine.pools.assign(machine.engines, of_engines);
  if (both.places.empty()) {
    both.places.resize(both.nodes);
    std::iota(both.places.begin(), both.places.end(), 0);
  }
  for (int node = 0; node < rollout.nodes; ++node) both.places.push_back(first + node);
  Pool engines = *like;
  engines.nodes = rollout.nodes;
  both.pools.push_back(engines);
  both.machine_nodes = first + rollout.nodes;
  both.nodes += rollout.nodes;
}

// Whether the ranks that hold a whole model together share a node, wherever they are.
bool gathers_in_node(const Job& learner) {
  const Layout& layout = learner.layout;
  const Cluster& cluster = learner.cluster;
  if (cluster.nodes == 1) return true;
  if (layout.sharding == Sharding::zero3) return false;
  const int members = layout.ranks() / layout.pp;
  const int neighbours = std::lcm(layout.tp, layout.ep * layout.expert_stride());
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const int first = rank % members / neighbours * neighbours;  // on the first pipeline rank
    if (cluster.node_of(rank) != cluster.node_of(first)) return false;
  }
  return true;
}

double nic_Bps_of_gpu(const NodeSpec& node) {
  return node.nic_Bps.value * node.nics / node.gpus;
}

WeightTransfer gathered(const Job& learner, const RolloutSpec& rollout,
                        const RolloutMachine& machine) {
  const NodeSpec& node = learner.cluster.node;
  const Calibration& c = learner.calibration;
  const bool inside = gathers_in_node(learner);
  WeightTransfer transfer;
  transfer.model_bytes = changed_weight_bytes(learner);
  transfer.sent_bytes = transfer.model_bytes * learner.cluster.gpus();
  transfer.bound_s = transfer.model_bytes / (inside ? node.nvlink_Bps.value : nic_Bps_of_gpu(node));
  transfer.transfer_s =
      transfer.bound_s / (inside ? c.nvlink_efficiency.value : c.nic_efficiency.value);
  if (!rollout.colocated) {  // tensor by tensor to engines, where each GPU receives whole tensors
    const NodeSpec& of_engines = machine.cluster.spec_of(machine.first_gpu / node.gpus);
    const double slower_Bps = std::min(nic_Bps_of_gpu(node), nic_Bps_of_gpu(of_engines));
    transfer.sent_bytes += transfer.model_bytes * machine.engines * rollout.engine.tp;
    const double sent_s = transfer.model_bytes / slower_Bps;
    const bool at_once = rollout.weights == WeightPath::packed;
    const auto both_s = [&](double first_s, double second_s) {
      return at_once ? std::max(first_s, second_s) : first_s + second_s;
    };
    transfer.bound_s = both_s(transfer.bound_s, sent_s);
    transfer.transfer_s = both_s(transfer.transfer_s, sent_s / c.nic_efficiency.value);
  }
  transfer.seconds =
      transfer.transfer_s + c.gathered_tensor_s.value * weight_tensors(learner.model);
  return transfer;
}

WeightTransfer by_flows(const Job& learner, const RolloutSpec& rollout,
                        const RolloutMachine& machine) {
  const Cluster& cluster = machine.cluster;
  const Calibration& c = learner.calibration;
  WeightFlows flows = weight_flows(learner, rollout, machine);
  const LinkTable links = LinkTable::keeping_reference(cluster);
  WeightTransfer transfer;
  transfer.model_bytes = changed_weight_bytes(learner);
  for (const CollectiveEdge& edge : flows.edges) transfer.sent_bytes += edge.bytes;
  if (flows.edges.empty()) return transfer;
  transfer.bound_s = busiest_link_s(flows.edges, flows.gpus, links);
  bool across = false;
  for (CollectiveEdge& edge : flows.edges) {
    const bool inside = cluster.node_of(edge.source) == cluster.node_of(edge.destination);
    edge.bytes /= inside ? c.nvlink_efficiency.value : c.nic_efficiency.value;
    across |= !inside;
  }
  transfer.transfer_s = busiest_link_s(flows.edges, flows.gpus, links);
  const double hop_s = across ? c.nic_latency_s.value : c.nvlink_latency_s.value;
  transfer.seconds = c.collective_launch_s.value + flows.hops * hop_s + transfer.transfer_s;
  return transfer;
}

// Number of tensors that the rule stands for in checkpoints.
double tensors_of(const TensorRule& rule, const TransformerSpec& model) {
  // The rule covers all vectors of a Mamba layer, including its norm.
  const bool vectors = rule.tensor == "mamba.heads";
  return rule.count * (vectors ? model.mamba.form().head_vectors + 1 : 1);
}

// `whole` is the transfer of all weights by flows; only matrices of MLPs and experts use it. All
// other tensors are gathered afterwards, in buffers. A layer's experts count as one tensor
// (github.com/NVIDIA-NeMo/RL, 7ea279ab, docs/design-docs/nccl-reshard-refit.md).
WeightTransfer with_rest(const WeightTransfer& whole, const Job& learner,
                         const RolloutSpec& rollout, const RolloutMachine& machine) {
  const TransformerSpec& model = learner.model;
  double all = 0, direct = 0, direct_tensors = 0, rest_tensors = 0;
  for (const TensorRule& rule : tensor_rules(model)) {
    const bool experts = rule.tensor.starts_with("experts.");
    const bool matrix = rule.tensor.ends_with(".gate") || rule.tensor.ends_with(".up") ||
                        rule.tensor.ends_with(".down");
    all += rule.parameters();
    if (matrix && (experts || rule.tensor.starts_with("mlp."))) {
      direct += rule.parameters();
      direct_tensors += rule.count / (experts ? model.moe.experts : 1);
    } else {
      rest_tensors += tensors_of(rule, model);
    }
  }
  const double share = direct / all;
  RolloutSpec packed = rollout;
  packed.weights = WeightPath::packed;
  WeightTransfer transfer = gathered(learner, packed, machine);
  const auto both = [&](double by_flows, double gathered) {
    return share * by_flows + (1 - share) * gathered;
  };
  transfer.bound_s = both(whole.bound_s, transfer.bound_s);
  transfer.transfer_s = both(whole.transfer_s, transfer.transfer_s);
  transfer.sent_bytes = both(whole.sent_bytes, transfer.sent_bytes);
  transfer.seconds = transfer.transfer_s + whole.seconds - whole.transfer_s +
                     learner.calibration.gathered_tensor_s.value * (direct_tensors + rest_tensors);
  return transfer;
}

}  // namespace

double weight_tensors(const TransformerSpec& model) {
  double tensors = 0;
  for (const TensorRule& rule : tensor_rules(model)) tensors += tensors_of(rule, model);
  return tensors;
}

RolloutMachine rollout_machine(const Job& learner, const RolloutSpec& rollout) {
  check_engines(learner, rollout);
  RolloutMachine machine;
  machine.cluster = learner.cluster;
  Cluster& both = machine.cluster;
  if (rollout.colocated) {
    machine.engines = both.gpus() / rollout.engine.tp;
    find_pools(learner, rollout.engine, machine);
    return machine;
  }
  if (!both.pools.empty()) {
    add_engine_pool(rollout, machine);
    return machine;
  }
  const int nodes = both.nodes + rollout.nodes;
  if (both.machine_nodes > 0 && both.machine_nodes < nodes) {
    throw Error::about({"rollout.nodes", "rollout"},
                       "rollout.nodes: the fabric joins {} nodes (cluster.fabric.nodes), but the "
                       "learner's {} and the engines' {} are more together",
                       both.machine_nodes, both.nodes, rollout.nodes);
  }
  // Engines are placed on the first nodes that the learner does not use.
  if (!both.places.empty()) {
    const std::set<int> taken(both.places.begin(), both.places.end());
    for (int place = 0; static_cast<int>(both.places.size()) < nodes; ++place) {
      if (!taken.contains(place)) both.places.push_back(place);
    }
  }
  machine.first_gpu = both.gpus();
  both.nodes = nodes;
  machine.engines = rollout.nodes * both.node.gpus / rollout.engine.tp;
  return machine;
}

WeightFlows weight_flows(const Job& learner, const RolloutSpec& rollout,
                         const RolloutMachine& machine) {
  FlowBuilder builder(learner, rollout, machine);
  if (rollout.colocated) {
    builder.colocated();
  } else if (rollout.weights != WeightPath::broadcast) {
    builder.direct(rollout.weights == WeightPath::reshard);
  } else {
    builder.broadcast();
  }
  return builder.take();
}

WeightTransfer weight_transfer(const Job& learner, const RolloutSpec& rollout,
                               const RolloutMachine& machine) {
  if (gathers_tensors(rollout.weights)) return gathered(learner, rollout, machine);
  const WeightTransfer whole = by_flows(learner, rollout, machine);
  if (rollout.weights != WeightPath::reshard) return whole;
  return with_rest(whole, learner, rollout, machine);
}

}  // namespace windtunnel
