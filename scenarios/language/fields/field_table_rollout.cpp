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
              "reinforcement learning: engines generate the samples from which the job learns; "
              "default: no engines"),
      whole_row("rollout.nodes", sets<&RolloutSpec::nodes>, range(1, 1e6), optional, example("8"),
                "nodes of the engines, in addition to those of the job"),
      text_row("rollout.pool", sets<&RolloutSpec::pool>, optional, example("old"),
               "with cluster.pools: the pool whose kind of nodes the engines run on"),
      flag_row("rollout.colocated", sets<&RolloutSpec::colocated>, example("true"),
               "instead of nodes: engines run on the job's own GPUs, in turn with training"),
      name_row("rollout.mode", sets<&RolloutSpec::mode>, example("asynchronous"),
               "generation, updates and transfer of weights run one after the other (synchronous); "
               "the next batch is generated during the updates of this one (one-step-off); or "
               "engines generate without waiting (asynchronous)"),
      whole_row("rollout.staleness", sets<&RolloutSpec::staleness>, range(0, 1000), example("4"),
                "asynchronous: maximum number of versions by which the weights behind a sample may "
                "be old"),
      flag_row("rollout.keep_cache", sets<&RolloutSpec::keeps_cache>, example("true"),
               "asynchronous: after an update of the weights, old keys and values stay in use; "
               "false: they are computed again"),
      whole_row("rollout.prompts", sets<&RolloutSpec::prompts>, range(1, 1e6), required,
                example("512"), "prompts of an iteration of the loop"),
      whole_row("rollout.samples", sets<&RolloutSpec::samples>, range(1, 1e5), example("8"),
                "samples that engines generate for each prompt"),
      fact_row("rollout.epochs", sets<&RolloutSpec::epochs>, above(0, 1000),
               "number of times that updates go over a batch"),
      fact_row("rollout.update_factor", sets<&RolloutSpec::update_factor>, range(0.1, 100),
               optional, example("1.2"),
               "time of updates and passes, relative to pre-training with the same tokens; "
               "default: the calibration's rollout.update_factor"),
      fact_row("rollout.passes", sets<&RolloutSpec::passes>, range(0, 1000), example("1"),
               "additional forward passes over a batch on the job's GPUs, each by a model of the "
               "same size: reference, critic, the policy that generated it"),
      duration_row("rollout.reward", sets<&RolloutSpec::reward_s>, example("5 s"),
                   "time from a batch's last sample until its rewards are known"),
      flag_row(
          "rollout.offload", sets<&RolloutSpec::offloads>, example("false"),
          "colocated: weights and optimizer state are kept on the host while engines generate"),
      name_row(
          "rollout.weights", sets<&RolloutSpec::weights>, example("direct"),
          "path of new weights; broadcast: to the first node of engines, then from node to node; "
          "direct: from the job's replicas to every engine; gather: each tensor whole to every GPU "
          "of the job, then to an engine; packed: as gather, but one buffer is sent while the next "
          "is gathered; reshard: matrices of MLPs and experts from shard to shard, everything else "
          "packed; colocated engines take only gather or packed, which are equal for them"),
      whole_row("rollout.iterations", sets<&RolloutSpec::iterations>, range(1, 10000),
                "iterations of the loop that are simulated"),
      whole_row("rollout.seed", sets<&RolloutSpec::seed>, range(0, 1e8),
                "seed of the random lengths of outputs"),
  };
}

Rows output_rows() {
  return {
      whole_row("rollout.prompt_length", sets<&RolloutSpec::prompt_length>, range(1, 1e8), required,
                example("512"), "tokens of a prompt"),
      map_row("rollout.output", required, example("{median: 2000, sigma: 1, longest: 16384}"),
              "tokens that engines generate for a sample: a log-normal law, or buckets"),
      fact_row("rollout.output.median", sets<&LengthDistribution::median>, range(1, 1e8), optional,
               example("2000"), "median (p50) of a log-normal law, in tokens"),
      fact_row("rollout.output.mean", range(1, 1e8), optional, example("3300"),
               "instead of the median: mean of the law, before longest cuts it"),
      fact_row("rollout.output.sigma", sets<&LengthDistribution::sigma>, range(0, 10),
               "standard deviation of the logarithm; 0: all lengths are equal"),
      fact_row("rollout.output.p99", range(1, 1e8), optional, example("14000"),
               "instead of sigma, with a median: length that 1 % exceed"),
      whole_row("rollout.output.longest", sets<&LengthDistribution::longest>, range(1, 1e8),
                optional, example("16384"),
                "maximum length, to which longer outputs are cut; default: what a prompt leaves of "
                "batch.sequence"),
      list_row("rollout.output.buckets",
               example("[{shortest: 128, longest: 4096, share: 0.9}, {shortest: 8192, longest: "
                       "16384, share: 0.1}]"),
               "instead of a law: a histogram of ranges, each with log-uniform lengths"),
      map_row("rollout.output.buckets.*", example("{shortest: 128, longest: 4096, share: 1}"),
              "one range"),
      whole_row("rollout.output.buckets.*.shortest", sets<&LengthBucket::shortest>, range(1, 1e8),
                required, example("128"), "minimum length in tokens"),
      whole_row("rollout.output.buckets.*.longest", sets<&LengthBucket::longest>, range(1, 1e8),
                required, example("4096"), "maximum length in tokens"),
      fact_row("rollout.output.buckets.*.share", sets<&LengthBucket::share>, range(0, 1), required,
               example("0.9"), "share of the samples; all shares must sum to 1"),
  };
}

Rows engine_rows() {
  return {
      map_row("rollout.engine", example("{tp: 4}"),
              "an engine: one copy of the model that generates samples"),
      whole_row("rollout.engine.tp", sets<&EngineSpec::tp>, range(1, 1024), example("4"),
                "GPUs of an engine, with tensor parallelism"),
      fact_row("rollout.engine.memory", sets<&EngineSpec::memory_share>, above(0, 1),
               "share of a GPU's usable memory for weights, keys, values and framework"),
      whole_row("rollout.engine.sequences", sets<&EngineSpec::most_sequences>, range(1, 4096),
                "maximum number of sequences that run at once, even if memory allows more"),
      duration_row("rollout.engine.host_step", sets<&EngineSpec::host_step_s>, example("2 ms"),
                   "time of the host between two steps of decoding"),
      name_row("rollout.engine.precision", sets<&EngineSpec::precision>,
               names(names_of<Precision>()), optional, example("fp8"),
               "number format of the engine's matrix multiplications and of its weights; "
               "default: the job's precision, bf16 if that is a scaled format"),
      flag_row("rollout.engine.cuda_graphs", sets<&EngineSpec::cuda_graphs>, example("false"),
               "false: the host starts each kernel of a decoding step (enforce_eager of vLLM)"),
  };
}

constexpr double kMostPeers = 1e5;
// Each join is simulated as an event. The last factor admits the limit as stated in any unit.
constexpr double kMostJoins_per_s = 360 / kHour_s * (1 + 1e-12);

Rows peer_rows() {
  return {
      list_row("volunteers.peers", required,
               example("[{name: t4, count: 400, up: 500 Mb/s, down: 500 Mb/s}]"),
               "kinds of machines: how many there are at the start, and of what speed"),
      map_row("volunteers.peers.*", example("{name: t4, count: 400, up: 500 Mb/s, down: 500 Mb/s}"),
              "identical machines; each is a node of the job except for its speed"),
      text_row("volunteers.peers.*.name", sets<&PeerKind::name>, required, example("t4"),
               "name of the kind in reports"),
      whole_row("volunteers.peers.*.count", sets<&PeerKind::count>, range(0, kMostPeers), required,
                example("400"), "number of machines at the start"),
      fact_row("volunteers.peers.*.speed", sets<&PeerKind::speed>, range(0, 1e6), example("0.5"),
               "speed of its kernels, relative to the job's node; 0: it only averages gradients "
               "for others"),
      bandwidth_row("volunteers.peers.*.up", sets<&PeerKind::up_Bps>, required, example("200 Mb/s"),
                    "bandwidth of its link to the network"),
      bandwidth_row("volunteers.peers.*.down", sets<&PeerKind::down_Bps>, required,
                    example("500 Mb/s"), "bandwidth of its link from the network"),
      duration_row("volunteers.peers.*.latency", sets<&PeerKind::latency_s>, example("50 ms"),
                   "latency of a message, one way"),
      fact_row("volunteers.peers.*.leave", sets<&PeerKind::leave_per_s>, Dimension::per_s,
               range(0, 1), example("0.1 per hour"),
               "rate at which each of them leaves, with exponential gaps"),
      fact_row("volunteers.peers.*.join", sets<&PeerKind::join_per_s>, Dimension::per_s,
               range(0, kMostJoins_per_s), example("40 per hour"),
               "rate at which peers join, with exponential gaps"),
  };
}

Rows call_rows() {
  return {
      map_row("volunteers.calls", example("{trainers: 64, experts: 4, loss: 0.1}"),
              "trainers that call experts on peers layer by layer, many in parallel, instead of a "
              "pipeline (Learning@home)"),
      whole_row("volunteers.calls.trainers", sets<&ExpertCalls::trainers>, range(1, 1e6), required,
                example("64"), "number of trainers, each with one batch in flight"),
      whole_row("volunteers.calls.experts", sets<&ExpertCalls::experts>, range(1, 1e3),
                example("4"), "experts to which each layer's input is sent"),
      whole_row("volunteers.calls.answers", sets<&ExpertCalls::answers>, range(1, 1e3),
                example("2"),
                "number of answers for which a trainer waits; it continues without the others"),
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
              "training on machines that come and go, with many machines for each stage of the "
              "model (layout.pp), as in SWARM, to compare with the job on its cluster"),
      text_row("volunteers.trace", optional, files(".csv"), example("peers.csv"),
               "number of peers over time, instead of leave and join: a CSV file in the same "
               "folder with the columns time_s and peers"),
      duration_row("volunteers.length", sets<&Volunteers::length_s>, at_most(366 * kDay_s),
                   example("32 h"), "simulated time of a trial"),
      whole_row("volunteers.trials", sets<&Volunteers::trials>, range(1, 1e5),
                "number of simulated trials"),
      whole_row("volunteers.seed", sets<&Volunteers::seed>, range(0, 1e8),
                "seed of the times at which peers join and leave"),
      duration_row("volunteers.rebalance", sets<&Volunteers::rebalance_s>, at_least(1), or_zero,
                   example("300 s"),
                   "interval at which a peer moves from the stage with the most spare capacity to "
                   "the slowest stage; 0 s: never"),
      name_row("volunteers.joiners", sets<&Volunteers::joiners>,
               "the stage of a peer that joins: the slowest, or any"),
      duration_row("volunteers.takeover", sets<&Volunteers::move_s>, optional, example("60 s"),
                   "time until a peer serves its new stage; default: time to copy the stage's "
                   "weights and optimizer state over its link"),
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
