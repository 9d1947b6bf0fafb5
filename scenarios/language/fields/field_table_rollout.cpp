// Rows of the field table below "rollout" and "volunteers", and "fuse".
#include "models/base/units.hpp"
#include "models/volunteers/volunteers.hpp"
#include "models/workload/rollout.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {
namespace {

Rows loop_rows() {
  return {
      map_row("rollout",
              example("{nodes: 8, prompts: 512, samples: 8, prompt_length: 512, output: {median: "
                      "2000, sigma: 1, longest: 16384}, engine: {tp: 4}}"),
              "reinforcement learning: engines that write the samples that the job learns from; "
              "default: the job trains alone"),
      whole_row("rollout.nodes", sets<&RolloutSpec::nodes>, range(1, 1e6), optional, example("8"),
                "nodes of the engines, in addition to those of the job"),
      text_row("rollout.pool", sets<&RolloutSpec::pool>, optional, example("old"),
               "with cluster.pools: the pool whose kind of nodes the engines run on"),
      flag_row("rollout.colocated", sets<&RolloutSpec::colocated>, example("true"),
               "in place of nodes: engines on the job's own GPUs, in turn with it"),
      name_row("rollout.mode", sets<&RolloutSpec::mode>, example("asynchronous"),
               "generation, updates and transfer of weights one after the other; or the next batch "
               "is generated during the updates of this one; or engines generate without waiting"),
      whole_row("rollout.staleness", sets<&RolloutSpec::staleness>, range(0, 1000), example("4"),
                "asynchronous: the most versions of the weights by which a sample may be old"),
      flag_row("rollout.keep_cache", sets<&RolloutSpec::keeps_cache>, example("true"),
               "asynchronous: under new weights keys and values of the old ones stay in use; "
               "false: they are computed again"),
      whole_row("rollout.prompts", sets<&RolloutSpec::prompts>, range(1, 1e6), required,
                example("512"), "of an iteration of the loop"),
      whole_row("rollout.samples", sets<&RolloutSpec::samples>, range(1, 1e5), example("8"),
                "of each prompt"),
      fact_row("rollout.epochs", sets<&RolloutSpec::epochs>, above(0, 1000),
               "times that updates go over a batch"),
      fact_row(
          "rollout.update_factor", sets<&RolloutSpec::update_factor>, range(0.1, 100), optional,
          example("1.2"),
          "time of updates and passes over that of pre-training with the same tokens; default: "
          "the calibration's rollout.update_factor"),
      fact_row("rollout.passes", sets<&RolloutSpec::passes>, range(0, 1000), example("1"),
               "additional forward passes over a batch on the job's GPUs, each of a model of its "
               "size: reference, critic, the policy that generated it"),
      duration_row("rollout.reward", sets<&RolloutSpec::reward_s>, example("5 s"),
                   "time from a batch's last sample until its rewards are there"),
      flag_row("rollout.offload", sets<&RolloutSpec::offloads>, example("false"),
               "colocated: weights and optimizer state are on the host while engines write"),
      name_row("rollout.weights", sets<&RolloutSpec::weights>, example("direct"),
               "new weights go to the first node of engines and from node to node on, to every "
               "engine from the job's replicas, or tensor by tensor whole to every GPU of the job, "
               "and from each to an engine, colocated ones too"),
      whole_row("rollout.iterations", sets<&RolloutSpec::iterations>, range(1, 10000),
                "that are simulated"),
      whole_row("rollout.seed", sets<&RolloutSpec::seed>, range(0, 1e8),
                "of the lengths that are drawn"),
  };
}

Rows output_rows() {
  return {
      whole_row("rollout.prompt_length", sets<&RolloutSpec::prompt_length>, range(1, 1e8), required,
                example("512"), "tokens"),
      map_row("rollout.output", required, example("{median: 2000, sigma: 1, longest: 16384}"),
              "tokens that engines write for a sample: a log-normal law, or buckets"),
      fact_row("rollout.output.median", sets<&LengthDistribution::median>, range(1, 1e8), optional,
               example("2000"), "of a log-normal law (p50), tokens"),
      fact_row("rollout.output.mean", range(1, 1e8), optional, example("3300"),
               "in place of the median; of the law, before longest cuts it"),
      fact_row("rollout.output.sigma", sets<&LengthDistribution::sigma>, range(0, 10),
               "of the logarithm; 0: all are alike"),
      fact_row("rollout.output.p99", range(1, 1e8), optional, example("14000"),
               "in place of sigma, with a median: 1 % are longer"),
      whole_row("rollout.output.longest", sets<&LengthDistribution::longest>, range(1, 1e8),
                optional, example("16384"),
                "longer ones are cut to it; default: what batch.sequence leaves"),
      list_row("rollout.output.buckets",
               example("[{shortest: 128, longest: 4096, share: 0.9}, {shortest: 8192, longest: "
                       "16384, share: 0.1}]"),
               "in place of a law, a histogram: ranges inside which lengths are log-uniform"),
      map_row("rollout.output.buckets.*", example("{shortest: 128, longest: 4096, share: 1}"),
              "one range"),
      whole_row("rollout.output.buckets.*.shortest", sets<&LengthBucket::shortest>, range(1, 1e8),
                required, example("128"), "tokens"),
      whole_row("rollout.output.buckets.*.longest", sets<&LengthBucket::longest>, range(1, 1e8),
                required, example("4096"), "tokens"),
      fact_row("rollout.output.buckets.*.share", sets<&LengthBucket::share>, range(0, 1), required,
               example("0.9"), "of the samples; all shares add up to 1"),
  };
}

Rows engine_rows() {
  return {
      map_row("rollout.engine", example("{tp: 4}"), "one copy of the model that writes samples"),
      whole_row("rollout.engine.tp", sets<&EngineSpec::tp>, range(1, 1024), example("4"),
                "its GPUs: tensor parallelism"),
      fact_row("rollout.engine.memory", sets<&EngineSpec::memory_share>, above(0, 1),
               "share of a GPU's usable memory for weights, keys, values and framework"),
      whole_row("rollout.engine.sequences", sets<&EngineSpec::most_sequences>, range(1, 4096),
                "that run at once at most, however much memory there is"),
      duration_row("rollout.engine.host_step", sets<&EngineSpec::host_step_s>, example("2 ms"),
                   "what the host takes between two steps of decoding"),
  };
}

constexpr double kMostPeers = 1e5;
// Each join is simulated as an event. The last factor admits the limit itself in every unit.
constexpr double kMostJoins_per_s = 360 / kHour_s * (1 + 1e-12);

Rows peer_rows() {
  return {
      list_row("volunteers.peers", required,
               example("[{name: t4, count: 400, up: 500 Mb/s, down: 500 Mb/s}]"),
               "kinds of machines: how many there are at the start, and of what speed"),
      map_row("volunteers.peers.*", example("{name: t4, count: 400, up: 500 Mb/s, down: 500 Mb/s}"),
              "machines that are alike; each is one node of the job but for its speed"),
      text_row("volunteers.peers.*.name", sets<&PeerKind::name>, required, example("t4"),
               "what reports call them"),
      whole_row("volunteers.peers.*.count", sets<&PeerKind::count>, range(0, kMostPeers), required,
                example("400"), "at the start"),
      fact_row(
          "volunteers.peers.*.speed", sets<&PeerKind::speed>, range(0, 1e6), example("0.5"),
          "of its kernels, over that of the job's node; 0: it only averages gradients for others"),
      bandwidth_row("volunteers.peers.*.up", sets<&PeerKind::up_Bps>, required, example("200 Mb/s"),
                    "of its link, to the network"),
      bandwidth_row("volunteers.peers.*.down", sets<&PeerKind::down_Bps>, required,
                    example("500 Mb/s"), "of its link, from the network"),
      duration_row("volunteers.peers.*.latency", sets<&PeerKind::latency_s>, example("50 ms"),
                   "of a message, one way"),
      fact_row("volunteers.peers.*.leave", sets<&PeerKind::leave_per_s>, Dimension::per_s,
               range(0, 1), example("0.1 per hour"),
               "how often each of them leaves, at exponential gaps"),
      fact_row("volunteers.peers.*.join", sets<&PeerKind::join_per_s>, Dimension::per_s,
               range(0, kMostJoins_per_s), example("40 per hour"),
               "how often a peer joins, at exponential gaps"),
  };
}

Rows call_rows() {
  return {
      map_row("volunteers.calls", example("{trainers: 64, experts: 4, loss: 0.1}"),
              "trainers that call experts on peers layer by layer, many in parallel, instead of a "
              "pipeline (Learning@home)"),
      whole_row("volunteers.calls.trainers", sets<&ExpertCalls::trainers>, range(1, 1e6), required,
                example("64"), "batches in flight"),
      whole_row("volunteers.calls.experts", sets<&ExpertCalls::experts>, range(1, 1e3),
                example("4"), "that each layer's input is sent to"),
      whole_row("volunteers.calls.answers", sets<&ExpertCalls::answers>, range(1, 1e3),
                example("2"), "answers that a trainer waits for; it continues without the others"),
      fact_row("volunteers.calls.loss", sets<&ExpertCalls::loss>, range(0, 0.999), example("0.1"),
               "probability that a call is not answered"),
      duration_row("volunteers.calls.timeout", sets<&ExpertCalls::timeout_s>,
                   "time after which a trainer continues with fewer answers"),
  };
}

Rows swarm_rows() {
  return {
      whole_row("fuse", range(1, 4096), optional, example("16"),
                "largest number of jobs like this one, each on one GPU, for a comparison: all in "
                "one program with shared kernels (HFTA), or one after the other"),
      map_row("volunteers",
              example("{peers: [{name: t4, count: 400, up: 500 Mb/s, down: 500 Mb/s}]}"),
              "a training on machines that come and go, with many machines for each stage of the "
              "model (layout.pp) (SWARM), to compare with the job on its cluster"),
      text_row("volunteers.trace", optional, files(".csv"), example("peers.csv"),
               "number of peers over time, instead of leave and join: a CSV file in the same "
               "folder with the columns time_s and peers"),
      duration_row("volunteers.length", sets<&Volunteers::length_s>, at_most(366 * kDay_s),
                   example("32 h"), "of a trial"),
      whole_row("volunteers.trials", sets<&Volunteers::trials>, range(1, 1e5),
                "how often it is simulated"),
      whole_row("volunteers.seed", sets<&Volunteers::seed>, range(0, 1e8),
                "seed of the times at which peers join and leave"),
      duration_row("volunteers.rebalance", sets<&Volunteers::rebalance_s>, at_least(1), or_zero,
                   example("300 s"),
                   "so often a peer of the stage with the most to spare goes over to the slowest "
                   "one; 0 s: never"),
      name_row("volunteers.joiners", sets<&Volunteers::joiners>,
               "which stage a peer takes that joins: the slowest, or any"),
      duration_row("volunteers.takeover", sets<&Volunteers::move_s>, optional, example("60 s"),
                   "until a peer serves the stage that it takes over; default: weights and "
                   "optimizer state of the stage over its link"),
  };
}

}  // namespace

Rows rollout_rows() {
  return of_campaign(joined({loop_rows(), output_rows(), engine_rows()}));
}

Rows volunteer_rows() {
  return of_campaign(joined({swarm_rows(), peer_rows(), call_rows()}));
}

}  // namespace windtunnel
