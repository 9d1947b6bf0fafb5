// Rows of the field table below "rollout".
#include "models/workload/rollout.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {
namespace {

Rows loop_rows() {
  return {
      map_row("rollout",
              {.example = "{nodes: 8, prompts: 512, samples: 8, prompt_length: 512, output: "
                          "{median: 2000, sigma: 1, longest: 16384}, engine: {tp: 4}}",
               .help = "reinforcement learning: engines that write the samples that the job learns "
                       "from; default: the job trains alone"}),
      whole_row<&RolloutSpec::nodes>("rollout.nodes",
                                     {.low = 1,
                                      .high = 1e6,
                                      .optional = true,
                                      .example = "8",
                                      .help = "of the engines, beside those of the job"}),
      flag_row<&RolloutSpec::colocated>(
          "rollout.colocated",
          {.example = "true",
           .help = "in place of nodes: engines on the job's own GPUs, in turn with it"}),
      name_row<&RolloutSpec::mode>(
          "rollout.mode",
          {.example = "asynchronous",
           .help =
               "samples, updates, weights one after the other; the next batch is written beside "
               "the updates of this one; or engines write on without waiting"}),
      whole_row<&RolloutSpec::staleness>(
          "rollout.staleness",
          {.low = 0,
           .high = 1000,
           .example = "4",
           .help = "asynchronous: versions of the weights that a sample may be old, at most"}),
      flag_row<&RolloutSpec::keeps_cache>(
          "rollout.keep_cache",
          {.example = "true",
           .help = "asynchronous: under new weights keys and values of the old ones stay in use; "
                   "false: they are computed again"}),
      whole_row<&RolloutSpec::prompts>("rollout.prompts", {.low = 1,
                                                           .high = 1e6,
                                                           .required = true,
                                                           .example = "512",
                                                           .help = "of an iteration of the loop"}),
      whole_row<&RolloutSpec::samples>(
          "rollout.samples", {.low = 1, .high = 1e5, .example = "8", .help = "of each prompt"}),
      fact_row<&RolloutSpec::epochs>("rollout.epochs", Dimension::number,
                                     {.low = 0,
                                      .above_low = true,
                                      .high = 1000,
                                      .example = "1",
                                      .help = "times that updates go over a batch"}),
      fact_row<&RolloutSpec::passes>(
          "rollout.passes", Dimension::number,
          {.low = 0,
           .high = 1000,
           .example = "1",
           .help = "forward passes over a batch on the job's GPUs besides, as of a model of its "
                   "size: reference, critic, the policy that wrote it"}),
      duration_row<&RolloutSpec::reward_s>(
          "rollout.reward",
          {.example = "5 s", .help = "until a batch's rewards are there, behind its last sample"}),
      flag_row<&RolloutSpec::offloads>(
          "rollout.offload",
          {.example = "false",
           .help = "colocated: weights and optimizer state are on the host while engines write"}),
      name_row<&RolloutSpec::weights>(
          "rollout.weights",
          {.example = "direct",
           .help = "new weights go to the first node of engines and from node to node on, or to "
                   "every engine from the job's replicas"}),
      whole_row<&RolloutSpec::iterations>(
          "rollout.iterations",
          {.low = 1, .high = 10000, .example = "8", .help = "that are simulated"}),
      whole_row<&RolloutSpec::seed>(
          "rollout.seed",
          {.low = 0, .high = 1e8, .example = "1", .help = "of the lengths that are drawn"}),
  };
}

Rows output_rows() {
  return {
      whole_row<&RolloutSpec::prompt_length>(
          "rollout.prompt_length",
          {.low = 1, .high = 1e8, .required = true, .example = "512", .help = "tokens"}),
      map_row("rollout.output",
              {.required = true,
               .example = "{median: 2000, sigma: 1, longest: 16384}",
               .help = "tokens that engines write for a sample: a log-normal law, "
                       "or buckets"}),
      fact_row<&LengthDistribution::median>("rollout.output.median", Dimension::number,
                                            {.low = 1,
                                             .high = 1e8,
                                             .optional = true,
                                             .example = "2000",
                                             .help = "of a log-normal law (p50), tokens"}),
      fact_row("rollout.output.mean", Dimension::number,
               {.low = 1,
                .high = 1e8,
                .optional = true,
                .example = "3300",
                .help = "in place of the median; of the law, before longest cuts it"}),
      fact_row<&LengthDistribution::sigma>(
          "rollout.output.sigma", Dimension::number,
          {.low = 0, .high = 10, .example = "1", .help = "of the logarithm; 0: all are alike"}),
      fact_row("rollout.output.p99", Dimension::number,
               {.low = 1,
                .high = 1e8,
                .optional = true,
                .example = "14000",
                .help = "in place of sigma, with a median: 1 % are longer"}),
      whole_row<&LengthDistribution::longest>(
          "rollout.output.longest",
          {.low = 1,
           .high = 1e8,
           .optional = true,
           .example = "16384",
           .help = "longer ones are cut to it; default: what batch.sequence leaves"}),
      list_row("rollout.output.buckets",
               {.example = "[{shortest: 128, longest: 4096, share: 0.9}, {shortest: 8192, longest: "
                           "16384, share: 0.1}]",
                .help = "in place of a law, a histogram: ranges inside which lengths are "
                        "log-uniform"}),
      map_row("rollout.output.buckets.*",
              {.example = "{shortest: 128, longest: 4096, share: 1}", .help = "one range"}),
      whole_row<&LengthBucket::shortest>(
          "rollout.output.buckets.*.shortest",
          {.low = 1, .high = 1e8, .required = true, .example = "128", .help = "tokens"}),
      whole_row<&LengthBucket::longest>(
          "rollout.output.buckets.*.longest",
          {.low = 1, .high = 1e8, .required = true, .example = "4096", .help = "tokens"}),
      fact_row<&LengthBucket::share>("rollout.output.buckets.*.share", Dimension::number,
                                     {.low = 0,
                                      .high = 1,
                                      .required = true,
                                      .example = "0.9",
                                      .help = "of the samples; all shares add up to 1"}),
  };
}

Rows engine_rows() {
  return {
      map_row("rollout.engine",
              {.example = "{tp: 4}", .help = "one copy of the model that writes samples"}),
      whole_row<&EngineSpec::tp>(
          "rollout.engine.tp",
          {.low = 1, .high = 1024, .example = "4", .help = "its GPUs: tensor parallelism"}),
      fact_row<&EngineSpec::memory_share>(
          "rollout.engine.memory", Dimension::number,
          {.low = 0,
           .above_low = true,
           .high = 1,
           .example = "0.9",
           .help = "share of a GPU's usable memory for weights, keys, values and framework"}),
      whole_row<&EngineSpec::most_sequences>(
          "rollout.engine.sequences",
          {.low = 1,
           .high = 4096,
           .example = "256",
           .help = "that run at once at most, however much memory there is"}),
  };
}

}  // namespace

Rows rollout_rows() {
  return of_campaign(joined({loop_rows(), output_rows(), engine_rows()}));
}

}  // namespace windtunnel
