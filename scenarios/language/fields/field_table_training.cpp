// Rows of the field table below "train".
#include "models/workload/training.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {
namespace {

Rows part_rows() {
  return {
      map_row("train", example("{frozen: [embedding, \"layers 0-11\"]}"),
              "what a step trains, and by what; default: all parameters, by a backward pass and "
              "cross entropy"),
      name_row("train.method", sets<&Training::method>, optional, example("zeroth-order"),
               "zeroth-order: two forward passes with perturbed weights, and a number that "
               "replicas exchange (MeZO, Just One Byte); default: backward"),
      list_row("train.frozen", example("[embedding, \"layers 0-11\"]"),
               "parts that stay as they are: embedding, head, layers, \"layers 3\", \"layers "
               "0-11\"; of a "
               "tower before the decoder, its layers (tower) and what maps them to it (projector)"),
      text_row("train.frozen.*", example("\"layers 0-11\""), "one part"),
  };
}

Rows adapter_rows() {
  return {
      map_row("train.adapter", shorthand("kind"), example("{kind: lora, rank: 16, on: [q, v]}"),
              "matrices of low rank added to those of the layers; only these are trained"),
      name_row("train.adapter.kind", sets<&Training::adapter, &Adapter::kind>, required,
               example("lora"),
               "lora; with its first factor as it was drawn (lora-fa); over weights in 4 bits "
               "(qlora); with a magnitude for each column (dora); or none"),
      whole_row("train.adapter.rank", sets<&Training::adapter, &Adapter::rank>, range(1, 1e6),
                optional, example("16"), "columns of the first factor; default: 16"),
      flag_row("train.adapter.dropout", sets<&Training::adapter, &Adapter::dropout>, optional,
               example("true"),
               "some inputs of each first factor are dropped (PEFT's lora_dropout above 0); "
               "default: false"),
      list_row("train.adapter.on", example("[qkv, proj]"),
               "which matrices have one; default: all of a layer"),
      name_row("train.adapter.on.*", names({"qkv", "q", "k", "v", "proj", "up", "down"}),
               example("qkv"),
               "of attention: those of queries, keys, values, and the output's; of an MLP, or of "
               "experts: those into it, and the one out of it"),
  };
}

Rows loss_rows() {
  return {
      map_row("train.loss", shorthand("kind"), example("{kind: cross-entropy, chunks: 8}"),
              "what the loss head computes"),
      name_row("train.loss.kind", sets<&Training::loss, &TrainingLoss::kind>, optional,
               example("contrastive"),
               "contrastive: a sequence's embedding against those of the whole batch; default: "
               "cross-entropy"),
      whole_row("train.loss.chunks", sets<&Training::loss, &TrainingLoss::chunks>, range(1, 1e6),
                optional, example("8"),
                "cross-entropy: number of parts of a micro-batch; only one part has its logits in "
                "memory at a time; default: 1"),
      name_row("train.loss.form", sets<&Training::loss, &TrainingLoss::form>, optional,
               example("ring"),
               "contrastive: similarities whole, or by tiles, with the embeddings of all gathered "
               "(tiled) or coming by (ring); default: whole"),
      whole_row("train.loss.tile", sets<&Training::loss, &TrainingLoss::tile>, range(1, 1e6),
                optional, example("1024"),
                "contrastive by tiles: rows and columns of one; default: 1024"),
      whole_row("train.loss.width", sets<&Training::loss, &TrainingLoss::width>, range(1, 1e6),
                optional, example("768"),
                "contrastive: of an embedding; default: the model's hidden width"),
  };
}

}  // namespace

Rows training_rows() {
  return joined({part_rows(), adapter_rows(), loss_rows()});
}

}  // namespace windtunnel
