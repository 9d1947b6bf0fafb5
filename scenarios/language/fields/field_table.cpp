// The table of all keys of a scenario, with its rows about job, model, layout and batch. The other
// rows have files of their own.
#include <algorithm>
#include <iterator>

#include "models/base/quantity_range.hpp"
#include "models/machine/fabrics/job_places.hpp"
#include "models/workload/axes.hpp"
#include "policies/schedules/schedules.hpp"
#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/library/calibration_heads.hpp"
#include "scenarios/language/library/facts/attention_kernels.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {

std::vector<std::string> calibration_names() {
  std::vector<std::string> names = names_in(library_calibration_heads());
  names.insert(names.begin(), "auto");
  return names;
}

namespace {

std::vector<std::string> attention_names() {
  std::vector<std::string> names = {"auto"};
  for (const AttentionKernelEntry& kernel : attention_kernels()) names.push_back(kernel.name);
  names.push_back("eager");
  return names;
}

// Lists the names of sets of modules and of single modules.
std::vector<std::string_view> recompute_names() {
  std::vector<std::string_view> names = names_of<Recompute>();
  std::ranges::copy(names_of<RecomputeModule>(), std::back_inserter(names));
  return names;
}
Rows general_rows() {
  return {
      map_row("", "One training job on one cluster: what it runs, where, and what breaks"),
      text_row("name", required, Scope::label, example("llama3-405b-16k"),
               "name of the scenario in reports"),
      name_row("precision", sets<&Job::precision>,
               "number format of the matrix multiplications; fp8 has one scale per tensor, mxfp8 "
               "one per 32 elements, nvfp4 (four bits) one per 16"),
      name_row("recompute", sets<&Job::recompute>, or_map, or_list, names(recompute_names()),
               example("{modules: [mla_up_proj, layernorm]}"),
               "activations that the backward pass computes again instead of keeping them: the "
               "cheap ones (selective), all of a layer (full), or those of named modules"),
      name_row(
          "recompute.*", names(names_of<RecomputeModule>()), example("mla_up_proj"),
          "one module, by its name in Megatron-Core. Further names: mlp_act and scores, two parts "
          "of selective; op, torchtitan's selective checkpointing; attention, from queries, keys "
          "and values to the sum behind attention's projection; layer, a whole layer"),
      name_row("recompute.modules", or_list, optional, names(recompute_names()), example("full"),
               "a set of modules by name, or a list; default: full"),
      name_row("recompute.modules.*", names(names_of<RecomputeModule>()), example("moe_act"),
               "one module"),
      name_row("recompute.method", sets<&Recompute::method>, example("block"),
               "block: the first layers of a stage recompute; uniform: all do, in groups that keep "
               "the input of their first layer; every: one layer in each group"),
      whole_row("recompute.layers", sets<&Recompute::layers>, range(1, 10'000), optional,
                example("4"),
                "method block: how many layers of a stage recompute; uniform and every: layers in "
                "a group"),
      name_row(
          "attention", by_default("auto"), names(attention_names), example("fa3"),
          "the attention kernel: FlashAttention-2, -3 or -4, cuDNN 9's or Triton's, each as fast "
          "as measured on this kind of GPU; products and softmax one by one (eager, as "
          "model.attention: unfused); or the kernel that the calibration was measured with (auto)"),
      map_row("schedule", shorthand("name"), example("interleaved-1f1b"),
              "order of the forward and backward passes in a pipeline"),
      name_row("schedule.name", sets<&ScheduleChoice::name>, names(names_listed<schedule_kinds>),
               "name of a schedule; `windtunnel list schedules` describes them"),
      text_row(
          "schedule.file", sets<&ScheduleChoice::file>, optional, example("zb.csv"),
          "instead of a name: a schedule of torch.distributed.pipelining (CSV) in the same folder"),
      whole_row("schedule.group", sets<&ScheduleChoice::group>, range(1, 1e6), optional,
                example("8"),
                "interleaved-1f1b, zeropp: micro-batches that pass through a chunk together; "
                "default: pp. chimera: 2 is forward doubling"),
      whole_row("schedule.slices", sets<&ScheduleChoice::slices>, range(1, 1e4), optional,
                example("4"),
                "seq1f1b, terapipe: pieces into which a sequence is cut; default: the usual number "
                "of the schedule"),
      flag_row("schedule.defer_weights", sets<&ScheduleChoice::defer_weights>, example("true"),
               "splits every backward pass and moves the weight gradients to the end (2BP)"),
      choice_row("schedule.memory_limit", sets<&ScheduleChoice::memory_limit>, Dimension::bytes,
                 range(1, 1e15), optional, example("40 GB"),
                 "zb-auto: activations that a rank may hold"),
      choice_row("schedule.recompute_share", sets<&ScheduleChoice::recompute_share>, range(0, 1),
                 example("0.5"),
                 "share of the layers of the first stage that recompute; later stages recompute "
                 "fewer (Merak)"),
      name_row("calibration", by_default("auto"), names(calibration_names), files(".yaml"),
               example("h100-published"),
               "fitted constants of the cost models: a name of the library, a .yaml file, or auto, "
               "which takes the calibration fitted on this kind of GPU"),
      name_row("fold", sets<&Job::fold>,
               "which ranks are simulated: one of each group of equal ranks, or a sample if hashed "
               "or planned routes make too many ranks different (auto); one of each group in any "
               "case (exact); every rank (none)"),
      map_row("origins", free_keys,
              example("{failures.*.rate: 'published: arXiv 2407.21783 table 5'}"),
              "evidence of the numbers that this file states: maps a path, or the start of one, to "
              "'measured: ...', 'published: ...', 'spec: ...' or 'assumed: ...'; values that are "
              "not listed count as assumed"),
      list_row("jobs", example("[a.yaml, b.yaml]"),
               "several jobs that run at the same time, each a scenario in a file in the same "
               "folder; this scenario then has only name, cluster, jobs and placement. In a job's "
               "file, cluster states how many nodes it uses"),
      text_row("jobs.*", example("a.yaml"), "a scenario of one job"),
      name_row("placement", optional, names(names_of<JobPlacement>()), example("spread"),
               "which nodes the jobs get: each the first free nodes (packed, the default), nodes "
               "of all pods, sites or groups in turn, or one node for each job in turn; a job's "
               "own layout.placement overrides this"),
  };
}

Rows model_rows() {
  return {
      map_row("model", shorthand("base"), required, example("llama3-405b"),
              "a name of the library, a config.json of Hugging Face, or a .yaml file with a table "
              "of layers; for a transformer also its dimensions, or a base and the values that "
              "differ from it"),
      name_row(
          "model.base", names(names_listed<library_models, library_networks>),
          files(".yaml .json .args"), example("llama3-405b"),
          "the model to start from: a name of the library, or a config.json of Hugging Face "
          "(.json) or arguments of Megatron-LM (.args) in the same folder; or a table of layers "
          "(.yaml) with input and layers in the form of the library's layer_tables.yaml"),
      whole_row("model.layers", sets<&TransformerSpec::layers>, in_every_entry, range(1, 1e4),
                example("126"), "number of transformer layers"),
      whole_row("model.hidden", sets<&TransformerSpec::hidden>, in_every_entry, range(1, 1e6),
                example("16384"), "width of the hidden state"),
      whole_row("model.heads", sets<&TransformerSpec::heads>, in_every_entry, range(1, 1e5),
                example("128"), "number of attention heads"),
      whole_row("model.kv_heads", sets<&TransformerSpec::kv_heads>, in_every_entry, range(1, 1e5),
                example("8"),
                "key and value heads; fewer than heads is grouped-query attention; without a base: "
                "heads"),
      whole_row("model.head_width", sets<&TransformerSpec::head_width>, in_entry, range(1, 1e5),
                example("128"),
                "width of the queries and keys of one head; without a base: hidden / heads"),
      whole_row(
          "model.ffn", sets<&TransformerSpec::ffn_hidden>, in_every_entry, range(1, 1e6),
          example("53248"),
          "width of one matrix of a dense MLP; without a base: 4 x hidden, gated 8/3 x hidden"),
      whole_row("model.vocabulary", sets<&TransformerSpec::vocabulary>, in_every_entry,
                range(1, 1e8), example("128256"), "size of the vocabulary, in tokens"),
      whole_row("model.sequence", sets<&TransformerSpec::sequence>, in_every_entry, range(1, 1e8),
                example("8192"), "tokens of one training sequence"),
      whole_row(
          "model.frames", sets<&TransformerSpec::frames>, in_entry, range(2, 1e6), example("16"),
          "frames of a video sequence: layers attend in turn within a frame and, at one position, "
          "across all frames, without a mask; default: causal attention to the whole sequence"),
      whole_row("model.window", sets<&TransformerSpec::window>, in_entry, range(0, 1e8),
                example("4096"),
                "number of latest keys that a query of flash attention sees in layers with a "
                "sliding window; 0: all earlier keys; without a base: 0"),
      whole_row("model.global_every", sets<&TransformerSpec::global_every>, in_entry, range(0, 1e4),
                example("6"),
                "distance between layers without a window (6: every sixth layer has none); 0: all "
                "layers have one; without a base: 0"),
      whole_row("model.modulation", sets<&TransformerSpec::modulation>, in_entry, range(0, 100),
                example("6"),
                "vectors that a layer computes from the condition of its sequence, each with a "
                "matrix of its own (adaLN of diffusion transformers); without a base: 0"),
      whole_row("model.text_tokens", sets<&TransformerSpec::text_tokens>, in_entry, range(0, 1e8),
                example("512"),
                "text tokens of a sequence, in layers with separate weights for text and images "
                "(hybrid_override_pattern: D); without a base: 0"),
      whole_row("model.source_tokens", sets<&TransformerSpec::source_tokens>, in_entry,
                range(0, 1e8), example("512"),
                "tokens of a sequence that an encoder reads; a decoder of the other tokens attends "
                "to its output (hybrid_override_pattern: B and C); without a base: 0"),
      whole_row("model.projected_keys", sets<&TransformerSpec::projected_keys>, in_entry,
                range(0, 1e6), example("256"),
                "number of keys and values to which those of a whole sequence are projected "
                "(Linformer); without a base: 0, no projection"),
      whole_row("model.conditioning", sets<&TransformerSpec::conditioning>, in_entry, range(0, 1e7),
                example("20736"),
                "rows of further matrices of the model's width, which in diffusion transformers "
                "embed time, class and text and modulate the last layer; without a base: 0"),
      text_row("model.hybrid_override_pattern", sets<&TransformerSpec::pattern>, in_entry,
               example("M-M*-"),
               "one letter per layer, as in Megatron-LM: M Mamba-2 (or model.mamba.kind), * "
               "attention, - MLP, E experts, each after a norm; whole layers: T attention and MLP, "
               "X attention and experts, L and R the same with Mamba instead of attention; "
               "diffusion transformers: D two streams, d the last layer with two, S one stream; B "
               "a layer of an encoder, C a layer of a decoder that attends to it; default: every "
               "layer is attention and an MLP or experts"),
      whole_row("model.mtp_layers", sets<&TransformerSpec::mtp_layers>, in_entry, range(0, 16),
                example("1"),
                "modules for multi-token prediction after the last layer, each a layer with its "
                "own loss (DeepSeek-V3), on the last stage; without a base: 0"),
      flag_row("model.attention_gate", sets<&TransformerSpec::attention_gate>, in_entry,
               example("true"),
               "multiplies the output of attention by a gate, which a matrix computes from the "
               "layer's input (Qwen3-Next); without a base: false"),
      flag_row("model.clamped_activation", sets<&TransformerSpec::clamped_activation>, in_entry,
               example("true"),
               "clamps the inputs of gated activations, in separate kernels unless a compiler or "
               "fused experts join them (GPT-OSS); without a base: false"),
      flag_row("model.scaled_rotary", sets<&TransformerSpec::scaled_rotary>, in_entry,
               example("true"),
               "scales queries and keys during rotary embedding (YaRN's temperature), which "
               "Transformer Engine's kernel cannot do: one kernel per operation with fusion "
               "partial; without a base: false"),
      name_row("model.activation", sets<&TransformerSpec::activation>, in_every_entry,
               example("swiglu"), "activation of the MLP"),
      name_row("model.normalisation", sets<&TransformerSpec::normalisation>, in_every_entry,
               example("rms-norm"), "normalisation of a layer"),
      name_row("model.position", sets<&TransformerSpec::position>, in_every_entry,
               example("rotary"), "position encoding"),
      flag_row("model.biases", sets<&TransformerSpec::biases>, in_every_entry, example("false"),
               "matrices have bias vectors"),
      flag_row("model.tied_embeddings", sets<&TransformerSpec::tied_embeddings>, in_every_entry,
               example("false"), "the loss head shares the embedding's weights"),
      flag_row("model.dropout", sets<&TransformerSpec::dropout>, in_every_entry, example("false"),
               "dropout after both halves of a layer and on the attention scores; without a base: "
               "false"),
      flag_row("model.separate_projections", sets<&TransformerSpec::separate_projections>, in_entry,
               example("false"),
               "queries, keys and values (and SwiGLU's gate) have separate matrices: more "
               "gradients, but the same products; without a base: false"),
      flag_row("model.encoder", sets<&TransformerSpec::encoder>, in_entry, example("false"),
               "BERT's segment embeddings, pooler and heads; without a base: false"),
      flag_row("model.bidirectional", sets<&TransformerSpec::bidirectional>, in_entry,
               example("false"),
               "attention without a causal mask, as in encoders and diffusion transformers; "
               "without a base: false"),
      name_row("model.attention", sets<&TransformerSpec::attention>, in_every_entry,
               example("flash"),
               "one fused kernel that keeps the scores on the chip (flash), batched GEMMs with a "
               "softmax between them (unfused), or no softmax and a state that replaces earlier "
               "tokens (linear); without a base: flash"),
  };
}

// Keys of parts that only few models have.
Rows model_part_rows() {
  return {
      map_row("model.moe", example("{experts: 8, per_token: 2, ffn: 14336}"),
              "a mixture of experts instead of the MLP"),
      whole_row("model.moe.experts", sets<&MixtureOfExperts::experts>, in_every_entry,
                range(0, 1e5), example("8"), "number of experts in a layer; 0: a dense model"),
      whole_row("model.moe.per_token", sets<&MixtureOfExperts::per_token>, in_every_entry,
                range(1, 1e5), example("2"), "experts to which a token is sent"),
      whole_row("model.moe.groups", sets<&MixtureOfExperts::groups>, in_entry, range(1, 1e5),
                example("8"),
                "number of equal groups of experts; the experts of a token come from a few groups "
                "(node-limited routing); without a base: 1"),
      whole_row("model.moe.groups_per_token", sets<&MixtureOfExperts::groups_per_token>, in_entry,
                range(1, 1e5), example("4"),
                "from how many groups the experts of a token come; without a base: 1"),
      whole_row("model.moe.ffn", sets<&MixtureOfExperts::ffn_hidden>, in_every_entry, range(1, 1e6),
                example("14336"), "width of one matrix of one expert"),
      whole_row("model.moe.shared_ffn", sets<&MixtureOfExperts::shared_ffn>, in_entry,
                range(0, 1e6), example("2048"),
                "total width of the experts that get every token; without a base: 0"),
      whole_row("model.moe.dense_layers", sets<&MixtureOfExperts::dense_layers>, in_entry,
                range(0, 1e4), example("3"), "leading layers with a dense MLP; without a base: 0"),
      whole_row("model.moe.latent_size", sets<&MixtureOfExperts::latent_width>, in_entry,
                range(0, 1e6), example("1024"),
                "width of the experts' input and output, with a matrix before and after them "
                "(LatentMoE); 0: the model's width"),
      fact_row(
          "model.moe.imbalance", sets<&MixtureOfExperts::imbalance>, in_entry, range(1, 1e4),
          example("1.2"),
          "tokens of the busiest expert-parallel rank, divided by the mean; without a base: 1"),
      map_row("model.mamba",
              example("{state_dim: 128, head_dim: 64, num_groups: 8, num_heads: 128}"),
              "dimensions of Mamba-2 layers, or of others that carry a state, where "
              "hybrid_override_pattern has them"),
      name_row("model.mamba.kind", sets<&MambaMixer::kind>, in_entry, example("gated-delta"),
               "kind of these layers: Mamba-2, gated DeltaNet (Qwen3-Next, Qwen3.5), Kimi Delta "
               "Attention (Kimi Linear) or Lightning Attention (MiniMax-01); the last three have "
               "fixed chunks; without a base: mamba2"),
      whole_row("model.mamba.state_dim", sets<&MambaMixer::state>, in_every_entry, range(1, 1e5),
                example("128"), "width of the state per channel of a head"),
      whole_row("model.mamba.head_dim", sets<&MambaMixer::head_width>, in_every_entry,
                range(1, 1e5), example("64"), "channels of a head of the scan"),
      whole_row("model.mamba.num_groups", sets<&MambaMixer::groups>, in_every_entry, range(1, 1e5),
                example("8"),
                "groups of heads that share B and C, which write to the states and read from them"),
      whole_row("model.mamba.num_heads", sets<&MambaMixer::heads>, in_every_entry, range(1, 1e5),
                example("128"), "heads of the scan"),
      whole_row("model.mamba.chunk_size", sets<&MambaMixer::chunk>, in_entry, range(1, 1e6),
                example("128"), "tokens that the scan works on at once; without a base: 128"),
      map_row("model.sparse", example("{heads: 64, width: 128, top_k: 2048}"),
              "attention to keys that an indexer chooses (DeepSeek-V3.2, GLM-5), with "
              "model.latent; sequences of up to top_k tokens attend to all keys"),
      whole_row("model.sparse.heads", sets<&SparseAttention::heads>, in_every_entry, range(0, 1e5),
                example("64"), "queries of the indexer per token; 0: attention reads all keys"),
      whole_row("model.sparse.width", sets<&SparseAttention::width>, in_every_entry, range(1, 1e5),
                example("128"), "width of the indexer's keys and queries"),
      whole_row("model.sparse.top_k", sets<&SparseAttention::top_k>, in_every_entry, range(1, 1e8),
                example("2048"), "keys that attention reads per token"),
      map_row("model.latent", example("{kv_rank: 512, rotary_width: 64, value_width: 128}"),
              "multi-head latent attention: queries, keys and values from low-rank projections"),
      whole_row("model.latent.query_rank", sets<&LatentAttention::query_rank>, in_entry,
                range(0, 1e6), example("1536"),
                "width of the compressed queries; 0: they are projected directly"),
      whole_row("model.latent.kv_rank", sets<&LatentAttention::kv_rank>, in_every_entry,
                range(0, 1e6), example("512"),
                "width of the compressed keys and values; 0: no latent attention"),
      whole_row("model.latent.rotary_width", sets<&LatentAttention::rotary_width>, in_every_entry,
                range(0, 1e5), example("64"),
                "width per head with rotary positions; head_width is the width without"),
      whole_row("model.latent.value_width", sets<&LatentAttention::value_width>, in_every_entry,
                range(1, 1e5), example("128"), "width of the values of one head"),
  };
}

template <std::size_t... I>
Rows rows_of_axes(std::index_sequence<I...> /*all*/) {
  const auto open_if_it_follows = [](const Axis& axis) {
    return [&axis](Field& row) {
      row.optional = !axis.follows_from.empty();
      if (row.optional) row.open_word = "auto";
    };
  };
  return {whole_row(kAxes[I].key, sets<kAxes[I].size>, range(1, kAxes[I].most),
                    open_if_it_follows(kAxes[I]), example(kAxes[I].example), kAxes[I].help)...};
}

Rows axis_rows() {
  Rows rows = rows_of_axes(std::make_index_sequence<kAxes.size()>());
  const Rows forms = {
      name_row("layout.tp_form", sets<&Layout::tensor>,
               "how tensor parallelism divides matrices: by columns and rows as in Megatron-LM "
               "(1d), or in blocks on a square mesh of the tp ranks (2d, Optimus)"),
      whole_row("layout.mesh_block", sets<&Layout::mesh_block>, range(1, 1e3),
                "tp_form 2d: consecutive ranks fill squares of this side length in the mesh "
                "(Optimus on nodes of four GPUs: 2); 1: they fill rows"),
  };
  rows.insert(std::ranges::find(rows, "layout.tp", &Field::path) + 1, forms.begin(), forms.end());
  const Rows layout = {map_row("layout", example(kLayoutExample),
                               "how the model and the batch are divided among the GPUs")};
  const Rows shardings = {
      name_row("layout.sharding", sets<&Layout::sharding>, example("zero1"),
               "what the dp x cp ranks divide among them: the optimizer state (zero1), also the "
               "gradients (zero2), also the weights (zero3, FSDP)")};
  return joined({layout, rows, shardings});
}

Rows batch_rows() {
  return {
      map_row("batch", required, example("{global: 2048, micro: 1}"), "sequences per iteration"),
      whole_row("batch.global", sets<&Batch::global>, range(1, 1e8), required, example("2048"),
                "sequences (for a network: images) per iteration over all ranks"),
      whole_row("batch.micro", sets<&Batch::micro>, range(1, 1e4),
                "sequences of a micro-batch, which pass through the pipeline together"),
      map_row("batch.shares", or_list, shorthand("form"), example("auto"),
              "sequences of the replicas on each of cluster.pools: even, auto, or a list of their "
              "proportions by pool"),
      name_row("batch.shares.form", sets<&Batch::shares>, example("auto"),
               "auto: replicas get numbers of sequences with which all end at the same time"),
      fact_row("batch.shares.*", above(0, 1e6), example("2"), "proportion of one pool"),
      whole_row("batch.sequence", sets<&Batch::sequence>, range(1, 1e8), optional, example("8192"),
                "tokens per sequence; default: the model's"),
  };
}

Rows layout_rows() {
  return joined(
      {axis_rows(), place_rows(), shard_rows(), signature_rows(), stage_rows(), batch_rows()});
}

// Checks that each key is at most one of: required, optional, with a default.
void check_rows(const Rows& rows) {
  for (const Field& row : rows) {
    const int said = int(row.required) + int(row.optional) + int(!row.default_text.empty());
    CHECK(said <= 1, "'{}' is required, optional or has a default, not two of these", row.path);
  }
}

// Fills in limits that the row leaves open from the range of its dimension: the smallest number
// other than 0, and the largest. An interval has the range of times.
void complete_range(Field& row) {
  if (row.scalar != ScalarType::quantity && row.scalar != ScalarType::interval) return;
  const QuantityRange& range =
      quantity_range(row.scalar == ScalarType::interval ? Dimension::seconds : row.dimension);
  row.high = std::min(row.high, range.largest);
  if (row.low != 0) return;
  row.or_zero = !row.above_low;
  row.above_low = false;
  row.low = range.smallest;
}

}  // namespace

const std::vector<Field>& field_table() {
  static const std::vector<Field> table = [] {
    Rows all;
    for (const Rows& rows :
         {general_rows(),        model_rows(),     model_part_rows(), tower_rows(),
          routing_rows(),        cluster_rows(),   power_rows(),      training_rows(),
          layout_rows(),         length_rows(),    context_rows(),    software_rows(),
          communication_rows(),  sync_rows(),      redundancy_rows(), offload_rows(),
          filling_rows(),        input_rows(),     rollout_rows(),    campaign_rows(),
          campaign_pause_rows(), volunteer_rows(), more_rows()}) {
      all.insert(all.end(), rows.begin(), rows.end());
    }
    check_rows(all);
    for (Field& row : all) {  // all rows are in place, so an example may refer to another row
      complete_range(row);
      if (row.example.empty()) row.example = row.default_text;
    }
    return all;
  }();
  return table;
}

}  // namespace windtunnel
