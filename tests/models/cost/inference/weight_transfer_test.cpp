#include "models/cost/inference/weight_transfer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "models/base/random.hpp"
#include "models/cost/inference/engine_speed.hpp"
#include "models/workload/stage_parameters.hpp"
#include "tests/models/cost/cost_fixtures.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

Job learner_of(int tp, int pp, int nodes) {
  Job job;
  job.model.layers = 16;
  job.model.hidden = 2048;
  job.model.heads = 16;
  job.model.kv_heads = 16;
  job.model.ffn_hidden = 8192;
  job.model.vocabulary = 32000;
  job.model.sequence = 2048;
  job.cluster = test_cluster(nodes);
  job.calibration = test_calibration();
  job.layout.tp = tp;
  job.layout.pp = pp;
  job.layout.dp = nodes * 8 / (tp * pp);
  return job;
}

struct Draw {
  Job job;
  RolloutSpec rollout;
};

Draw draw(int seed) {
  RandomStream random(seed, RandomPurpose::test, 11);
  const auto pick = [&](const std::vector<int>& from) { return from[random.below(from.size())]; };
  Draw drawn{learner_of(pick({1, 2, 4, 8}), pick({1, 2, 4}), pick({1, 2, 4})), {}};
  if (drawn.job.layout.dp == 0) drawn.job = learner_of(2, 1, 2);
  if (random.uniform() < 0.3) drawn.job.layout.sharding = Sharding::zero3;
  drawn.rollout.engine.tp = pick({1, 2, 4, 8, 16});
  drawn.rollout.weights = random.uniform() < 0.5 ? WeightPath::direct : WeightPath::broadcast;
  drawn.rollout.colocated = random.uniform() < 0.3;
  if (drawn.rollout.colocated && drawn.job.cluster.gpus() % drawn.rollout.engine.tp != 0) {
    drawn.rollout.engine.tp = 8;
  }
  if (!drawn.rollout.colocated) drawn.rollout.nodes = pick({2, 4, 6});
  return drawn;
}

// The bytes of an engine's slice that the GPU already has before the transfer: its own part of the
// model.
double held_bytes(const Draw& drawn, const RolloutMachine& machine, int gpu, double model_bytes) {
  if (!drawn.rollout.colocated) return 0;
  const Layout& layout = drawn.job.layout;
  const RankCoordinates at = coordinates_of(layout, gpu);
  const double part = (gpu - machine.first_gpu) % drawn.rollout.engine.tp;
  const double tp = drawn.rollout.engine.tp;
  const double from = std::max(part / tp, static_cast<double>(at.tp) / layout.tp);
  const double to = std::min((part + 1) / tp, (at.tp + 1.0) / layout.tp);
  const bool scattered = layout.sharding == Sharding::zero3;
  const std::vector<double> stages = stage_parameters(drawn.job.model, layout);
  const double share = stages[at.pp] / std::accumulate(stages.begin(), stages.end(), 0.0);
  return std::max(0.0, to - from) * share * model_bytes / (scattered ? layout.dp : 1);
}

TEST(WeightTransfer, EveryGpuGetsItsSlice) {
  for (int seed = 0; seed < 100; ++seed) {
    const Draw drawn = draw(seed);
    const RolloutMachine machine = rollout_machine(drawn.job, drawn.rollout);
    const WeightFlows flows = weight_flows(drawn.job, drawn.rollout, machine);
    const double model = engine_weight_bytes(drawn.job);
    const double slice = model / drawn.rollout.engine.tp;
    std::map<int, double> received;
    for (const CollectiveEdge& edge : flows.edges) {
      received[edge.destination] += edge.bytes;
      ASSERT_NE(edge.source, edge.destination);
    }
    for (int i = 0; i < machine.engines * drawn.rollout.engine.tp; ++i) {
      const int gpu = machine.first_gpu + i;
      const double held = held_bytes(drawn, machine, gpu, model);
      ASSERT_NEAR(received[gpu] + held, slice, 1e-9 * model) << "seed " << seed << " gpu " << gpu;
    }
  }
}

// Counts the bytes of each NIC independently of the transfer's routes, and checks the cut around
// each node: the whole model enters it.
TEST(WeightTransfer, MeetsTheBoundOfItsLinks) {
  int bound_by_nics = 0;
  for (int seed = 0; seed < 100; ++seed) {
    const Draw drawn = draw(seed);
    const RolloutMachine machine = rollout_machine(drawn.job, drawn.rollout);
    const WeightFlows flows = weight_flows(drawn.job, drawn.rollout, machine);
    const WeightTransfer transfer = weight_transfer(drawn.job, drawn.rollout, machine);
    const Cluster& cluster = machine.cluster;
    const double nic_Bps = cluster.node.nic_Bps.value;
    std::map<int, double> into_node, out_of_node, into_gpu;
    for (const CollectiveEdge& edge : flows.edges) {
      into_gpu[edge.destination] += edge.bytes;
      if (cluster.node_of(edge.source) == cluster.node_of(edge.destination)) continue;
      into_node[cluster.node_of(edge.destination)] += edge.bytes;
      out_of_node[cluster.node_of(edge.source)] += edge.bytes;
    }
    double least_s = 0;
    for (const auto* nodes : {&into_node, &out_of_node}) {
      for (const auto& [node, bytes] : *nodes) {
        least_s = std::max(least_s, bytes / (cluster.node.nics * nic_Bps));
      }
    }
    for (const auto& [gpu, bytes] : into_gpu) {
      least_s = std::max(least_s, bytes / (cluster.node.nvlink_Bps.value + nic_Bps));
    }
    if (!drawn.rollout.colocated && drawn.rollout.engine.tp <= 8) {
      const double model = engine_weight_bytes(drawn.job);
      ASSERT_GE(transfer.bound_s, model / (cluster.node.nics * nic_Bps) * (1 - 1e-9)) << seed;
      ++bound_by_nics;
    }
    ASSERT_GE(transfer.bound_s, least_s * (1 - 1e-9)) << seed;
    ASSERT_GE(transfer.transfer_s, transfer.bound_s * (1 - 1e-12)) << seed;
    ASSERT_GE(transfer.seconds, transfer.transfer_s) << seed;
    // The transfer takes the bound at the worst efficiency, and latencies, at most.
    ASSERT_LE(transfer.seconds, transfer.bound_s / 0.8 + 1e-5 + flows.hops * 5e-6) << seed;
  }
  EXPECT_GT(bound_by_nics, 30);
}

// Two nodes of tp 8 to n nodes of tp 8: each NIC carries an eighth of the model.
TEST(WeightTransfer, ABroadcastTakesAsLongHoweverManyEngines) {
  const Job job = learner_of(8, 1, 2);
  RolloutSpec rollout;
  rollout.engine.tp = 8;
  for (const int nodes : {1, 4, 16}) {
    rollout.nodes = nodes;
    const RolloutMachine machine = rollout_machine(job, rollout);
    const WeightTransfer transfer = weight_transfer(job, rollout, machine);
    EXPECT_NEAR(transfer.bound_s, transfer.model_bytes / 8 / 50e9, 1e-9 * transfer.bound_s);
    rollout.weights = WeightPath::direct;
    const WeightTransfer direct = weight_transfer(job, rollout, machine);
    rollout.weights = WeightPath::broadcast;
    const double copies = std::max(1.0, nodes / 2.0);  // each of the two replicas sends
    EXPECT_NEAR(direct.bound_s, copies * transfer.model_bytes / 8 / 50e9, 1e-9 * direct.bound_s);
  }
}

TEST(WeightTransfer, OnTheSameGpusEqualLayoutsSendNothing) {
  Job job = learner_of(4, 1, 2);
  RolloutSpec rollout;
  rollout.colocated = true;
  rollout.engine.tp = 4;
  EXPECT_EQ(weight_transfer(job, rollout, rollout_machine(job, rollout)).seconds, 0);
  job.layout.sharding = Sharding::zero3;  // four replicas: three quarters come from elsewhere
  const WeightTransfer gathered = weight_transfer(job, rollout, rollout_machine(job, rollout));
  EXPECT_NEAR(gathered.sent_bytes, 16 * 0.75 * gathered.model_bytes / 4,
              1e-9 * gathered.sent_bytes);
}

TEST(WeightTransfer, EnginesFillNodesAndTheFabricHasRoom) {
  Job job = learner_of(8, 1, 2);
  RolloutSpec rollout;
  rollout.nodes = 3;
  rollout.engine.tp = 16;
  EXPECT_THAT(
      error_of([&] { rollout_machine(job, rollout); }),
      HasSubstr("rollout.engine.tp is 16, but engines must fill their nodes of 8 GPUs (3 nodes)"));
  rollout.engine.tp = 8;
  job.cluster.machine_nodes = 4;
  EXPECT_THAT(error_of([&] { rollout_machine(job, rollout); }),
              HasSubstr("the fabric joins 4 nodes"));
  job.cluster.machine_nodes = 8;
  job.cluster.places = {5, 0};
  const RolloutMachine machine = rollout_machine(job, rollout);
  EXPECT_EQ(machine.cluster.places, (std::vector{5, 0, 1, 2, 3}));
  EXPECT_EQ(machine.first_gpu, 16);
}

// An engine on nodes of two pools is as slow as the pool that reads weights slowest. If they read
// equally fast, the slower one in products of the engine's precision decides. Without one these are
// 16-bit products, whatever the learner's precision.
TEST(WeightTransfer, TheSlowestPoolOfAnEngineIsTheOneThatReadsWeightsSlowest) {
  Job job = learner_of(8, 1, 2);
  RolloutSpec rollout;
  rollout.colocated = true;
  rollout.engine.tp = 16;
  const auto slowest = [&](double Bps, double bf16_flops, double fp8_flops) {
    Pool first;
    first.name = "first";
    first.node = job.cluster.node;
    Pool second = first;
    second.node.gpu.memory_Bps.value *= Bps;
    second.node.gpu.bf16_flops.value *= bf16_flops;
    second.node.gpu.fp8_flops = parameter(first.node.gpu.fp8_flops.value * fp8_flops);
    Job own = job;
    own.cluster.pools = {first, second};
    return rollout_machine(own, rollout).pools;
  };
  EXPECT_EQ(slowest(0.5, 2, 1), std::vector{1});
  EXPECT_EQ(slowest(2, 0.5, 1), std::vector{0});
  EXPECT_EQ(slowest(1, 0.5, 1), std::vector{1});
  EXPECT_EQ(slowest(1, 2, 1), std::vector{0});
  job.precision = Precision::fp8;
  job.cluster.node.gpu.fp8_flops = parameter(2e15);
  EXPECT_EQ(slowest(1, 2, 0.5), std::vector{0});
  rollout.engine.precision = Precision::fp8;
  EXPECT_EQ(slowest(1, 2, 0.5), std::vector{1});
  EXPECT_EQ(slowest(1, 0.5, 2), std::vector{0});
}

// The base is not sent: engines get only the adapters, each its slice, from the stages that hold
// them.
TEST(WeightTransfer, OfAdaptersNothingElseIsSent) {
  Draw drawn{learner_of(2, 2, 2), {}};
  drawn.rollout.engine.tp = 4;
  drawn.rollout.nodes = 2;
  const RolloutMachine machine = rollout_machine(drawn.job, drawn.rollout);
  const double whole = weight_transfer(drawn.job, drawn.rollout, machine).sent_bytes;
  Training training{.adapter = {.kind = AdapterKind::lora, .rank = 8}};
  training.frozen_layers = std::vector<bool>(16, false);
  for (int layer = 0; layer < 12; ++layer) training.frozen_layers[layer] = true;
  drawn.job.training = std::make_shared<const Training>(training);
  const WeightTransfer sent = weight_transfer(drawn.job, drawn.rollout, machine);
  // These are rank x (inputs + outputs) of six matrices in four layers, in 16 bit.
  const double h = 2048;
  EXPECT_EQ(sent.model_bytes, 2 * 4 * 8 * (4 * 2 * h + 2 * (h + 4 * h)));
  EXPECT_NEAR(sent.sent_bytes / sent.model_bytes, whole / engine_weight_bytes(drawn.job), 1e-9);
  for (const CollectiveEdge& edge : weight_flows(drawn.job, drawn.rollout, machine).edges) {
    if (edge.source >= 16) continue;                                 // engines pass it on
    EXPECT_EQ(coordinates_of(drawn.job.layout, edge.source).pp, 1);  // layers 12 to 15
  }
  // Without adapters all trained weights are sent: a quarter of the layers, embedding and head.
  training.adapter = {};
  drawn.job.training = std::make_shared<const Training>(training);
  const double parts = weight_transfer(drawn.job, drawn.rollout, machine).model_bytes;
  EXPECT_LT(parts, engine_weight_bytes(drawn.job));
  EXPECT_GT(parts, sent.model_bytes);
}

// Checkpoints on Hugging Face have this many tensors (model.safetensors.index.json).
TEST(WeightTransfer, TensorsAreThoseOfCheckpoints) {
  TransformerSpec model = llama3_8b();
  EXPECT_EQ(weight_tensors(model), 291);  // meta-llama/Meta-Llama-3-8B
  model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 14336};
  EXPECT_EQ(weight_tensors(model), 995);  // mistralai/Mixtral-8x7B-v0.1
  model.moe.shared_ffn = 14336;
  EXPECT_EQ(weight_tensors(model), 995 + 32 * 3);
}

// Matrices of MLPs go to their slices from all replicas; the rest is packed. All experts of a layer
// count as one tensor in each direction.
TEST(WeightTransfer, ReshardingGathersWhatIsNoMlp) {
  Job job = learner_of(8, 1, 2);
  RolloutSpec rollout;
  rollout.nodes = 2;
  rollout.engine.tp = 8;
  const auto by = [&](WeightPath path) {
    rollout.weights = path;
    return weight_transfer(job, rollout, rollout_machine(job, rollout));
  };
  const WeightTransfer whole = by(WeightPath::reshard);
  const double mlp = job.model.layers * job.model.mlp_parameters() / job.model.parameters();
  EXPECT_NEAR(whole.bound_s,
              mlp * whole.model_bytes / 8 / 50e9 + (1 - mlp) * by(WeightPath::packed).bound_s,
              0.01 * whole.bound_s);
  job.model.moe = {.experts = 64, .per_token = 8, .ffn_hidden = 768};
  const double tensor_s = job.calibration.gathered_tensor_s.value;
  EXPECT_LT(by(WeightPath::reshard).seconds,
            by(WeightPath::packed).seconds - 60 * job.model.layers * tensor_s);
}

// Without experts both paths send equally many tensors; vectors of Mamba layers are among them.
TEST(WeightTransfer, HybridsHaveAsManyTensorsByBothPaths) {
  Job job = learner_of(8, 1, 2);
  job.model.mamba = {.state = 128, .head_width = 64, .groups = 8, .heads = 128};
  job.model.pattern = "MMM*";
  RolloutSpec rollout;
  rollout.nodes = 2;
  rollout.engine.tp = 8;
  const auto other_s = [&](WeightPath path) {
    rollout.weights = path;
    const WeightTransfer transfer = weight_transfer(job, rollout, rollout_machine(job, rollout));
    return transfer.seconds - transfer.transfer_s;
  };
  const Calibration& c = job.calibration;
  const double flows_s = c.collective_launch_s.value + c.nic_latency_s.value;
  EXPECT_NEAR(other_s(WeightPath::reshard), other_s(WeightPath::packed) + flows_s, 1e-9);
}

// A tensor is gathered over NVLink if the ranks that share it are on one node.
TEST(WeightTransfer, GathersGoWhereRanksStand) {
  RolloutSpec rollout;
  rollout.colocated = true;
  rollout.weights = WeightPath::gather;
  const auto bound_Bps = [&](const Job& job) {
    const WeightTransfer transfer = weight_transfer(job, rollout, rollout_machine(job, rollout));
    return transfer.model_bytes / transfer.bound_s;
  };
  Job job = learner_of(4, 1, 3);
  const double nvlink_Bps = job.cluster.node.nvlink_Bps.value;
  EXPECT_NEAR(bound_Bps(job), nvlink_Bps, 1);
  job.layout.ep = 6;  // groups of 4 and of 6 coincide after 12 ranks, on two nodes
  EXPECT_LT(bound_Bps(job), nvlink_Bps / 2);
  job = learner_of(2, 1, 2);
  EXPECT_NEAR(bound_Bps(job), nvlink_Bps, 1);
  job.cluster.ranks = RankMap({0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15});
  EXPECT_LT(bound_Bps(job), nvlink_Bps / 2);
}

// The learner gathers its weights first. Engines on other nodes then get them over the NICs, too.
TEST(WeightTransfer, GatheredTensorsGoOnToEnginesElsewhere) {
  const Job job = learner_of(8, 1, 2);
  RolloutSpec rollout;
  rollout.weights = WeightPath::gather;
  rollout.nodes = 2;
  const WeightTransfer transfer = weight_transfer(job, rollout, rollout_machine(job, rollout));
  const double nvlink_s = transfer.model_bytes / job.cluster.node.nvlink_Bps.value;
  EXPECT_NEAR(transfer.bound_s, nvlink_s + transfer.model_bytes / 50e9, 1e-9 * transfer.bound_s);
  EXPECT_DOUBLE_EQ(transfer.sent_bytes, 32 * transfer.model_bytes);
  // In two buffers both ways are used at once.
  rollout.weights = WeightPath::packed;
  const WeightTransfer packed = weight_transfer(job, rollout, rollout_machine(job, rollout));
  EXPECT_NEAR(packed.bound_s, std::max(nvlink_s, packed.model_bytes / 50e9), 1e-9 * packed.bound_s);
  EXPECT_LT(packed.transfer_s, transfer.transfer_s);
  EXPECT_NEAR(packed.seconds - packed.transfer_s, transfer.seconds - transfer.transfer_s, 1e-9);
}

}  // namespace
}  // namespace windtunnel
