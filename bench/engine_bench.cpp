// Measures time and peak memory (each run is a child process) on Plans of the sizes that have a
// budget (on two shared cores): folded 16,384 GPUs 0.2 s, 200 MB; unfolded 180 s, 4 GB; folded
// 131,072 GPUs 1 s; a sample of 16,384 GPUs whose routes (ECMP or planned) all differ 3 s, 1 GB; 1
// GB all-reduce as flows over nodes, rails and pods, unfolded, on 1,024 / 4,096 / 16,384 GPUs: 0.1
// s / 0.5 s / 3 s, 500 MB; the links and routes of 131,072 GPUs 2 s, 2 GB.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <string>

#include "sim/engine/child.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/platform.hpp"

namespace windtunnel {
namespace {

Parameter spec(double value) {
  return {value, value, value, Origin::spec, "bench"};
}

Cluster dgx_cluster(int nodes, int nodes_per_pod) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.node.gpu.sms = spec(132);
  cluster.node.gpu.memory_Bps = spec(3.35e12);
  cluster.node.nvlink_Bps = spec(450e9);
  cluster.node.nic_Bps = spec(50e9);
  cluster.node.pcie_Bps = spec(64e9);
  cluster.node.host_memory_Bps = spec(400e9);
  cluster.node.cpu_cores = spec(112);
  cluster.node.storage_nic_Bps = spec(50e9);
  cluster.fabric.nodes_per_pod = nodes_per_pod;
  cluster.fabric.pod_oversubscription = 7;
  return cluster;
}

Calibration calibration() {
  Calibration result;
  for (Parameter Calibration::*member :
       {&Calibration::nvlink_efficiency, &Calibration::nic_efficiency}) {
    result.*member = spec(0.9);
  }
  result.nvlink_latency_s = spec(1e-6);
  result.nic_latency_s = spec(5e-6);
  return result;
}

// The shape of a Llama-3-405B iteration: tp 8 in closed form (inside the compute), 16 pipeline
// ranks of 8 chunks, 16 micro-batches in interleaved 1F1B order, a reduce-scatter per chunk as
// flows.
constexpr int kTp = 8, kPp = 16, kChunks = 8, kMicrobatches = 16;

struct Step {
  bool forward = true;
  int chunk = 0;
  int microbatch = 0;
};

// In interleaved 1F1B (Narayanan et al., SC'21), rank r of p with v chunks starts with 2 (p - r -
// 1) + (v - 1) p forward steps.
std::vector<Step> steps_of(int rank) {
  const int total = kMicrobatches * kChunks;
  const int warmup = std::min(total, 2 * (kPp - rank - 1) + (kChunks - 1) * kPp);
  const auto step = [](int i, bool forward) {
    const int chunk = i / kPp % kChunks;
    return Step{forward, forward ? chunk : kChunks - 1 - chunk,
                i / (kPp * kChunks) * kPp + i % kPp};
  };
  std::vector<Step> steps;
  for (int i = 0; i < warmup; ++i) steps.push_back(step(i, true));
  for (int i = warmup; i < total; ++i) {
    steps.push_back(step(i, true));
    steps.push_back(step(i - warmup, false));
  }
  for (int i = total - warmup; i < total; ++i) steps.push_back(step(i, false));
  return steps;
}

// Three pipeline ranks share a pod, as with 16,384 GPUs in pods of 384 nodes: rings stay in a pod.
Cluster job_cluster(int ranks) {
  return dgx_cluster(ranks / 8, 3 * ranks / 8 / kPp);
}

enum BenchStream : std::int16_t { kCompute, kSend, kDp, kRecv };

void add_pipeline_tasks(RankClass& rank_class, int rank) {
  constexpr int kStages = kPp * kChunks;
  std::vector<int> backwards_left(kChunks, kMicrobatches);
  int buckets = 0;
  for (const Step& step : steps_of(rank)) {
    const int stage = step.chunk * kPp + rank;
    const bool first = stage == (step.forward ? 0 : kStages - 1);
    const bool last = stage == (step.forward ? kStages - 1 : 0);
    const auto tag = [&](int at) {
      return (std::int64_t{at} * kMicrobatches + step.microbatch) * 2 + step.forward;
    };
    Task task;
    task.cost = {{Category::forward, Origin::assumed, step.forward ? 0.01 : 0.02}};
    if (!first) {
      Task receive;
      receive.kind = TaskKind::recv;
      receive.stream = kRecv;
      receive.peer_slot = step.forward ? 0 : 1;
      receive.tag = tag(step.forward ? stage - 1 : stage + 1);
      task.after = {static_cast<TaskIndex>(rank_class.tasks.size())};
      rank_class.tasks.push_back(receive);
    }
    const auto index = static_cast<TaskIndex>(rank_class.tasks.size());
    rank_class.tasks.push_back(task);
    if (!last) {
      Task send;
      send.kind = TaskKind::send;
      send.stream = kSend;
      send.peer_slot = step.forward ? 1 : 0;
      send.tag = tag(stage);
      send.bytes = 33.5e6;
      send.after = {index};
      rank_class.tasks.push_back(send);
    }
    if (step.forward || --backwards_left[step.chunk] > 0) continue;
    Task reduce;
    reduce.kind = TaskKind::collective;
    reduce.stream = kDp;
    reduce.group_slot = 0;
    reduce.sequence = buckets++;
    reduce.collective = CollectiveKind::reduce_scatter;
    reduce.algorithm = CollectiveAlgorithm::ring;
    reduce.as_flows = true;
    reduce.bytes = 1.6e9;
    reduce.after = {index};
    rank_class.tasks.push_back(reduce);
  }
}

Plan iteration_plan(int dp) {
  Plan plan;
  plan.ranks = kTp * dp * kPp;
  const auto rank_at = [dp](int tp, int d, int pp) { return tp + kTp * (d + dp * (pp % kPp)); };
  for (int pp = 0; pp < kPp; ++pp) {
    RankClass rank_class;
    rank_class.name = "pp " + std::to_string(pp);
    rank_class.streams = {{"compute", StreamOrder::in_order},
                          {"send", StreamOrder::in_order},
                          {"dp", StreamOrder::in_order},
                          {"recv", StreamOrder::unordered}};
    rank_class.groups.resize(1);
    rank_class.peers.resize(2);
    for (int d = 0; d < dp; ++d) {
      for (int tp = 0; tp < kTp; ++tp) {
        rank_class.members.push_back(rank_at(tp, d, pp));
        rank_class.groups[0].push_back(pp * kTp + tp);
        rank_class.peers[0].push_back(rank_at(tp, d, pp + kPp - 1));
        rank_class.peers[1].push_back(rank_at(tp, d, pp + 1));
      }
    }
    for (int tp = 0; tp < kTp; ++tp) {
      Group group;
      for (int d = 0; d < dp; ++d) group.members.push_back(rank_at(tp, d, pp));
      plan.groups.push_back(std::move(group));
    }
    add_pipeline_tasks(rank_class, pp);
    plan.classes.push_back(std::move(rank_class));
  }
  return plan;
}

void report(benchmark::State& state, const Timeline& timeline) {
  state.counters["simulated_s"] = timeline.makespan_s;
  state.counters["ranks_simulated"] = static_cast<double>(timeline.ranks_simulated);
  state.counters["events"] = static_cast<double>(timeline.events);
  state.counters["peak_MB"] = timeline.peak_rss_bytes / 1e6;
}

void run(benchmark::State& state, const Plan& plan, const Cluster& cluster, FoldMode fold) {
  EngineOptions options;
  options.fold = fold;
  options.calibration = calibration();
  for (auto _ : state) report(state, execute(plan, cluster, options));
}

void folded(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  run(state, iteration_plan(ranks / kTp / kPp), job_cluster(ranks), FoldMode::automatic);
}
BENCHMARK(folded)->Arg(16384)->Arg(131072)->Unit(benchmark::kMillisecond)->UseRealTime();

void unfolded(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  run(state, iteration_plan(ranks / kTp / kPp), job_cluster(ranks), FoldMode::none);
}
BENCHMARK(unfolded)->Arg(1024)->Arg(16384)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

// If hashes or plans choose the paths between pods, hardly any ranks are alike, so the engine
// simulates a sample.
void sampled(benchmark::State& state, Routing routing) {
  const auto ranks = static_cast<int>(state.range(0));
  Cluster cluster = job_cluster(ranks);
  cluster.fabric.routing = routing;
  run(state, iteration_plan(ranks / kTp / kPp), cluster, FoldMode::automatic);
}
BENCHMARK_CAPTURE(sampled, ecmp, Routing::ecmp)
    ->Arg(4096)
    ->Arg(16384)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(sampled, planned, Routing::planned)
    ->Arg(4096)
    ->Arg(16384)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

Plan all_reduce_plan(int ranks) {
  Plan plan;
  plan.ranks = ranks;
  RankClass rank_class;
  rank_class.streams = {{"dp", StreamOrder::in_order}};
  rank_class.groups.emplace_back(ranks, 0);
  Group group;
  for (RankId rank = 0; rank < ranks; ++rank) {
    rank_class.members.push_back(rank);
    group.members.push_back(rank);
  }
  Task task;
  task.kind = TaskKind::collective;
  task.group_slot = 0;
  task.algorithm = CollectiveAlgorithm::hierarchical;
  task.as_flows = true;
  task.bytes = 1e9;
  rank_class.tasks = {task};
  plan.classes = {rank_class};
  plan.groups = {group};
  return plan;
}

void all_reduce(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  run(state, all_reduce_plan(ranks), dgx_cluster(ranks / 8, 384), FoldMode::none);
}
BENCHMARK(all_reduce)
    ->Arg(1024)
    ->Arg(4096)
    ->Arg(16384)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void all_reduce_folded(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  run(state, all_reduce_plan(ranks), dgx_cluster(ranks / 8, 384), FoldMode::automatic);
}
BENCHMARK(all_reduce_folded)
    ->Arg(1024)
    ->Arg(4096)
    ->Arg(16384)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Each NIC also sends a message during the all-reduce, so that no two links are alike.
void all_reduce_beside_sends(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  Plan plan = all_reduce_plan(ranks);
  RankClass& all = plan.classes.front();
  all.streams.push_back({"send", StreamOrder::in_order});
  all.streams.push_back({"recv", StreamOrder::unordered});
  all.peers.resize(2);
  for (RankId rank = 0; rank < ranks; ++rank) {
    all.peers[0].push_back((rank + 8) % ranks);
    all.peers[1].push_back((rank + ranks - 8) % ranks);
  }
  Task message;
  message.kind = TaskKind::send;
  message.stream = 1;
  message.peer_slot = 0;
  message.bytes = 1e8;
  all.tasks.push_back(message);
  message.kind = TaskKind::recv;
  message.stream = 2;
  message.peer_slot = 1;
  all.tasks.push_back(message);
  run(state, plan, dgx_cluster(ranks / 8, 384), FoldMode::none);
}
BENCHMARK(all_reduce_beside_sends)
    ->Arg(1024)
    ->Arg(4096)
    ->Arg(16384)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

// Each connection's path follows from a hash, so that every uplink is simulated separately.
void all_reduce_ecmp(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  Cluster cluster = dgx_cluster(ranks / 8, 384);
  cluster.fabric.routing = Routing::ecmp;
  run(state, all_reduce_plan(ranks), cluster, FoldMode::none);
}
BENCHMARK(all_reduce_ecmp)->Arg(16384)->Unit(benchmark::kMillisecond)->UseRealTime();

// Builds SimGrid's links and zone for the paths from each GPU to the next GPU of its node and to
// the same GPU of the next node; nothing is merged or folded.
Folding whole_fabric(const Cluster& cluster) {
  const LinkTable links(cluster);
  std::vector<std::int32_t> dense(links.count(), -1);
  Folding folding;
  std::vector<LinkId> route;
  for (int gpu = 0; gpu < cluster.gpus(); ++gpu) {
    const int neighbour = gpu / 8 * 8 + (gpu + 1) % 8;
    for (const int to : {neighbour, (gpu + 8) % cluster.gpus()}) {
      route.clear();
      links.append_route(gpu, to, route);
      for (const LinkId link : route) {
        if (dense[link] < 0) {
          dense[link] = static_cast<std::int32_t>(folding.capacity.size());
          folding.capacity.push_back(links.capacity(link));
          folding.largest_amount.push_back(1e9);
        }
        folding.links.push_back({dense[link], 1});
      }
    }
    folding.first_link.push_back(static_cast<std::uint32_t>(folding.links.size()));
  }
  return folding;
}

void fabric(benchmark::State& state) {
  const Cluster cluster = dgx_cluster(static_cast<int>(state.range(0)) / 8, 384);
  for (auto _ : state) {
    double peak_kb = 0;
    run_in_child(
        [&cluster](PipeWriter& out) {
          const auto* folding = new Folding(whole_fabric(cluster));
          new Platform(*folding, 0, 1);  // never destroyed, as in a simulation
          rusage usage{};
          getrusage(RUSAGE_SELF, &usage);
          out.put(static_cast<double>(usage.ru_maxrss));
        },
        [&peak_kb](PipeReader& in) { in.get(peak_kb); });
    state.counters["peak_MB"] = peak_kb / 1000;
  }
}
BENCHMARK(fabric)->Arg(131072)->Unit(benchmark::kSecond)->UseRealTime();

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
