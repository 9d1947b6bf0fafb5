// Rows of the field table below "train".
#include "models/workload/training.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {
namespace {

Rows part_rows() {
  return {
      map_row("train", example("{frozen: [embedding, \"layers 0-11\"]}"),
              "what a step trains, and by which method; default: all parameters, by a backward "
              "pass and cross entropy"),
      name_row("train.method", sets<&Training::method>, optional, example("zeroth-order"),
               "zeroth-order: two forward passes with perturbed weights, after which replicas "
               "exchange one number (MeZO, Just One Byte); default: backward"),
      list_row(
          "train.frozen", example("[embedding, \"layers 0-11\"]"),
          "parts that are not trained: embedding, head, layers, \"layers 3\", \"layers "
          "0-11\"; of a tower before the decoder: its layers (tower), and what maps its output "
          "to the decoder's width (projector)"),
      text_row("train.frozen.*", example("\"layers 0-11\""), "one part"),
  };
}

Rows adapter_rows() {
  return {
      map_row("train.adapter", shorthand("kind"), example("{kind: lora, rank: 16, on: [q, v]}"),
              "low-rank matrices that are added to those of the layers; only these are trained"),
      name_row("train.adapter.kind", sets<&Training::adapter, &Adapter::kind>, required,
               example("lora"),
               "lora; with a fixed random first factor (lora-fa); on weights in 4 bits (qlora); "
               "with a magnitude for each column (dora); or none"),
      whole_row("train.adapter.rank", sets<&Training::adapter, &Adapter::rank>, range(1, 1e6),
                optional, example("16"), "columns of the first factor; default: 16"),
      flag_row("train.adapter.dropout", sets<&Training::adapter, &Adapter::dropout>, optional,
               example("true"),
               "dropout on the inputs of each first factor (PEFT's lora_dropout above 0); default: "
               "false"),
      list_row("train.adapter.on", example("[qkv, proj]"),
               "which matrices have an adapter; default: all of a layer"),
      name_row("train.adapter.on.*", names({"qkv", "q", "k", "v", "proj", "up", "down"}),
               example("qkv"),
               "a matrix of attention (queries, keys, values, output), or of an MLP or its experts "
               "(input matrices, output matrix)"),
  };
}

Rows loss_rows() {
  return {
      map_row("train.loss", shorthand("kind"), example("{kind: cross-entropy, chunks: 8}"),
              "what the loss head computes"),
      name_row("train.loss.kind", sets<&Training::loss, &TrainingLoss::kind>, optional,
               example("contrastive"),
               "contrastive: compares the embedding of a sequence with those of the whole batch; "
               "default: cross-entropy"),
      whole_row("train.loss.chunks", sets<&Training::loss, &TrainingLoss::chunks>, range(1, 1e6),
                optional, example("8"),
                "cross-entropy: number of parts of a micro-batch; only the logits of one part are "
                "in memory at a time; default: 1"),
      name_row("train.loss.form", sets<&Training::loss, &TrainingLoss::form>, optional,
               example("ring"),
               "contrastive: similarities are computed as a whole, or in tiles with all embeddings "
               "gathered (tiled) or circulating (ring); default: whole"),
      whole_row("train.loss.tile", sets<&Training::loss, &TrainingLoss::tile>, range(1, 1e6),
                optional, example("1024"),
                "contrastive, in tiles: rows and columns of a tile; default: 1024"),
      whole_row("train.loss.width", sets<&Training::loss, &TrainingLoss::width>, range(1, 1e6),
                optional, example("768"),
                "contrastive: width of an embedding; default: the model's hidden width"),
  };
}

}  // namespace

Rows training_rows() {
  return joined({part_rows(), adapter_rows(), loss_rows()});
}

}  // namespace windtunnel
