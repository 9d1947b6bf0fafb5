// Rows of the field table about forms of parallelism: context, places of ranks, stages, lengths,
// sharding, overlap of tensor parallelism, routing to experts.
#include "models/workload/layout.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

Rows context_rows() {
  return {
      name_row<&Layout::context>(
          "layout.context",
          {.example = "usp",
           .help = "how the cp ranks share the attention over a sequence: keys and values go "
                   "round (ring), all-to-alls to a part of the heads (ulysses), both (usp), "
                   "queries go round backward (burst) or always (token-ring), scores are kept "
                   "(rsa), the state of a linear attention goes round (lasp), the ranks switch "
                   "between whole frames and whole places of video (dsp)"}),
      whole_row<&Layout::ulysses>("layout.ulysses",
                                  {.low = 1,
                                   .high = 1e6,
                                   .optional = true,
                                   .example = "8",
                                   .help = "usp: neighbours of cp that divide the heads"}),
      name_row<&Layout::ep_tokens>(
          "layout.ep_tokens",
          {.example = "dropped",
           .help = "what tensor-parallel ranks send to experts: parts of the sequence "
                   "(divided), all tokens of each (all), or parts of what all hold, gathered "
                   "behind (dropped, DeepSpeed-TED)"}),
  };
}

Rows place_rows() {
  return {
      text_row("layout.placement",
               {.example = "places.csv",
                .help = "on which nodes of the cluster the job's ranks stand: a CSV file beside "
                        "the scenario with one column, node, and a row for each block of ranks "
                        "that shares a node; left out: in order from node 0"}),
      list_row("layout.order",
               {.default_text = "[]",
                .example = "[tp, cp, pp, dp]",
                .help = "which ranks are neighbours: axes from the fastest to the slowest; whole "
                        "nodes move, so that what shares a node keeps tp, cp, dp, pp; left out: "
                        "[tp, cp, dp, pp]"}),
      name_row("layout.order.*",
               {.names = {"tp", "cp", "dp", "pp"}, .example = "pp", .help = "an axis"}),
      map_row("layout.place", {.example = "{pp: [new, new, new, old]}",
                               .help = "which pools the stages (pp), or the replicas (dp), stand "
                                       "on"}),
      list_row("layout.place.pp",
               {.default_text = "[]",
                .example = "[new, new, new, old]",
                .help = "a pool for each pipeline rank, or for runs of equal length"}),
      text_row("layout.place.pp.*", {.example = "new", .help = "name of a pool"}),
      list_row("layout.place.dp", {.default_text = "[]",
                                   .example = "[new, old]",
                                   .help = "a pool for each replica, or for runs of equal length"}),
      text_row("layout.place.dp.*", {.example = "new", .help = "name of a pool"}),
  };
}

Rows signature_rows() {
  return {
      map_row(
          "layout.signatures",
          {.example = "{activations: S(0), up: S(1), down: S(0)}",
           .help = "how tp divides a layer's tensors, in OneFlow's words: S(0) by rows, S(1) by "
                   "columns, B: whole on each rank; collectives follow"}),
      name_row<>("layout.signatures.activations",
                 {.optional = true,
                  .names = {"B", "S(0)"},
                  .example = "S(0)",
                  .help = "tokens x width between the halves of a layer; S(0) is "
                          "layout.sequence_parallel: true"}),
      name_row<&Layout::signatures, &ProductSignatures::embedding>(
          "layout.signatures.embedding",
          {.example = "S(0)", .help = "vocabulary x width; S(0): summed, S(1): gathered"}),
      name_row<&Layout::signatures, &ProductSignatures::qkv>(
          "layout.signatures.qkv", {.example = "S(1)", .help = "input x queries, keys, values"}),
      name_row<&Layout::signatures, &ProductSignatures::projection>(
          "layout.signatures.projection", {.example = "S(0)", .help = "heads x output"}),
      name_row<&Layout::signatures, &ProductSignatures::up>(
          "layout.signatures.up", {.example = "S(1)", .help = "of the MLP: input x inner width"}),
      name_row<&Layout::signatures, &ProductSignatures::down>(
          "layout.signatures.down",
          {.example = "S(0)", .help = "of the MLP: inner width x output"}),
  };
}

Rows stage_rows() {
  return {
      flag_row<&Layout::sequence_parallel>(
          "layout.sequence_parallel",
          {.example = "true",
           .help = "norms and dropout split along the sequence over the tensor-parallel ranks"}),
      Field{.path = "layout.stages",
            .map = true,
            .list = true,
            .shorthand = "balance",
            .example = "{first: -1, last: -1}",
            .help = "layers of the stages where they are not even: what the first and last have "
                    "more than the others, a list of all pp x vpp, or auto"},
      name_row<&Layout::balance>(
          "layout.stages.balance",
          {.example = "auto",
           .help = "auto: layers divide so that all pipeline ranks compute as long, slow pools, "
                   "embedding and loss head counted; check that it fits in memory"}),
      whole_row<&Layout::first_stage_layers>("layout.stages.first",
                                             {.low = -1e4,
                                              .high = 1e4,
                                              .example = "-1",
                                              .help = "-1 takes a layer off the first stage"}),
      whole_row<&Layout::last_stage_layers>(
          "layout.stages.last",
          {.low = -1e4, .high = 1e4, .example = "-1", .help = "the same for the last stage"}),
      whole_row("layout.stages.*",
                {.low = 0, .high = 1e4, .example = "2", .help = "layers of one stage"}),
  };
}

Rows length_rows() {
  return {
      map_row(
          "batch.lengths",
          {.example = "{median: 2000, sigma: 1.5}",
           .help = "of sequences that are not all alike: a log-normal law, or buckets; default: "
                   "all have batch.sequence tokens"}),
      fact_row<&LengthDistribution::median>("batch.lengths.median", Dimension::number,
                                            {.low = 1,
                                             .high = 1e8,
                                             .optional = true,
                                             .example = "2000",
                                             .help = "of a log-normal law, tokens"}),
      fact_row<&LengthDistribution::sigma>(
          "batch.lengths.sigma", Dimension::number,
          {.low = 0,
           .high = 10,
           .example = "1.5",
           .help = "of the logarithm of the length, with a median"}),
      whole_row<&LengthDistribution::longest>("batch.lengths.longest",
                                              {.low = 1,
                                               .high = 1e8,
                                               .optional = true,
                                               .example = "131072",
                                               .help = "longer ones are cut to it; default: "
                                                       "batch.sequence"}),
      list_row("batch.lengths.buckets",
               {.example = "[{shortest: 128, longest: 4096, share: 0.9}, {shortest: 65536, "
                           "longest: 131072, share: 0.1}]",
                .help = "in place of a law: ranges inside which lengths are log-uniform"}),
      map_row("batch.lengths.buckets.*",
              {.example = "{shortest: 128, longest: 4096, share: 1}", .help = "one range"}),
      whole_row<&LengthBucket::shortest>(
          "batch.lengths.buckets.*.shortest",
          {.low = 1, .high = 1e8, .required = true, .example = "128", .help = "tokens"}),
      whole_row<&LengthBucket::longest>(
          "batch.lengths.buckets.*.longest",
          {.low = 1, .high = 1e8, .required = true, .example = "4096", .help = "tokens"}),
      fact_row<&LengthBucket::share>("batch.lengths.buckets.*.share", Dimension::number,
                                     {.low = 0,
                                      .high = 1,
                                      .required = true,
                                      .example = "0.9",
                                      .help = "of the sequences; all shares add up to 1"}),
      whole_row<&UnequalLengths::seed>(
          "batch.lengths.seed",
          {.low = 0, .high = 1e8, .example = "1", .help = "of the lengths that are drawn"}),
      name_row<&UnequalLengths::policy>(
          "layout.length_policy",
          {.example = "flexsp",
           .help = "with batch.lengths, who computes which sequences: packs of batch.micro x "
                   "batch.sequence tokens on cp ranks each (fixed), groups of different "
                   "degrees round by round (flexsp), for each sequence the ranks that it "
                   "needs (hdp, ByteScale); the last two divide all cp x dp ranks"}),
  };
}

Rows shard_rows() {
  return {
      whole_row<&Layout::shard_ranks>("layout.shard_ranks",
                                      {.low = 1,
                                       .high = 1e8,
                                       .optional = true,
                                       .example = "8",
                                       .help = "ranks that share one copy under sharding (FSDP's "
                                               "HYBRID_SHARD); default: dp x cp"}),
      whole_row<&Layout::expert_shard_ranks>(
          "layout.expert_shard_ranks",
          {.low = 1,
           .high = 1e8,
           .optional = true,
           .example = "2",
           .help =
               "ranks that share one copy of an expert under sharding, of the tp x cp x dp / ep "
               "that have it: 1 keeps each rank's experts whole, all of them shard as FSDP does; "
               "default: those among the ranks of shard_ranks"}),
      name_row<&Layout::copies_summed>(
          "layout.copies_summed",
          {.example = "step",
           .help = "where shards have copies (shard_ranks, expert_shard_ranks: HSDP), when these "
                   "are summed: once, behind the last micro-batch (step: Megatron-FSDP, "
                   "set_requires_all_reduce of FSDP2), or in each one (micro-batch: FSDP2 by "
                   "itself, as in torchtitan)"}),
      Field{.path = "layout.shard_shares",
            .map = true,
            .list = true,
            .shorthand = "form",
            .example = "auto",
            .help = "of the training state that sharding divides, what ranks on each of "
                    "cluster.pools hold: even, auto, or a list of what a rank of each pool holds "
                    "in proportion"},
      name_row<&Layout::state>(
          "layout.shard_shares.form",
          {.example = "auto",
           .help = "auto: ranks hold what they have room for, as evenly as pays"}),
      fact_row("layout.shard_shares.*", Dimension::number,
               {.low = 0, .above_low = true, .high = 1e6, .example = "2", .help = "of one pool"}),
      whole_row<&Layout::weight_ranks>(
          "layout.weight_ranks",
          {.low = 1,
           .high = 1e8,
           .optional = true,
           .example = "2",
           .help = "zero3 in three levels: ranks that share a copy of the weights; default: "
                   "shard_ranks"}),
      whole_row<&Layout::gradient_ranks>(
          "layout.gradient_ranks",
          {.low = 1,
           .high = 1e8,
           .optional = true,
           .example = "8",
           .help = "zero3 in three levels: ranks that share the gradients until the last "
                   "micro-batch (1: FSDP's no_sync); default: shard_ranks"}),
      whole_row<&Layout::secondary_ranks>(
          "layout.secondary_ranks",
          {.low = 1,
           .high = 1e8,
           .optional = true,
           .example = "8",
           .help = "zero3: ranks of a node that share a second copy of the weights, for the "
                   "backward pass (ZeRO++'s hpZ); default: none"}),
      whole_row<&Layout::weight_bits>("layout.weight_bits",
                                      {.low = 4,
                                       .high = 32,
                                       .optional = true,
                                       .example = "8",
                                       .help = "zero3: 4, 6, 8 or 16 bits of a weight that is "
                                               "gathered (ZeRO++'s qwZ, QSDP), or 32 of the "
                                               "master copy (FSDP whose param_dtype is fp32); "
                                               "default: those that kernels read"}),
      whole_row<&Layout::gradient_bits>(
          "layout.gradient_bits",
          {.low = 4,
           .high = 16,
           .optional = true,
           .example = "4",
           .help = "zero3: 4, 6, 8 or 16 bits of a gradient that is reduced, in the node and "
                   "then between nodes (ZeRO++'s qgZ, QSDP); default: all"}),
  };
}

Rows tensor_overlap_rows() {
  return {
      map_row("software.tp_overlap",
              {.shorthand = "form",
               .example = "{form: domino, rows: 2, columns: 2}",
               .help = "what runs beside the collectives of tensor parallelism"}),
      name_row<&Software::tp_overlap>(
          "software.tp_overlap.form",
          {.example = "pipelined",
           .help = "their matrix multiplication, cut up like they (pipelined, also true; "
                   "needs sequence parallelism); other slices of the micro-batch (domino; "
                   "sub-pipelined, as Merak has it); the tiles of the multiplication before "
                   "(fused, as T3 has it); the next half of the layer (ladder); the next layer's "
                   "attention, "
                   "which has no sum of its own (kraken)"}),
      whole_row<&Software::domino_rows>(
          "software.tp_overlap.rows",
          {.low = 1, .high = 1e4, .example = "2", .help = "domino: slices of the micro-batch"}),
      whole_row<&Software::domino_columns>(
          "software.tp_overlap.columns",
          {.low = 1,
           .high = 1e4,
           .example = "2",
           .help = "domino: pieces of the row-parallel multiplications' outputs"}),
  };
}

Rows dispatch_rows() {
  return {
      map_row("software.dispatch",
              {.example = "{latency: 2.3 ms, mode: asynchronous}",
               .help = "one controller has all hosts start each program (Pathways)"}),
      fact_row<&Software::dispatch_latency_s>(
          "software.dispatch.latency", Dimension::seconds,
          {.low = 0,
           .high = 60,
           .example = "2.3 ms",
           .help = "until all hosts of a program are told; 0: each starts its own kernels"}),
      name_row<&Software::dispatch_mode>(
          "software.dispatch.mode",
          {.example = "asynchronous",
           .help = "asynchronous: beside what runs, as far ahead as need be; synchronous: when "
                   "what the program waits for is there"}),
      name_row<&Software::dispatch_program>(
          "software.dispatch.program",
          {.example = "step",
           .help = "what is dispatched at once: a step of all ranks, or a pass of a pipeline "
                   "stage"}),
      name_row<&Software::dispatch_gang>(
          "software.dispatch.gang",
          {.example = "all",
           .help = "program: pass: which of its ranks begin it together: all, those of one site "
                   "(island), or each by itself (none)"}),
  };
}

Rows routing_rows() {
  return {
      fact_row<&MixtureOfExperts::zipf>(
          "model.moe.zipf", Dimension::number,
          {.low = 0,
           .high = 10,
           .optional = true,
           .example = "0.8",
           .help = "in place of imbalance: exponent of the experts' popularity"}),
      name_row<&MixtureOfExperts::orders>(
          "model.moe.orders",
          {.optional = true,
           .example = "by-layer",
           .help = "zipf: in which order experts are popular: one for all layers, or one drawn for "
                   "each (by-layer)"}),
      whole_row<&MixtureOfExperts::hot_experts>(
          "model.moe.hot_experts",
          {.low = 0,
           .high = 1e5,
           .optional = true,
           .example = "2",
           .help = "the most visited experts, which every rank gathers (Hecate); without a "
                   "base: 0"}),
      fact_row<&MixtureOfExperts::locality>(
          "model.moe.locality", Dimension::number,
          {.low = 0,
           .high = 1,
           .optional = true,
           .example = "0.7",
           .help = "share of a token's copies that stay in its node (LocMoE); default: by "
                   "chance"}),
      flag_row<&MixtureOfExperts::shortcut>(
          "model.moe.shortcut",
          {.optional = true,
           .example = "true",
           .help = "experts work on the layer's input, beside its attention (ScMoE); without "
                   "a base: false"}),
  };
}

}  // namespace windtunnel
