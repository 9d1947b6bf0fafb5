// Compares figures that papers report for networks with ours; docs/physics/network.md lists both.
// If we miss a published range, the test expects our prediction, and a comment says "Missed".
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/cost/op/op_cost.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/network/groups/group_shape.hpp"
#include "scenarios/language/library/library.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

const LayerTable& find_network(std::string_view name) {
  const auto found = std::ranges::find(library_networks(), name, &LayerTable::name);
  CHECK(found != library_networks().end(), "no network '{}'", name);
  return *found;
}

// Returns a scenario that states only required keys, with these overrides.
Case headline_case(const std::string& model, const std::string& cluster,
                   const Overrides& overrides) {
  return parse_case(fmt::format("name: headline\nmodel: {}\ncluster: {{{}}}\n"
                                "layout: {{tp: 1}}\nbatch: {{global: 23040}}\n"
                                "recompute: selective\nschedule: 1f1b\n",
                                model, cluster),
                    "headline.yaml", overrides);
}

double headline_step_s(const Case& of) {
  return simulate(of, {.threads = 1, .allow_oom = true}).iteration.time_s;
}

std::vector<std::int32_t> all_gpus(const Cluster& cluster) {
  std::vector<std::int32_t> gpus(cluster.gpus());
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

double all_gpus_s(CollectiveKind kind, CollectiveChoice choice, double bytes, const Job& job) {
  return collective_cost(kind, choice, group_shape(all_gpus(job.cluster), job.cluster), bytes,
                         job.cluster, job.calibration)
      .seconds;
}

const Overrides kThreeWays = {
    {"layout", "{tp: 8, pp: 4, sharding: zero1, sequence_parallel: true}"},
    {"batch.global", "64"},
    {"communication.overlap", "bucketed"}};

double rail_step_s(const std::string& fabric) {
  return headline_step_s(headline_case(
      "llama3-8b", fmt::format("nodes: 16, node: dgx-h100, fabric: {}", fabric), kThreeWays));
}

TEST(NetworkHeadlines, RailsAloneAreEnoughForThreeWaysOfParallelism) {
  // Wang et al., arXiv 2307.12169, report that training on rails alone is as fast as on a Clos
  // network; here it is within 1 %.
  const double rails_s = rail_step_s("rail-only-h100");
  EXPECT_NEAR(rails_s / rail_step_s("clos-3-level"), 1, 0.01);
  EXPECT_NEAR(rails_s / rail_step_s("full-bisection"), 1, 0.01);
}

double all_to_all_s(const Job& job, CollectiveAlgorithm algorithm) {
  return all_gpus_s(CollectiveKind::all_to_all, algorithm, 1e9, job);
}

TEST(NetworkHeadlines, ForwardingAllToAllsInsideNodesIsHiddenByPipelines) {
  // NVLink forwards bytes while the NIC, nine times slower, is busy. It does so on a Clos network,
  // where NCCL forwards too, as on a rail-only one. The baseline has infinitely fast NVLink.
  Job job = headline_case("llama3-8b", "nodes: 16, node: dgx-h100, fabric: rail-only-h100", {}).job;
  const double forwarded_s = all_to_all_s(job, CollectiveAlgorithm::pairwise);
  job.cluster.node.nvlink_Bps.value *= 1e6;
  EXPECT_NEAR(forwarded_s / all_to_all_s(job, CollectiveAlgorithm::pairwise), 1, 0.01);
}

TEST(NetworkHeadlines, ForwardingAsAPhaseOfItsOwnCostsWhatRailOnlySays) {
  // The same paper states 8.2 to 11.2 % more time than any-to-any if all forwarding precedes the
  // first byte that leaves a node. Here only the bandwidths of NVLink and NICs decide. With fewer
  // nodes less is sent to others, but as much is forwarded inside: up to one point more than in the
  // paper.
  for (const int nodes : {16, 64, 120}) {
    const auto on = [&](const char* fabric) {
      return headline_case("llama3-8b",
                           fmt::format("nodes: {}, node: dgx-h100, fabric: {}", nodes, fabric), {})
          .job;
    };
    const double rails_s = all_to_all_s(on("rail-only-h100"), CollectiveAlgorithm::hierarchical);
    const double any_s = all_to_all_s(on("full-bisection"), CollectiveAlgorithm::pairwise);
    fmt::print("{} nodes: {:.1f} %\n", nodes, 100 * (rails_s / any_s - 1));
    EXPECT_GT(rails_s / any_s, 1.082);
    EXPECT_LT(rails_s / any_s, nodes < 120 ? 1.122 : 1.112);
  }
}

// Returns the relative growth of a step from 128 to 1,024 GCDs of Frontier, for 175 billion
// parameters and 128 sequences per replica.
double frontier_growth(const std::string& routing) {
  const auto step_s = [&](int replicas) {
    return headline_step_s(headline_case(
        "gpt3-175b",
        fmt::format("nodes: {}, node: frontier-mi250x, fabric: {{base: frontier, routing: {}}}",
                    16 * replicas, routing),
        {{"layout", "{tp: 8, pp: 16, sharding: zero1, sequence_parallel: true}"},
         {"batch.global", fmt::format("{}", 128 * replicas)},
         {"recompute", "full"},
         {"communication.overlap", "bucketed"}}));
  };
  return step_s(8) / step_s(1) - 1;
}

TEST(NetworkHeadlines, AdaptiveRoutesKeepFrontierFlat) {
  // Dash et al., arXiv 2312.12705, report that steps stay within 2 % on Slingshot, which routes
  // adaptively.
  const double adaptive = frontier_growth("adaptive");
  fmt::print("adaptive {:.1f} %, minimal {:.1f} %\n", 100 * adaptive,
             100 * frontier_growth("spray"));
  EXPECT_GT(adaptive, 0);
  EXPECT_LT(adaptive, 0.03);
  EXPECT_GT(frontier_growth("spray"), 0.08);
}

double routed_step_s(const std::string& routing) {
  return headline_step_s(headline_case(
      "llama2-7b",
      fmt::format("nodes: 16, node: dgx-h100, fabric: {{topology: fat-tree, transport: roce, "
                  "nodes_per_pod: 4, pod_oversubscription: 1, {}}}",
                  routing),
      {{"layout.sharding", "zero2"},
       {"batch.global", "128"},
       {"recompute", "full"},
       {"communication.overlap", "none"}}));
}

TEST(NetworkHeadlines, PlannedRoutesBeatHashedOnes) {
  // C4, arXiv 2406.04594, reports that planned routes give 15 % more throughput on average.
  const double planned_s = routed_step_s("routing: planned");
  EXPECT_NEAR(planned_s, routed_step_s("routing: spray"), 0.01 * planned_s);
  double hashed_s = 0;
  constexpr int kSeeds = 8;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    hashed_s += routed_step_s(fmt::format("routing: ecmp, routing_seed: {}", seed)) / kSeeds;
  }
  fmt::print("gain {:.4f}\n", hashed_s / planned_s - 1);
  EXPECT_GT(hashed_s / planned_s, 1.10);
  EXPECT_LT(hashed_s / planned_s, 1.30);
}

struct HostAndRing {
  double host_GBps = 0;
  double ring_GBps = 0;
};

HostAndRing host_and_ring(int nodes, const std::string& keys) {
  const Case of = headline_case(
      "llama3-8b",
      fmt::format("nodes: {}, node: {{base: fire-flyer-a100{}}}, fabric: fire-flyer", nodes, keys),
      {});
  constexpr double kBytes = 186 * 1048576.0;
  const auto GBps = [&of](CollectiveAlgorithm algorithm) {
    return kBytes / 1e9 / all_gpus_s(CollectiveKind::all_reduce, algorithm, kBytes, of.job);
  };
  return {GBps(CollectiveAlgorithm::hfreduce), GBps(CollectiveAlgorithm::ring)};
}

TEST(NetworkHeadlines, ReducingOnTheHostBeatsRingsThroughPcie) {
  // Fire-Flyer, arXiv 2408.14158, reports 6.3 to 8.1 GB/s against NCCL's 1.6 to 4.8 on 16 to 1,440
  // GPUs, which is 1.7 to 4 times as much. The library's node has both limits of its hosts: 9 GiB/s
  // from one device to another, which limits the ring, and the root port that two GPUs share, which
  // limits both. Without them the two are nearly equally fast, and HFReduce would not have been
  // worth building.
  for (const int nodes : {2, 16, 80, 180}) {
    const HostAndRing named = host_and_ring(nodes, "");
    fmt::print("{} GPUs: {:.3f} against {:.2f} GB/s\n", 8 * nodes, named.host_GBps,
               named.ring_GBps);
    EXPECT_GT(named.host_GBps, 6.3);
    EXPECT_LT(named.host_GBps, 8.1);
    EXPECT_GT(named.ring_GBps, 1.6);
    EXPECT_LT(named.ring_GBps, 4.8);
    EXPECT_GT(named.host_GBps, 1.7 * named.ring_GBps);
    EXPECT_LT(named.host_GBps, 4.0 * named.ring_GBps);
    const HostAndRing free = host_and_ring(nodes, ", root_port: 64 GB/s, host_bridge: 1 TB/s");
    fmt::print("  no limit: {:.1f} against {:.1f} GB/s\n", free.host_GBps, free.ring_GBps);
    EXPECT_GT(free.host_GBps, 1.5 * named.host_GBps);
    // On 1,440 GPUs NCCL's tuner then chooses the LL protocol, which reaches 4.5 % of a NIC's
    // bandwidth on A100.
    if (nodes < 180) {
      EXPECT_LT(free.host_GBps / free.ring_GBps, named.host_GBps / named.ring_GBps);
    }
  }
}

// Returns the time of a data-parallel step that reduces the gradients of each layer as soon as they
// exist, one layer after the other.
double layerwise_step_s(const LayerTable& network, double samples, const Job& job) {
  double network_free_s = 0;
  const auto time_of = [&](const LayerTable& part, Pass pass) {
    double seconds = 0;
    for (const Op& op : network_ops(part, samples, Precision::fp32, pass)) {
      seconds += op_cost(op, job.cluster.node.gpu, Precision::fp32, job.calibration).seconds;
    }
    return seconds;
  };
  double compute_s = time_of(network, Pass::forward);
  for (size_t i = network.layers.size(); i-- > 0;) {
    const LayerTable layer{network.name, {network.layers[i]}, network.source};
    compute_s += time_of(layer, Pass::backward_input) + time_of(layer, Pass::backward_weight);
    if (network.layers[i].parameters == 0) continue;
    network_free_s =
        std::max(compute_s, network_free_s) +
        all_gpus_s(CollectiveKind::all_reduce, {}, 4 * network.layers[i].parameters, job);
  }
  return std::max(compute_s, network_free_s);
}

TEST(NetworkHeadlines, ResNetOn256GpusHidesItsReductions) {
  // Goyal et al., arXiv 1706.02677, report about 90 % of the throughput per GPU on 256 GPUs
  // relative to 8, with 32 images each and 50 Gb/s Ethernet. Between nodes Gloo sums their
  // gradients (section 4), so that NCCL's law does not apply. We hide all reductions; the other
  // causes of their lost tenth are not modelled.
  const auto job_of = [](int nodes) {
    return headline_case(
               "llama3-8b",
               fmt::format("nodes: {}, node: {{base: dgx-v100, gpu: p100, nvlink: 80 GB/s, "
                           "nics: 1, nic: 50 Gb/s}}",
                           nodes),
               {{"precision", "fp16"}, {"communication.law", "constants"}})
        .job;
  };
  const LayerTable& network = find_network("resnet-50");
  const double efficiency =
      layerwise_step_s(network, 32, job_of(1)) / layerwise_step_s(network, 32, job_of(32));
  fmt::print("efficiency {:.4f}\n", efficiency);
  EXPECT_GT(efficiency, 0.9);
  EXPECT_LE(efficiency, 1.0);
}

// The same job now has jitter of its GPUs, which was fitted to PyTorch's DDP rows of ResNet-50 on
// V100 (docs/results/validation-compression.md): 2.1 % of a step.
TEST(NetworkHeadlines, JitterTakesAPartOfResNetsTenth) {
  const auto step_s = [](int nodes, const char* jitter) {
    const Case read = parse_case(
        fmt::format("name: goyal\nmodel: resnet-50\nprecision: fp32\n"
                    "cluster: {{nodes: {}, node: {{base: dgx-v100, gpu: p100, nvlink: 80 GB/s, "
                    "nics: 1, nic: 50 Gb/s}}{}}}\n"
                    "batch: {{global: {}, micro: 32}}\n"
                    "communication: {{overlap: wfbp, law: constants}}\n",
                    nodes, jitter, nodes * 256),
        "goyal.yaml", {});
    return measure_iteration(read).report.time_s;
  };
  const char* const jitter = ", jitter: {sigma: 0.021, draws: 60}";
  const double steady = step_s(1, "") / step_s(32, "");
  const double jittering = step_s(1, jitter) / step_s(32, jitter);
  fmt::print("efficiency {:.4f}, with jitter {:.4f}\n", steady, jittering);
  EXPECT_LT(jittering, steady);
  EXPECT_GT(jittering, 0.9);
}

// NVIDIA's Llama 3.1 8B of MLPerf v6.0 ran on 1,024 GB200, 64 in each rack, with 16 GPUs per
// sequence and gradient buckets of 768 M elements: 71.8 ms per step, the time of a block over its
// steps in one run (github.com/Richardyu114/training_results_v6.0 eabf23a0,
// tyche-hsg_ngpu1024_ngc26.04_nemo).
TEST(NetworkHeadlines, ALlamaOnAThousandGb200) {
  const auto step_s = [](const char* communication) {
    const Case read = parse_case(
        fmt::format("name: llama8b\nmodel: llama3.1-8b\nprecision: fp8\n"
                    "cluster: {{nodes: 16, node: {{base: gb200-nvl72, gpus: 64, nics: 64}}, "
                    "fabric: {{transport: roce}}}}\n"
                    "layout: {{tp: 4, cp: 4, dp: 64, sharding: zero1, sequence_parallel: true}}\n"
                    "batch: {{global: 64, micro: 1, sequence: 8192}}\n"
                    "software: {{fused_loss: true, reductions: bf16, tp_overlap: pipelined, "
                    "cuda_graphs: true}}\ncommunication: {{overlap: bucketed{}}}\n",
                    communication),
        "llama8b.yaml");
    return headline_step_s(read);
  };
  const double own_s = step_s(", bucket_elements: 768 M");
  const double core_s = step_s(", bucket_elements: 40 M, bucket_elements_per_replica: 1 M");
  const double small_s = step_s("");
  const double constants_s = step_s(", bucket_elements: 768 M, law: constants");
  fmt::print(
      "Llama 3.1 8B on 1,024 GB200: {:.1f} ms, in buckets of 64 M elements {:.1f}, of 25 MB "
      "{:.1f}; by constants {:.1f} (71.8)\n",
      1e3 * own_s, 1e3 * core_s, 1e3 * small_s, 1e3 * constants_s);
  // Missed: with the buckets that they state we are 45 % low.
  EXPECT_NEAR(own_s, 39.5e-3, 1e-3);
  EXPECT_LT(constants_s, own_s);
  EXPECT_LT(own_s, core_s);
  EXPECT_LT(1.5 * core_s, small_s);
}

double shared_nics_s(const std::string& schedule, const std::string& fidelity) {
  return headline_step_s(load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/mixtral-shared-nics.yaml",
                                   {{"schedule", schedule}, {"communication.fidelity", fidelity}}));
}

// 180 K GPU-hours per T tokens on 2,048 GPUs, with a batch of 15,360 x 4,096 tokens, are 19.9 s per
// step (arXiv 2412.19437, table 1). A token goes to at most four of the eight nodes (section
// 2.1.2), so that nearly all of the exchange is hidden, as the authors say. The module for
// multi-token prediction is on the last stage with one layer and the head; with three layers there,
// which the other stages' sizes would leave, that stage would dominate and the step take 20.3 s.
// Our step is 11 % short, because two effects are left out: 20 SMs serve the exchange all the time
// and not only while it runs, and fp8 products promote their partial sums. The exchange shares its
// NICs with messages and gradients; in closed form, as if each ran alone, the step is a little
// shorter.
TEST(NetworkHeadlines, DeepSeekV3sStep) {
  const std::string scenario = WINDTUNNEL_SOURCE_DIR "/scenarios/headlines/deepseek-v3.yaml";
  const double published_s = 180e3 * 3600 / 2048 * 15360 * 4096 / 1e12;
  const double step_s = headline_step_s(load_case(scenario));
  EXPECT_NEAR(step_s / published_s, 0.885, 0.03);
  EXPECT_LT(headline_step_s(load_case(scenario, {{"communication.fidelity", "closed"}})), step_s);
  EXPECT_LT(headline_step_s(load_case(scenario, {{"model.mtp_layers", "0"}})), 0.97 * step_s);
}

TEST(NetworkHeadlines, ContentionTurnsTheRankingOfSchedulesRound) {
  const double other_closed_s = shared_nics_s("zb-v", "closed");
  const double other_flows_s = shared_nics_s("zb-v", "flows");
  EXPECT_LT(shared_nics_s("hanayo", "closed"), 0.99 * other_closed_s);
  EXPECT_GT(shared_nics_s("hanayo", "flows"), 1.01 * other_flows_s);
}

}  // namespace
}  // namespace windtunnel
