// Rows of the field table about forms of parallelism: context, places of ranks, stages, lengths,
// sharding, overlap of tensor parallelism, routing to experts.
#include "models/workload/layout.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

Rows context_rows() {
  return {
      name_row("layout.context", sets<&Layout::context>, example("usp"),
               "how the cp ranks share the attention over a sequence: keys and values go round "
               "(ring), all-to-alls to a part of the heads (ulysses), both (usp), queries go round "
               "backward (burst) or always (token-ring), scores are kept (rsa), the state of a "
               "linear attention goes round (lasp), the ranks switch between whole frames and "
               "whole places of video (dsp)"),
      whole_row("layout.ulysses", sets<&Layout::ulysses>, range(1, 1e6), optional, example("8"),
                "usp: neighbours of cp that divide the heads"),
      name_row(
          "layout.ep_tokens", sets<&Layout::ep_tokens>, example("dropped"),
          "what tensor-parallel ranks send to experts: parts of the sequence (divided), all tokens "
          "of each (all), parts of what all hold, gathered behind (dropped, DeepSpeed-TED), or "
          "parts "
          "of the sequence, gathered where tp slices each expert (gathered, Megatron-Core to 0.9)"),
  };
}

Rows place_rows() {
  return {
      text_row("layout.placement", example("places.csv"),
               "which nodes of the cluster the job uses: a CSV file in the scenario's folder with "
               "one column, node, and a row for each node of the job, in the order in which ranks "
               "fill them; default: in order from node 0"),
      list_row("layout.order", by_default("[]"), example("[tp, cp, pp, dp]"),
               "in which order ranks fill the nodes: axes from the fastest to the slowest; left "
               "out: [tp, cp, dp, pp]"),
      name_row("layout.order.*", names({"tp", "cp", "dp", "pp", "pp-pairs"}), example("pp"),
               "an axis; pp-pairs: pipeline ranks that hold the same stages in schedules of two "
               "directions side by side"),
      map_row("layout.place", example("{pp: [new, new, new, old]}"),
              "which pools the stages (pp), or the replicas (dp), use"),
      list_row("layout.place.pp", by_default("[]"), example("[new, new, new, old]"),
               "a pool for each pipeline rank, or for runs of equal length"),
      text_row("layout.place.pp.*", example("new"), "name of a pool"),
      list_row("layout.place.dp", by_default("[]"), example("[new, old]"),
               "a pool for each replica, or for runs of equal length"),
      text_row("layout.place.dp.*", example("new"), "name of a pool"),
  };
}

Rows signature_rows() {
  return {
      map_row("layout.signatures", example("{activations: S(0), up: S(1), down: S(0)}"),
              "how tp divides a layer's tensors, in OneFlow's words: S(0) by rows, S(1) by "
              "columns, B: whole on each rank; collectives follow"),
      name_row(
          "layout.signatures.activations", optional, names({"B", "S(0)"}), example("S(0)"),
          "tokens x width between the halves of a layer; S(0) is layout.sequence_parallel: true"),
      name_row("layout.signatures.embedding",
               sets<&Layout::signatures, &ProductSignatures::embedding>,
               "vocabulary x width; S(0): summed, S(1): gathered"),
      name_row("layout.signatures.qkv", sets<&Layout::signatures, &ProductSignatures::qkv>,
               "input x queries, keys, values"),
      name_row("layout.signatures.projection",
               sets<&Layout::signatures, &ProductSignatures::projection>, "heads x output"),
      name_row("layout.signatures.up", sets<&Layout::signatures, &ProductSignatures::up>,
               "of the MLP: input x inner width"),
      name_row("layout.signatures.down", sets<&Layout::signatures, &ProductSignatures::down>,
               "of the MLP: inner width x output"),
  };
}

Rows stage_rows() {
  return {
      flag_row("layout.sequence_parallel", sets<&Layout::sequence_parallel>, example("true"),
               "norms and dropout split along the sequence over the tensor-parallel ranks"),
      map_row("layout.stages", or_list, shorthand("balance"), example("{first: -1, last: -1}"),
              "layers of the stages where they are not even: what the first and last have more "
              "than the others, a list of all pp x vpp, or auto"),
      name_row("layout.stages.balance", sets<&Layout::balance>, example("auto"),
               "auto: layers divide so that all pipeline ranks compute as long, slow pools, "
               "embedding and loss head counted; check that it fits in memory"),
      whole_row("layout.stages.first", sets<&Layout::first_stage_layers>, range(-1e4, 1e4),
                example("-1"), "-1 takes a layer off the first stage"),
      whole_row("layout.stages.last", sets<&Layout::last_stage_layers>, range(-1e4, 1e4),
                example("-1"), "the same for the last stage"),
      whole_row("layout.stages.*", range(0, 1e4), example("2"), "layers of one stage"),
  };
}

Rows length_rows() {
  return {
      map_row("batch.lengths", example("{median: 2000, sigma: 1.5}"),
              "of sequences that are not all alike: a log-normal law, or buckets; default: all "
              "have batch.sequence tokens"),
      fact_row("batch.lengths.median", sets<&LengthDistribution::median>, range(1, 1e8), optional,
               example("2000"), "of a log-normal law, tokens"),
      fact_row("batch.lengths.sigma", sets<&LengthDistribution::sigma>, range(0, 10),
               example("1.5"), "of the logarithm of the length, with a median"),
      whole_row("batch.lengths.longest", sets<&LengthDistribution::longest>, range(1, 1e8),
                optional, example("131072"), "longer ones are cut to it; default: batch.sequence"),
      list_row("batch.lengths.buckets",
               example("[{shortest: 128, longest: 4096, share: 0.9}, {shortest: 65536, longest: "
                       "131072, share: 0.1}]"),
               "in place of a law: ranges inside which lengths are log-uniform"),
      map_row("batch.lengths.buckets.*", example("{shortest: 128, longest: 4096, share: 1}"),
              "one range"),
      whole_row("batch.lengths.buckets.*.shortest", sets<&LengthBucket::shortest>, range(1, 1e8),
                required, example("128"), "tokens"),
      whole_row("batch.lengths.buckets.*.longest", sets<&LengthBucket::longest>, range(1, 1e8),
                required, example("4096"), "tokens"),
      fact_row("batch.lengths.buckets.*.share", sets<&LengthBucket::share>, range(0, 1), required,
               example("0.9"), "of the sequences; all shares add up to 1"),
      whole_row("batch.lengths.seed", sets<&UnequalLengths::seed>, range(0, 1e8),
                "of the lengths that are drawn"),
      name_row("layout.length_policy", sets<&UnequalLengths::policy>, example("flexsp"),
               "with batch.lengths, who computes which sequences: packs of batch.micro x "
               "batch.sequence tokens on cp ranks each (fixed), groups of different degrees round "
               "by round (flexsp), for each sequence the ranks that it needs (hdp, ByteScale); the "
               "last two divide all cp x dp ranks"),
  };
}

Rows shard_rows() {
  return {
      whole_row("layout.shard_ranks", sets<&Layout::shard_ranks>, range(1, 1e8), optional,
                example("8"),
                "ranks that share one copy under sharding (FSDP's HYBRID_SHARD); default: dp x cp"),
      whole_row("layout.expert_shard_ranks", sets<&Layout::expert_shard_ranks>, range(1, 1e8),
                optional, example("2"),
                "ranks that share one copy of an expert under sharding, of the tp x cp x dp / ep "
                "that have it: 1 keeps each rank's experts whole, all of them shard as FSDP does; "
                "default: those among the ranks of shard_ranks"),
      name_row(
          "layout.copies_summed", sets<&Layout::copies_summed>,
          "where shards have copies (shard_ranks, expert_shard_ranks: HSDP), when these are "
          "summed: once, after the last micro-batch (step: Megatron-FSDP, set_requires_all_reduce "
          "of FSDP2), or in each one (micro-batch: FSDP2 by itself, as in torchtitan)"),
      map_row("layout.shard_shares", or_list, shorthand("form"), example("auto"),
              "of the training state that sharding divides, what ranks on each of cluster.pools "
              "hold: even, auto, or a list of what a rank of each pool holds in proportion"),
      name_row("layout.shard_shares.form", sets<&Layout::state>, example("auto"),
               "auto: ranks hold what they have room for, as evenly as pays"),
      fact_row("layout.shard_shares.*", above(0, 1e6), example("2"), "of one pool"),
      whole_row(
          "layout.weight_ranks", sets<&Layout::weight_ranks>, range(1, 1e8), optional, example("2"),
          "zero3 in three levels: ranks that share a copy of the weights; default: shard_ranks"),
      whole_row("layout.gradient_ranks", sets<&Layout::gradient_ranks>, range(1, 1e8), optional,
                example("8"),
                "zero3 in three levels: ranks that share the gradients until the last micro-batch "
                "(1: FSDP's no_sync); default: shard_ranks"),
      whole_row("layout.secondary_ranks", sets<&Layout::secondary_ranks>, range(1, 1e8), optional,
                example("8"),
                "zero3: ranks of a node that share a second copy of the weights, for the backward "
                "pass (ZeRO++'s hpZ); default: none"),
      whole_row(
          "layout.weight_bits", sets<&Layout::weight_bits>, range(4, 32), optional, example("8"),
          "zero3: 4, 6, 8 or 16 bits of a weight that is gathered (ZeRO++'s qwZ, QSDP), or 32 of "
          "the master copy (FSDP whose param_dtype is fp32); default: those that kernels read"),
      whole_row("layout.gradient_bits", sets<&Layout::gradient_bits>, range(4, 16), optional,
                example("4"),
                "zero3: 4, 6, 8 or 16 bits of a gradient that is reduced, in the node and then "
                "between nodes (ZeRO++'s qgZ, QSDP); default: all"),
  };
}

Rows tensor_overlap_rows() {
  return {
      map_row("software.tp_overlap", shorthand("form"),
              example("{form: domino, rows: 2, columns: 2}"),
              "what overlaps with the collectives of tensor parallelism"),
      name_row(
          "software.tp_overlap.form", sets<&Software::tp_overlap>, example("pipelined"),
          "their matrix multiplication, cut up like they (pipelined, also true; needs sequence "
          "parallelism); other slices of the micro-batch (domino; sub-pipelined, as Merak has it); "
          "the tiles of the multiplication before (fused, as T3 has it); the next half of the "
          "layer (ladder); the next layer's attention, which has no sum of its own (kraken)"),
      whole_row("software.tp_overlap.rows", sets<&Software::domino_rows>, range(1, 1e4),
                "domino: slices of the micro-batch"),
      whole_row("software.tp_overlap.columns", sets<&Software::domino_columns>, range(1, 1e4),
                example("2"), "domino: pieces of the row-parallel multiplications' outputs"),
  };
}

Rows dispatch_rows() {
  return {
      map_row("software.dispatch", example("{latency: 2.3 ms, mode: asynchronous}"),
              "one controller has all hosts start each program (Pathways)"),
      fact_row("software.dispatch.latency", sets<&Software::dispatch_latency_s>, Dimension::seconds,
               range(0, 60), example("2.3 ms"),
               "time to notify all hosts of a program; 0: each host starts its own kernels"),
      name_row("software.dispatch.mode", sets<&Software::dispatch_mode>,
               "asynchronous: during earlier programs, as far ahead as needed; synchronous: when "
               "the inputs of the program are ready"),
      name_row("software.dispatch.program", sets<&Software::dispatch_program>,
               "what is dispatched at once: a step of all ranks, or a pass of a pipeline stage"),
      name_row("software.dispatch.gang", sets<&Software::dispatch_gang>, example("all"),
               "program: pass: which of its ranks begin it together: all, those of one site "
               "(island), or each by itself (none)"),
  };
}

Rows routing_rows() {
  return {
      fact_row("model.moe.zipf", sets<&MixtureOfExperts::zipf>, range(0, 10), example("0.8"),
               "in place of imbalance: exponent of the experts' popularity"),
      name_row("model.moe.orders", sets<&MixtureOfExperts::orders>, example("by-layer"),
               "zipf: in which order experts are popular: one for all layers, or one drawn for "
               "each (by-layer)"),
      whole_row("model.moe.hot_experts", sets<&MixtureOfExperts::hot_experts>, range(0, 1e5),
                example("2"),
                "the most visited experts, which every rank gathers (Hecate); without a base: 0"),
      fact_row("model.moe.locality", sets<&MixtureOfExperts::locality>, range(0, 1), example("0.7"),
               "share of a token's copies that stay in its node (LocMoE); default: by chance"),
      flag_row("model.moe.shortcut", sets<&MixtureOfExperts::shortcut>, example("true"),
               "experts use the layer's input, in parallel with its attention (ScMoE); without a "
               "base: false"),
  };
}

}  // namespace windtunnel
