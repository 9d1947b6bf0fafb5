// Rows of the field table about forms of parallelism: context, places of ranks, stages, lengths,
// sharding, overlap of tensor parallelism, routing to experts.
#include "models/workload/layout.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

Rows context_rows() {
  return {
      name_row("layout.context", sets<&Layout::context>, example("usp"),
               "how the cp ranks divide attention over a sequence: keys and values circulate "
               "(ring), all-to-alls give each rank a part of the heads (ulysses), both (usp), "
               "queries circulate in the backward pass (burst) or always (token-ring), scores are "
               "kept (rsa), the state of linear attention circulates (lasp), the ranks switch "
               "between whole frames and whole positions of video (dsp)"),
      whole_row("layout.ulysses", sets<&Layout::ulysses>, range(1, 1e6), optional, example("8"),
                "usp: number of neighbouring cp ranks that divide the heads"),
      name_row("layout.ep_tokens", sets<&Layout::ep_tokens>, example("dropped"),
               "what tensor-parallel ranks send to experts: each a part of the sequence (divided), "
               "each all tokens (all), each a part of the tokens, which are gathered afterwards "
               "(dropped, DeepSpeed-TED), or each a part of the sequence, gathered where tp slices "
               "every expert (gathered, Megatron-Core to 0.9)"),
  };
}

Rows place_rows() {
  return {
      text_row("layout.placement", example("places.csv"),
               "which nodes of the cluster the job uses: a CSV file in the same folder with one "
               "column, node, and a row for each node of the job, in the order in which ranks fill "
               "them; default: in order from node 0"),
      list_row("layout.order", by_default("[]"), example("[tp, cp, pp, dp]"),
               "the order in which ranks fill the nodes: axes from the fastest to the slowest; "
               "default: [tp, cp, dp, pp]"),
      name_row("layout.order.*", names({"tp", "cp", "dp", "pp", "pp-pairs"}), example("pp"),
               "an axis; pp-pairs: as pp, with the two pipeline ranks that hold the same stages "
               "(schedules of two directions) next to each other"),
      map_row("layout.place", example("{pp: [new, new, new, old]}"),
              "the pools that the stages (pp) or the replicas (dp) use"),
      list_row("layout.place.pp", by_default("[]"), example("[new, new, new, old]"),
               "a pool for each pipeline rank, or for groups of consecutive ranks of equal size"),
      text_row("layout.place.pp.*", example("new"), "name of a pool"),
      list_row("layout.place.dp", by_default("[]"), example("[new, old]"),
               "a pool for each replica, or for groups of consecutive replicas of equal size"),
      text_row("layout.place.dp.*", example("new"), "name of a pool"),
  };
}

Rows signature_rows() {
  return {
      map_row("layout.signatures", example("{activations: S(0), up: S(1), down: S(0)}"),
              "how tp divides a layer's tensors, in OneFlow's notation: S(0) by rows, S(1) by "
              "columns, B: whole on each rank; the collectives follow from this"),
      name_row("layout.signatures.activations", optional, names({"B", "S(0)"}), example("S(0)"),
               "activations between the halves of a layer, tokens x width; S(0) is "
               "layout.sequence_parallel: true"),
      name_row("layout.signatures.embedding",
               sets<&Layout::signatures, &ProductSignatures::embedding>,
               "embedding, vocabulary x width; S(0): results are summed, S(1): gathered"),
      name_row("layout.signatures.qkv", sets<&Layout::signatures, &ProductSignatures::qkv>,
               "matrix of attention: input x queries, keys, values"),
      name_row("layout.signatures.projection",
               sets<&Layout::signatures, &ProductSignatures::projection>,
               "matrix behind attention: heads x output"),
      name_row("layout.signatures.up", sets<&Layout::signatures, &ProductSignatures::up>,
               "matrix of the MLP: input x inner width"),
      name_row("layout.signatures.down", sets<&Layout::signatures, &ProductSignatures::down>,
               "matrix of the MLP: inner width x output"),
  };
}

Rows stage_rows() {
  return {
      flag_row("layout.sequence_parallel", sets<&Layout::sequence_parallel>, example("true"),
               "norms and dropout are split along the sequence over the tensor-parallel ranks"),
      map_row("layout.stages", or_list, shorthand("balance"), example("{first: -1, last: -1}"),
              "layers of the stages if they differ: how many more the first and the last have than "
              "the others, a list of all pp x vpp stages, or auto"),
      name_row(
          "layout.stages.balance", sets<&Layout::balance>, example("auto"),
          "auto: layers are divided so that all pipeline ranks compute for the same time, "
          "including slow pools, embedding and loss head; check that the result fits in memory"),
      whole_row("layout.stages.first", sets<&Layout::first_stage_layers>, range(-1e4, 1e4),
                example("-1"),
                "layers that the first stage has more than the others; -1: one fewer"),
      whole_row("layout.stages.last", sets<&Layout::last_stage_layers>, range(-1e4, 1e4),
                example("-1"),
                "layers that the last stage has more than the others; -1: one fewer"),
      whole_row("layout.stages.*", range(0, 1e4), example("2"), "layers of one stage"),
  };
}

Rows length_rows() {
  return {
      map_row("batch.lengths", example("{median: 2000, sigma: 1.5}"),
              "lengths of sequences that differ: a log-normal law, or buckets; default: all have "
              "batch.sequence tokens"),
      fact_row("batch.lengths.median", sets<&LengthDistribution::median>, range(1, 1e8), optional,
               example("2000"), "median of a log-normal law, in tokens"),
      fact_row("batch.lengths.sigma", sets<&LengthDistribution::sigma>, range(0, 10),
               example("1.5"), "standard deviation of the logarithm of the length, with a median"),
      whole_row("batch.lengths.longest", sets<&LengthDistribution::longest>, range(1, 1e8),
                optional, example("131072"),
                "maximum length, to which longer sequences are cut; default: batch.sequence"),
      list_row("batch.lengths.buckets",
               example("[{shortest: 128, longest: 4096, share: 0.9}, {shortest: 65536, longest: "
                       "131072, share: 0.1}]"),
               "instead of a law: ranges of length, each with log-uniform lengths"),
      map_row("batch.lengths.buckets.*", example("{shortest: 128, longest: 4096, share: 1}"),
              "one range"),
      whole_row("batch.lengths.buckets.*.shortest", sets<&LengthBucket::shortest>, range(1, 1e8),
                required, example("128"), "minimum length in tokens"),
      whole_row("batch.lengths.buckets.*.longest", sets<&LengthBucket::longest>, range(1, 1e8),
                required, example("4096"), "maximum length in tokens"),
      fact_row("batch.lengths.buckets.*.share", sets<&LengthBucket::share>, range(0, 1), required,
               example("0.9"), "share of the sequences; all shares must sum to 1"),
      whole_row("batch.lengths.seed", sets<&UnequalLengths::seed>, range(0, 1e8),
                "seed of the random lengths"),
      name_row("layout.length_policy", sets<&UnequalLengths::policy>, example("flexsp"),
               "with batch.lengths, which ranks compute which sequences: packs of batch.micro x "
               "batch.sequence tokens, each on cp ranks (fixed); groups of different degrees, "
               "round by round (flexsp); for each sequence as many ranks as it needs (hdp, "
               "ByteScale); the last two divide all cp x dp ranks"),
  };
}

Rows shard_rows() {
  return {
      whole_row("layout.shard_ranks", sets<&Layout::shard_ranks>, range(1, 1e8), optional,
                example("8"),
                "ranks that share one copy under sharding (FSDP's HYBRID_SHARD); default: dp x cp"),
      whole_row("layout.expert_shard_ranks", sets<&Layout::expert_shard_ranks>, range(1, 1e8),
                optional, example("2"),
                "how many of the tp x cp x dp / ep ranks with an expert share one copy of it under "
                "sharding; 1: every rank keeps its experts whole; all: they are sharded as by "
                "FSDP; default: the ranks that also share a copy by shard_ranks"),
      name_row("layout.copies_summed", sets<&Layout::copies_summed>,
               "when gradients are summed over the copies of shards (shard_ranks, "
               "expert_shard_ranks: HSDP): once, after the last micro-batch (step: Megatron-FSDP, "
               "FSDP2 with set_requires_all_reduce), or in every micro-batch (micro-batch: FSDP2 "
               "by default, as in torchtitan)"),
      map_row("layout.shard_shares", or_list, shorthand("form"), example("auto"),
              "how the sharded training state is divided among ranks on cluster.pools: even, auto, "
              "or a list of the proportions that a rank of each pool holds"),
      name_row("layout.shard_shares.form", sets<&Layout::state>, example("auto"),
               "auto: ranks hold as much as their memory allows, as evenly as is useful"),
      fact_row("layout.shard_shares.*", above(0, 1e6), example("2"),
               "proportion that a rank of one pool holds"),
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
          "zero3: bits per weight that is gathered: 4, 6, 8 or 16 (ZeRO++'s qwZ, QSDP), or 32 of "
          "the master copy (FSDP with param_dtype fp32); default: the bits that kernels read"),
      whole_row("layout.gradient_bits", sets<&Layout::gradient_bits>, range(4, 16), optional,
                example("4"),
                "zero3: bits per gradient that is reduced, within and then between nodes: 4, 6, 8 "
                "or 16 (ZeRO++'s qgZ, QSDP); default: all bits"),
  };
}

Rows tensor_overlap_rows() {
  return {
      map_row("software.tp_overlap", shorthand("form"),
              example("{form: domino, rows: 2, columns: 2}"),
              "what overlaps with the collectives of tensor parallelism"),
      name_row(
          "software.tp_overlap.form", sets<&Software::tp_overlap>, example("pipelined"),
          "their own matrix multiplication, with both cut into pieces (pipelined, also true; needs "
          "sequence parallelism); other slices of the micro-batch (domino; sub-pipelined, as in "
          "Merak); the tiles of the preceding multiplication (fused, as in T3); the next half of "
          "the layer (ladder); the next layer's attention, which then needs no sum (kraken)"),
      whole_row("software.tp_overlap.rows", sets<&Software::domino_rows>, range(1, 1e4),
                "domino: number of slices of the micro-batch"),
      whole_row("software.tp_overlap.columns", sets<&Software::domino_columns>, range(1, 1e4),
                example("2"),
                "domino: number of pieces of the outputs of row-parallel multiplications"),
  };
}

Rows dispatch_rows() {
  return {
      map_row("software.dispatch", example("{latency: 2.3 ms, mode: asynchronous}"),
              "a central controller tells all hosts to start each program (Pathways)"),
      fact_row("software.dispatch.latency", sets<&Software::dispatch_latency_s>, Dimension::seconds,
               range(0, 60), example("2.3 ms"),
               "time to notify all hosts of a program; 0: each host starts its own kernels"),
      name_row("software.dispatch.mode", sets<&Software::dispatch_mode>,
               "asynchronous: during earlier programs, as far ahead as needed; synchronous: when "
               "the inputs of the program are ready"),
      name_row("software.dispatch.program", sets<&Software::dispatch_program>,
               "the unit of dispatch: a step of all ranks, or a pass of a pipeline stage"),
      name_row("software.dispatch.gang", sets<&Software::dispatch_gang>, example("all"),
               "program: pass: which ranks begin a pass together: all, those of one site (island), "
               "or each alone (none)"),
  };
}

Rows routing_rows() {
  return {
      fact_row("model.moe.zipf", sets<&MixtureOfExperts::zipf>, range(0, 10), example("0.8"),
               "instead of imbalance: exponent of a Zipf law of the experts' popularity"),
      name_row("model.moe.orders", sets<&MixtureOfExperts::orders>, example("by-layer"),
               "zipf: whether all layers have the same order of popular experts, or each a random "
               "one (by-layer)"),
      whole_row("model.moe.hot_experts", sets<&MixtureOfExperts::hot_experts>, range(0, 1e5),
                example("2"),
                "number of the most popular experts, whose weights every rank gathers (Hecate); "
                "without a base: 0"),
      fact_row("model.moe.locality", sets<&MixtureOfExperts::locality>, range(0, 1), example("0.7"),
               "share of a token's copies that stay in its node (LocMoE); default: as by chance"),
      flag_row("model.moe.shortcut", sets<&MixtureOfExperts::shortcut>, example("true"),
               "experts use the layer's input, in parallel with its attention (ScMoE); without a "
               "base: false"),
  };
}

}  // namespace windtunnel
