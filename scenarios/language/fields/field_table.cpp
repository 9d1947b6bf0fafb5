// The table of all keys that a scenario may have, and its rows about job, model, layout
// and batch; the other rows have files of their own.
#include <algorithm>
#include <iterator>

#include "models/base/quantity_range.hpp"
#include "models/machine/fabrics/job_places.hpp"
#include "models/workload/axes.hpp"
#include "policies/schedules/schedules.hpp"
#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/library/facts/attention_kernels.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {

std::vector<std::string> calibration_names() {
  std::vector<std::string> names = names_in(library_calibrations());
  names.insert(names.begin(), "auto");
  return names;
}

namespace {

std::vector<std::string> model_names() {
  std::vector<std::string> names = names_in(library_models());
  std::ranges::copy(names_in(library_networks()), std::back_inserter(names));
  return names;
}

std::vector<std::string> attention_names() {
  std::vector<std::string> names = {"auto"};
  for (const AttentionKernelEntry& kernel : attention_kernels()) names.push_back(kernel.name);
  names.push_back("eager");
  return names;
}

// Sets and single modules.
std::vector<std::string_view> recompute_names() {
  std::vector<std::string_view> names = names_of<Recompute>();
  std::ranges::copy(names_of<RecomputeModule>(), std::back_inserter(names));
  return names;
}
std::vector<std::string> schedule_names() {
  return names_in(schedule_kinds());
}

Rows general_rows() {
  return {
      map_row("",
              {.help = "One training job on one cluster: what it runs, where, and what breaks"}),
      text_row("name", {.required = true,
                        .example = "llama3-405b-16k",
                        .help = "how reports call this scenario",
                        .scope = Scope::label}),
      name_row<&Job::precision>(
          "precision",
          {.example = "bf16",
           .help = "of the matrix multiplications; fp8 has one scale for a tensor, mxfp8 "
                   "one for 32 elements, nvfp4 (four bits) one for 16"}),
      name_row<&Job::recompute>(
          "recompute",
          {.map = true,
           .list = true,
           .names = recompute_names(),
           .example = "{modules: [mla_up_proj, layernorm]}",
           .help = "activations computed again in the backward pass instead of kept: the cheap "
                   "ones (selective), all of a layer (full), or those of modules"}),
      name_row("recompute.*", {.names = names_of<RecomputeModule>(),
                               .example = "mla_up_proj",
                               .help = "one module, in Megatron-Core's words; mlp_act, scores: "
                                       "parts of selective; op: torchtitan's"}),
      list_row(
          "recompute.modules",
          name_row("recompute.modules", {.optional = true,
                                         .names = recompute_names(),
                                         .example = "full",
                                         .help = "a set, or a list of modules; default: full"})),
      name_row("recompute.modules.*",
               {.names = names_of<RecomputeModule>(), .example = "moe_act", .help = "one module"}),
      name_row<&Recompute::method>(
          "recompute.method",
          {.example = "block",
           .help = "block: the first layers of a stage recompute; uniform: all do, in groups that "
                   "keep the input of their first layer; every: one layer in each group"}),
      whole_row<&Recompute::layers>("recompute.layers",
                                    {.low = 1,
                                     .high = 10'000,
                                     .optional = true,
                                     .example = "4",
                                     .help = "of block: how many of a stage's layers recompute; of "
                                             "uniform and every: layers of a group"}),
      name_row(
          "attention",
          {.default_text = "auto",
           .library = attention_names,
           .example = "fa3",
           .help = "the kernel: FlashAttention-2, -3 or -4, cuDNN 9's or Triton's, each as fast "
                   "as it was measured on this kind of GPU; products and softmax one by one "
                   "(eager, as model.attention: unfused); or the one that the calibration is "
                   "of (auto)"}),
      map_row("schedule", {.shorthand = "name",
                           .example = "interleaved-1f1b",
                           .help = "order of forward and backward passes on a pipeline"}),
      name_row<&ScheduleChoice::name>("schedule.name", {.library = schedule_names,
                                                        .example = "1f1b",
                                                        .help = "see `windtunnel list schedules`"}),
      text_row<&ScheduleChoice::file>(
          "schedule.file",
          {.optional = true,
           .example = "zb.csv",
           .help = "in place of a name: a schedule of torch.distributed.pipelining (CSV), "
                   "beside this file"}),
      whole_row<&ScheduleChoice::group>(
          "schedule.group",
          {.low = 1,
           .high = 1e6,
           .optional = true,
           .example = "8",
           .help = "interleaved-1f1b, zeropp: micro-batches that pass through a chunk "
                   "together; default: pp. chimera: 2 is forward doubling"}),
      whole_row<&ScheduleChoice::slices>(
          "schedule.slices", {.low = 1,
                              .high = 1e4,
                              .optional = true,
                              .example = "4",
                              .help = "seq1f1b, terapipe: pieces of a sequence; default: "
                                      "the schedule's usual"}),
      flag_row<&ScheduleChoice::defer_weights>(
          "schedule.defer_weights",
          {.example = "true",
           .help = "every backward split, the weight gradients at the end (2BP)"}),
      choice_row<&ScheduleChoice::memory_limit>(
          "schedule.memory_limit", Dimension::bytes,
          {.low = 1,
           .high = 1e15,
           .optional = true,
           .example = "40 GB",
           .help = "zb-auto: activations that a rank may hold"}),
      choice_row<&ScheduleChoice::recompute_share>(
          "schedule.recompute_share", Dimension::number,
          {.low = 0,
           .high = 1,
           .example = "0.5",
           .help = "of the first stage's layers that recompute, later stages fewer (Merak)"}),
      name_row("calibration",
               {.default_text = "auto",
                .library = calibration_names,
                .file_suffix = ".yaml",
                .example = "h100-published",
                .help = "fitted constants of the cost models: a name of the library, a .yaml file, "
                        "or auto, which takes the one fitted on this kind of GPU"}),
      name_row<&Job::fold>(
          "fold", {.example = "auto",
                   .help = "simulate ranks that cannot differ once, and where hashed or planned "
                           "routes tell too many apart a sample of them (auto), or all that "
                           "differ (exact), or each (none)"}),
      map_row("origins", {.free_keys = true,
                          .example = "{failures.*.rate: 'published: arXiv 2407.21783 table 5'}",
                          .help = "evidence of the numbers that this file states: a path, or the "
                                  "start of one, to 'measured: ...', 'published: ...', 'spec: ...' "
                                  "or 'assumed: ...'; what is not named counts as assumed"}),
      list_row("jobs", {.example = "[a.yaml, b.yaml]",
                        .help = "several jobs beside one another, each a scenario in a file beside "
                                "this one, which then has name, cluster, jobs and placement alone: "
                                "of their own cluster they say how many nodes they take"}),
      text_row("jobs.*", {.example = "a.yaml", .help = "a scenario of one job"}),
      name_row("placement",
               {.optional = true,
                .names = names_of<JobPlacement>(),
                .example = "spread",
                .help = "of jobs: each on the first nodes that are free (packed, if left out), on "
                        "nodes of all pods, sites or groups in turn, or a node for each job in "
                        "turn; a job's own layout.placement goes before"}),
  };
}

Rows model_rows() {
  return {
      map_row(
          "model",
          {.shorthand = "base",
           .required = true,
           .example = "llama3-405b",
           .help = "a name of the library, a config.json of Hugging Face, or a .yaml file with "
                   "a table of layers; of a transformer also its dimensions, or a base and what "
                   "differs from it"}),
      name_row("model.base",
               {.library = model_names,
                .file_suffix = ".yaml .json .args",
                .example = "llama3-405b",
                .help = "the model to start from: of the library, a config.json of Hugging Face "
                        "(.json) or the arguments of Megatron-LM (.args) beside this file; or a "
                        "table of layers (.yaml) with input and layers as those of the library's "
                        "layer_tables.yaml"}),
      whole_row("model.layers",
                {.low = 1, .high = 1e4, .example = "126", .help = "transformer layers"}),
      whole_row("model.hidden",
                {.low = 1, .high = 1e6, .example = "16384", .help = "width of the hidden state"}),
      whole_row("model.heads",
                {.low = 1, .high = 1e5, .example = "128", .help = "attention heads"}),
      whole_row("model.kv_heads",
                {.low = 1,
                 .high = 1e5,
                 .example = "8",
                 .help = "key and value heads; fewer than heads is grouped-query attention; "
                         "without a base: heads"}),
      whole_row("model.head_width", {.low = 1,
                                     .high = 1e5,
                                     .example = "128",
                                     .help = "of the queries and keys of one head; without a "
                                             "base: hidden / heads"}),
      whole_row("model.ffn",
                {.low = 1,
                 .high = 1e6,
                 .example = "53248",
                 .help = "width of one matrix of a dense MLP; without a base: 4 x hidden, gated "
                         "8/3 x hidden"}),
      whole_row("model.vocabulary", {.low = 1, .high = 1e8, .example = "128256", .help = "tokens"}),
      whole_row(
          "model.sequence",
          {.low = 1, .high = 1e8, .example = "8192", .help = "tokens of one training sequence"}),
      whole_row("model.frames",
                {.low = 2,
                 .high = 1e6,
                 .example = "16",
                 .help = "of a sequence of video: layers attend within a frame and at one place "
                         "over all frames in turn, without a mask; default: to the whole sequence, "
                         "causally"}),
      whole_row(
          "model.window",
          {.low = 0,
           .high = 1e8,
           .example = "4096",
           .help = "latest keys that a query of flash attention sees in layers with a sliding "
                   "window; 0: all before it; without a base: 0"}),
      whole_row("model.global_every",
                {.low = 0,
                 .high = 1e4,
                 .example = "6",
                 .help = "of so many layers one has no window; 0: all have it; without a base: 0"}),
      whole_row("model.modulation",
                {.low = 0,
                 .high = 100,
                 .example = "6",
                 .help = "vectors that a layer makes of the condition of its sequence (adaLN of "
                         "diffusion transformers), by a matrix each; without a base: 0"}),
      whole_row("model.text_tokens",
                {.low = 0,
                 .high = 1e8,
                 .example = "512",
                 .help = "of a sequence, those of the text in layers with a stream of weights for "
                         "text and one for images (hybrid_override_pattern: D); without a base: "
                         "0"}),
      whole_row("model.conditioning",
                {.low = 0,
                 .high = 1e7,
                 .example = "20736",
                 .help = "rows of further matrices as wide as the model, which embed time, class "
                         "and text of diffusion transformers and modulate their end; without a "
                         "base: 0"}),
      text_row<&TransformerSpec::pattern>(
          "model.hybrid_override_pattern",
          {.optional = true,
           .example = "M-M*-",
           .help = "a letter for each layer, as Megatron-LM has them: M Mamba-2, * attention, - "
                   "MLP, E experts, each behind a norm; of diffusion transformers D two streams, "
                   "d the last of these, S one stream; default: every layer is attention and an "
                   "MLP or experts"}),
      name_row<&TransformerSpec::activation>(
          "model.activation", {.optional = true, .example = "swiglu", .help = "of the MLP"}),
      name_row<&TransformerSpec::normalisation>(
          "model.normalisation", {.optional = true, .example = "rms-norm", .help = "of a layer"}),
      name_row<&TransformerSpec::position>(
          "model.position", {.optional = true, .example = "rotary", .help = "position encoding"}),
      flag_row("model.biases", {.example = "false", .help = "matrices have bias vectors"}),
      flag_row("model.tied_embeddings",
               {.example = "false", .help = "the loss head shares the embedding's weights"}),
      flag_row("model.dropout",
               {.example = "false",
                .help = "after both halves of a layer and on the attention scores; without a "
                        "base: false"}),
      flag_row("model.separate_projections",
               {.example = "false",
                .help = "queries, keys and values (and SwiGLU's gate) are matrices of their own: "
                        "more gradients, the same products; without a base: false"}),
      flag_row("model.encoder",
               {.example = "false",
                .help = "BERT's segment embeddings, pooler and heads; without a base: false"}),
      flag_row("model.bidirectional",
               {.example = "false",
                .help = "attention without a causal mask, as of encoders and diffusion "
                        "transformers; without a base: false"}),
      name_row<&TransformerSpec::attention>(
          "model.attention",
          {.optional = true,
           .example = "flash",
           .help = "one fused kernel that keeps the scores on the chip (flash), batched "
                   "GEMMs with a softmax between them (unfused), or no softmax and a state "
                   "in place of earlier tokens (linear); without a base: flash"}),
  };
}

// The parts of a model that few have.
Rows model_part_rows() {
  return {
      map_row("model.moe", {.example = "{experts: 8, per_token: 2, ffn: 14336}",
                            .help = "a mixture of experts in the place of the MLP"}),
      whole_row("model.moe.experts",
                {.low = 0, .high = 1e5, .example = "8", .help = "of one layer; 0: a dense model"}),
      whole_row("model.moe.per_token",
                {.low = 1, .high = 1e5, .example = "2", .help = "experts that a token visits"}),
      whole_row(
          "model.moe.ffn",
          {.low = 1, .high = 1e6, .example = "14336", .help = "width of one matrix of one expert"}),
      whole_row("model.moe.shared_ffn",
                {.low = 0,
                 .high = 1e6,
                 .example = "2048",
                 .help = "width of the experts that every token visits, in all; without a base: "
                         "0"}),
      whole_row("model.moe.dense_layers",
                {.low = 0,
                 .high = 1e4,
                 .example = "3",
                 .help = "leading layers with a dense MLP; without a base: 0"}),
      whole_row("model.moe.latent_size",
                {.low = 0,
                 .high = 1e6,
                 .example = "1024",
                 .help = "width of what experts read and write, with a matrix before and one "
                         "behind them (LatentMoE); 0: that of the model"}),
      fact_row<&MixtureOfExperts::imbalance>(
          "model.moe.imbalance", Dimension::number,
          {.low = 1,
           .high = 1e4,
           .optional = true,
           .example = "1.2",
           .help = "tokens of the busiest expert-parallel rank over the mean; without a "
                   "base: 1"}),
      map_row("model.mamba",
              {.example = "{state_dim: 128, head_dim: 64, num_groups: 8, num_heads: 128}",
               .help = "Mamba-2 layers, which hybrid_override_pattern lists"}),
      whole_row("model.mamba.state_dim",
                {.low = 1, .high = 1e5, .example = "128", .help = "of each number of a head"}),
      whole_row("model.mamba.head_dim",
                {.low = 1, .high = 1e5, .example = "64", .help = "of the input of the scan"}),
      whole_row("model.mamba.num_groups", {.low = 1,
                                           .high = 1e5,
                                           .example = "8",
                                           .help = "of heads that share what is written to their "
                                                   "states and read from them (B and C)"}),
      whole_row("model.mamba.num_heads",
                {.low = 1, .high = 1e5, .example = "128", .help = "heads of the scan"}),
      whole_row("model.mamba.chunk_size",
                {.low = 1,
                 .high = 1e6,
                 .example = "128",
                 .help = "tokens that the scan works on at once; without a base: 128"}),
      map_row("model.latent",
              {.example = "{kv_rank: 512, rotary_width: 64, value_width: 128}",
               .help = "multi-head latent attention: queries, keys and values out of low-rank "
                       "projections"}),
      whole_row("model.latent.query_rank", {.low = 0,
                                            .high = 1e6,
                                            .example = "1536",
                                            .help = "width of the compressed queries; 0: they are "
                                                    "projected directly"}),
      whole_row("model.latent.kv_rank", {.low = 0,
                                         .high = 1e6,
                                         .example = "512",
                                         .help = "width of the compressed keys and values; 0: no "
                                                 "latent attention"}),
      whole_row("model.latent.rotary_width",
                {.low = 0,
                 .high = 1e5,
                 .example = "64",
                 .help = "of a head, carries the position, beside head_width, which does not"}),
      whole_row("model.latent.value_width",
                {.low = 1, .high = 1e5, .example = "128", .help = "of the values of one head"}),
  };
}

template <std::size_t... I>
Rows rows_of_axes(std::index_sequence<I...> /*all*/) {
  const auto row = [](const Axis& axis) {
    const bool open = !axis.follows_from.empty();
    return Field{.low = 1,
                 .high = axis.most,
                 .optional = open,
                 .open_word = open ? "auto" : "",
                 .example = axis.example,
                 .help = axis.help};
  };
  return {whole_row<kAxes[I].size>(kAxes[I].key, row(kAxes[I]))...};
}

Rows axis_rows() {
  Rows rows = rows_of_axes(std::make_index_sequence<kAxes.size()>());
  // Forms of tensor parallelism follow it.
  const Rows forms = {
      name_row<&Layout::tensor>(
          "layout.tp_form",
          {.example = "1d",
           .help = "of tensor parallelism: columns and rows as Megatron-LM has them (1d), or "
                   "blocks on a square mesh of the tp ranks (2d, Optimus)"}),
      whole_row<&Layout::mesh_block>(
          "layout.mesh_block",
          {.low = 1,
           .high = 1e3,
           .example = "1",
           .help = "tp_form 2d: side of the squares of the mesh that consecutive ranks fill "
                   "(Optimus on nodes of four GPUs: 2); 1: they fill rows"}),
  };
  rows.insert(std::ranges::find(rows, "layout.tp", &Field::path) + 1, forms.begin(), forms.end());
  const Rows layout = {map_row("layout", {.example = kLayoutExample,
                                          .help = "how the model and the batch are spread over "
                                                  "the GPUs"})};
  const Rows shardings = {name_row<&Layout::sharding>(
      "layout.sharding",
      {.example = "zero1",
       .help = "over the dp x cp ranks: the optimizer state (zero1), the gradients too "
               "(zero2), the weights too (zero3, FSDP)"})};
  return joined({layout, rows, shardings});
}

Rows batch_rows() {
  return {
      map_row("batch", {.required = true,
                        .example = "{global: 2048, micro: 1}",
                        .help = "sequences per iteration"}),
      whole_row<&Batch::global>(
          "batch.global", {.low = 1,
                           .high = 1e8,
                           .required = true,
                           .example = "2048",
                           .help = "sequences (images, of a network) per iteration, all ranks"}),
      whole_row<&Batch::micro>("batch.micro",
                               {.low = 1,
                                .high = 1e4,
                                .example = "1",
                                .help = "sequences that pass the pipeline together"}),
      Field{.path = "batch.shares",
            .map = true,
            .list = true,
            .shorthand = "form",
            .example = "auto",
            .help = "of the replicas on each of cluster.pools: even, auto, or a list of what a "
                    "replica of each pool takes in proportion"},
      name_row<&Batch::shares>(
          "batch.shares.form",
          {.example = "auto",
           .help = "auto: replicas take so many sequences that all end together"}),
      fact_row("batch.shares.*", Dimension::number,
               {.low = 0, .above_low = true, .high = 1e6, .example = "2", .help = "of one pool"}),
      whole_row<&Batch::sequence>("batch.sequence",
                                  {.low = 1,
                                   .high = 1e8,
                                   .optional = true,
                                   .example = "8192",
                                   .help = "tokens of one; default: the model's"}),
  };
}

Rows layout_rows() {
  return joined(
      {axis_rows(), place_rows(), shard_rows(), signature_rows(), stage_rows(), batch_rows()});
}

// What is filled over an entry of the library, which a default would silently replace.
constexpr const void* kOverBase[] = {&kTypeTag<TransformerSpec>, &kTypeTag<MixtureOfExperts>,
                                     &kTypeTag<NodeSpec>, &kTypeTag<FabricSpec>};

// A key is required, has a default, or is left open; never two of these.
void check_rows(const Rows& rows) {
  for (const Field& row : rows) {
    const int said = int(row.required) + int(row.optional) + int(!row.default_text.empty());
    CHECK(said <= 1, "'{}' is required, optional or has a default, not two of these", row.path);
    const bool over_base = std::ranges::find(kOverBase, row.binding.target) != std::end(kOverBase);
    CHECK(!over_base || row.optional, "'{}' has a default, which would replace the library's",
          row.path);
  }
}

// What a row leaves to the range of its dimension: how near to 0 a number can be that is not 0, and
// how large. An interval is held to the range of times.
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
         {general_rows(),   model_rows(),      model_part_rows(), routing_rows(),
          cluster_rows(),   power_rows(),      training_rows(),   layout_rows(),
          length_rows(),    context_rows(),    software_rows(),   communication_rows(),
          sync_rows(),      redundancy_rows(), offload_rows(),    filling_rows(),
          input_rows(),     rollout_rows(),    campaign_rows(),   campaign_pause_rows(),
          volunteer_rows(), more_rows()}) {
      all.insert(all.end(), rows.begin(), rows.end());
    }
    check_rows(all);
    std::ranges::for_each(all, complete_range);
    return all;
  }();
  return table;
}

}  // namespace windtunnel
