// Rows of the field table below "train".
#include "models/workload/training.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {
namespace {

Rows part_rows() {
  return {
      map_row("train",
              {.example = "{frozen: [embedding, \"layers 0-11\"]}",
               .help = "what a step trains, and by what; default: all parameters, by a backward "
                       "pass and cross entropy"}),
      name_row<&Training::method>(
          "train.method",
          {.optional = true,
           .example = "zeroth-order",
           .help = "zeroth-order: two forward passes with perturbed weights, and a number that "
                   "replicas exchange (MeZO, Just One Byte); default: backward"}),
      list_row("train.frozen",
               {.example = "[embedding, \"layers 0-11\"]",
                .help = "parts that stay as they are: embedding, head, layers, \"layers 3\", "
                        "\"layers 0-11\""}),
      text_row("train.frozen.*", {.example = "\"layers 0-11\"", .help = "one part"}),
  };
}

Rows adapter_rows() {
  return {
      map_row("train.adapter",
              {.shorthand = "kind",
               .example = "{kind: lora, rank: 16, on: [q, v]}",
               .help = "matrices of low rank beside those of the layers, which are trained alone"}),
      name_row<&Training::adapter, &Adapter::kind>(
          "train.adapter.kind",
          {.required = true,
           .example = "lora",
           .help = "lora; with its first factor as it was drawn (lora-fa); over weights in 4 bits "
                   "(qlora); with a magnitude for each column (dora); or none"}),
      whole_row<&Training::adapter, &Adapter::rank>(
          "train.adapter.rank", {.low = 1,
                                 .high = 1e6,
                                 .optional = true,
                                 .example = "16",
                                 .help = "columns of the first factor; default: 16"}),
      flag_row<&Training::adapter, &Adapter::dropout>(
          "train.adapter.dropout",
          {.optional = true,
           .example = "true",
           .help = "some inputs of each first factor are dropped (PEFT's lora_dropout above 0); "
                   "default: false"}),
      list_row("train.adapter.on", {.example = "[qkv, proj]",
                                    .help = "which matrices have one; default: all of a layer"}),
      name_row(
          "train.adapter.on.*",
          {.names = {"qkv", "q", "k", "v", "proj", "up", "down"},
           .example = "qkv",
           .help = "of attention: those of queries, keys, values, and the output's; of an MLP, "
                   "or of experts: those into it, and the one out of it"}),
  };
}

Rows loss_rows() {
  return {
      map_row("train.loss", {.shorthand = "kind",
                             .example = "{kind: cross-entropy, chunks: 8}",
                             .help = "what the loss head computes"}),
      name_row<&Training::loss, &TrainingLoss::kind>(
          "train.loss.kind",
          {.optional = true,
           .example = "contrastive",
           .help = "contrastive: a sequence's embedding against those of the whole batch; default: "
                   "cross-entropy"}),
      whole_row<&Training::loss, &TrainingLoss::chunks>(
          "train.loss.chunks",
          {.low = 1,
           .high = 1e6,
           .optional = true,
           .example = "8",
           .help = "cross-entropy: parts of a micro-batch of which one has logits at a time; "
                   "default: 1"}),
      name_row<&Training::loss, &TrainingLoss::form>(
          "train.loss.form",
          {.optional = true,
           .example = "ring",
           .help = "contrastive: similarities whole, or by tiles, with the embeddings of all "
                   "gathered (tiled) or coming by (ring); default: whole"}),
      whole_row<&Training::loss, &TrainingLoss::tile>(
          "train.loss.tile", {.low = 1,
                              .high = 1e6,
                              .optional = true,
                              .example = "1024",
                              .help = "contrastive by tiles: rows and columns of one; default: "
                                      "1024"}),
      whole_row<&Training::loss, &TrainingLoss::width>(
          "train.loss.width",
          {.low = 1,
           .high = 1e6,
           .optional = true,
           .example = "768",
           .help = "contrastive: of an embedding; default: the model's hidden width"}),
  };
}

}  // namespace

Rows training_rows() {
  return joined({part_rows(), adapter_rows(), loss_rows()});
}

}  // namespace windtunnel
