#include "policies/schedules.hpp"
#include "scenarios/field_rows.hpp"
#include "scenarios/fields.hpp"
#include "scenarios/library.hpp"

namespace windtunnel {
namespace {

std::vector<std::string> model_names() {
  return names_in(library_models());
}
std::vector<std::string> schedule_names() {
  return names_in(schedule_kinds());
}
std::vector<std::string> calibration_names() {
  std::vector<std::string> names = names_in(library_calibrations());
  names.insert(names.begin(), "auto");
  return names;
}

Rows general_rows() {
  return {
      map_row("",
              {.help = "One training job on one cluster: what it runs, where, and what breaks"}),
      text_row("name", {.required = true,
                        .example = "llama3-405b-16k",
                        .help = "how reports call this scenario"}),
      name_row("precision", {.default_text = "bf16",
                             .names = {"fp32", "tf32", "fp16", "bf16", "fp8"},
                             .example = "bf16",
                             .help = "of the matrix multiplications"}),
      name_row("recompute", {.default_text = "none",
                             .names = {"none", "selective", "full"},
                             .example = "selective",
                             .help = "activations computed again in the backward pass instead of "
                                     "kept: the cheap ones (selective) or all of a layer (full)"}),
      map_row("schedule", {.shorthand = "name",
                           .example = "interleaved-1f1b",
                           .help = "order of forward and backward passes on a pipeline"}),
      name_row("schedule.name", {.default_text = "1f1b",
                                 .library = schedule_names,
                                 .example = "1f1b",
                                 .help = "see `windtunnel list schedules`"}),
      name_row("calibration",
               {.default_text = "auto",
                .library = calibration_names,
                .file_suffix = ".yaml",
                .example = "h100-published",
                .help = "fitted constants of the cost models: a name of the library, a .yaml file, "
                        "or auto, which takes the one fitted on this kind of GPU"}),
      name_row("fold", {.default_text = "auto",
                        .names = {"auto", "none"},
                        .example = "auto",
                        .help = "simulate ranks that cannot differ once (auto) or each (none)"}),
      map_row("origins", {.free_keys = true,
                          .example = "{failures.*.rate: 'published: arXiv 2407.21783 table 5'}",
                          .help = "evidence of the numbers that this file states: a path, or the "
                                  "start of one, to 'measured: ...', 'published: ...', 'spec: ...' "
                                  "or 'assumed: ...'; what is not named counts as assumed"}),
  };
}

Rows model_rows() {
  return {
      map_row("model", {.shorthand = "base",
                        .required = true,
                        .example = "llama3-405b",
                        .help = "a dense decoder-only transformer: a name of the library, or its "
                                "dimensions, or a base and what differs from it"}),
      name_row("model.base", {.library = model_names,
                              .example = "llama3-405b",
                              .help = "the model of the library to start from"}),
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
      whole_row("model.ffn",
                {.low = 1,
                 .high = 1e6,
                 .example = "53248",
                 .help = "width of one matrix of the MLP; without a base: 4 x hidden"}),
      whole_row("model.vocabulary", {.low = 1, .high = 1e8, .example = "128256", .help = "tokens"}),
      whole_row(
          "model.sequence",
          {.low = 1, .high = 1e8, .example = "8192", .help = "tokens of one training sequence"}),
      name_row("model.activation",
               {.names = {"gelu", "swiglu"}, .example = "swiglu", .help = "of the MLP"}),
      name_row("model.normalisation",
               {.names = {"layer-norm", "rms-norm"}, .example = "rms-norm", .help = "of a layer"}),
      name_row("model.position",
               {.names = {"learned", "rotary"}, .example = "rotary", .help = "position encoding"}),
      flag_row("model.biases", {.example = "false", .help = "matrices have bias vectors"}),
      flag_row("model.tied_embeddings",
               {.example = "false", .help = "the loss head shares the embedding's weights"}),
      flag_row("model.dropout",
               {.example = "false",
                .help = "after both halves of a layer and on the attention scores; without a "
                        "base: false"}),
      name_row("model.attention",
               {.names = {"flash", "unfused"},
                .example = "flash",
                .help = "one fused kernel that keeps the scores on the chip (flash), or batched "
                        "GEMMs with a softmax between them (unfused); without a base: flash"}),
  };
}

Rows layout_rows() {
  return {
      map_row("layout", {.example = "{tp: 8, pp: 16, vpp: 8}",
                         .help = "how the model and the batch are spread over the GPUs"}),
      whole_row(
          "layout.tp",
          {.low = 1, .high = 1e6, .default_text = "1", .example = "8", .help = "tensor parallel"}),
      whole_row(
          "layout.cp",
          {.low = 1, .high = 1e6, .default_text = "1", .example = "1", .help = "context parallel"}),
      whole_row("layout.pp", {.low = 1,
                              .high = 1e4,
                              .default_text = "1",
                              .example = "16",
                              .help = "pipeline parallel"}),
      whole_row("layout.vpp", {.low = 1,
                               .high = 1e4,
                               .default_text = "1",
                               .example = "8",
                               .help = "model chunks per pipeline rank (interleaving)"}),
      whole_row("layout.dp", {.low = 1,
                              .high = 1e8,
                              .example = "128",
                              .help = "data parallel; default: GPUs / (tp x cp x pp)"}),
      name_row("layout.sharding", {.default_text = "none",
                                   .names = {"none", "zero1"},
                                   .example = "zero1",
                                   .help = "of the optimizer state over the data-parallel ranks"}),
      flag_row(
          "layout.sequence_parallel",
          {.default_text = "false",
           .example = "true",
           .help = "norms and dropout split along the sequence over the tensor-parallel ranks"}),
      Field{.path = "layout.stages",
            .map = true,
            .list = true,
            .example = "{first: -1, last: -1}",
            .help = "layers of the stages where they are not even: what the first and last have "
                    "more than the others, or a list of all pp x vpp"},
      whole_row("layout.stages.first", {.low = -1e4,
                                        .high = 1e4,
                                        .default_text = "0",
                                        .example = "-1",
                                        .help = "-1 takes a layer off the first stage"}),
      whole_row("layout.stages.last", {.low = -1e4,
                                       .high = 1e4,
                                       .default_text = "0",
                                       .example = "-1",
                                       .help = "the same for the last stage"}),
      whole_row("layout.stages.*",
                {.low = 0, .high = 1e4, .example = "2", .help = "layers of one stage"}),
      map_row("batch", {.required = true,
                        .example = "{global: 2048, micro: 1}",
                        .help = "sequences per iteration"}),
      whole_row("batch.global", {.low = 1,
                                 .high = 1e8,
                                 .required = true,
                                 .example = "2048",
                                 .help = "sequences per iteration, all ranks"}),
      whole_row("batch.micro", {.low = 1,
                                .high = 1e4,
                                .default_text = "1",
                                .example = "1",
                                .help = "sequences that pass the pipeline together"}),
      whole_row("batch.sequence", {.low = 1,
                                   .high = 1e8,
                                   .example = "8192",
                                   .help = "tokens of one; default: the model's"}),
  };
}

Rows communication_rows() {
  return {
      map_row("communication",
              {.example = "{overlap: bucketed, bucket: 25 MB}", .help = "how gradients travel"}),
      name_row("communication.overlap",
               {.default_text = "none",
                .names = {"none", "bucketed"},
                .example = "bucketed",
                .help = "reduce gradients after the backward pass, or bucket by bucket during it"}),
      choice_row("communication.bucket", Dimension::bytes,
                 {.low = 0,
                  .above_low = true,
                  .high = 1e15,
                  .default_text = "25 MB",
                  .example = "25 MB",
                  .help = "gradient bytes that are reduced together"}),
      name_row("communication.fidelity",
               {.default_text = "auto",
                .names = {"auto", "closed", "flows"},
                .example = "auto",
                .help = "collectives by formula (closed), as flows that share links, or flows only "
                        "where links are shared (auto)"}),
      map_row("communication.compressor",
              {.shorthand = "name", .example = "none", .help = "of the gradients"}),
      name_row("communication.compressor.name",
               {.default_text = "none", .names = {"none"}, .example = "none", .help = "none yet"}),
  };
}

}  // namespace

const std::vector<Field>& field_table() {
  static const std::vector<Field> table = [] {
    Rows all;
    for (const Rows& rows : {general_rows(), model_rows(), cluster_rows(), layout_rows(),
                             communication_rows(), campaign_rows()}) {
      all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
  }();
  return table;
}

}  // namespace windtunnel
