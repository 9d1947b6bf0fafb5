// Rows of the field table below "offload".
#include "models/cost/offload/offload.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

Rows offload_rows() {
  return {
      map_row("offload",
              {.shorthand = "optimizer",
               .example = "{optimizer: host, gradients: host}",
               .help = "what lies beside the GPU's memory, in that of its host or on the node's "
                       "drives, and goes over PCIe when it is needed"}),
      name_row<&Offload::optimizer>(
          "offload.optimizer",
          {.example = "host",
           .help = "where the optimizer state lies; beside the GPU the host's cores take the step "
                   "(ZeRO-Offload; disk: ZeRO-Infinity)"}),
      name_row<&Offload::gradients>(
          "offload.gradients",
          {.example = "host",
           .help = "gpu: they leave once a step where the optimizer is on the host; otherwise "
                   "after each micro-batch, and are summed there"}),
      name_row<&Offload::weights>(
          "offload.weights",
          {.example = "host",
           .help = "beside the GPU each layer's come before the passes that need them (FSDP's "
                   "CPU offload, ZeRO-Infinity)"}),
      name_row<&Offload::activations>(
          "offload.activations",
          {.example = "host",
           .help = "what layers keep for the backward pass leaves behind each forward and comes "
                   "back one layer ahead; with recompute: full that are the layers' inputs"}),
      fact_row<&Offload::optimizer_share>(
          "offload.optimizer_share", Dimension::number,
          {.low = 0,
           .above_low = true,
           .high = 1,
           .optional = true,
           .example = "0.6",
           .help =
               "of the optimizer state, that offload.optimizer moves; the GPU keeps and updates "
               "the rest (Twin-Flow of ZeRO-Offload++); default: 1"}),
      fact_row<&Offload::activation_share>(
          "offload.activation_share", Dimension::number,
          {.low = 0,
           .above_low = true,
           .high = 1,
           .optional = true,
           .example = "0.5",
           .help = "of a stage's layers, from the first on, that offload.activations moves; "
                   "default: 1"}),
      flag_row<&Offload::hidden>(
          "offload.hidden",
          {.example = "true",
           .help = "activations leave as far as that hides behind the passes, the same share of "
                   "every layer's (ByteScale); the longer the sequence, the more"}),
      whole_row<&Offload::sections>(
          "offload.sections",
          {.low = 1,
           .high = 1000,
           .optional = true,
           .example = "3",
           .help = "layers whose weights and activations have a place on the GPU while they come "
                   "and go (SE-MoE's ring); default: 2, one is used while the next comes"}),
      whole_row<&Offload::tiles>(
          "offload.tiles",
          {.low = 1,
           .high = 1000,
           .optional = true,
           .example = "4",
           .help = "parts of a layer's weights that come and are used one after another, so that "
                   "layers larger than the GPU fit (ZeRO-Infinity's memory-centric tiling)"}),
      name_row<&Offload::placement>(
          "offload.placement",
          {.example = "chunks",
           .help = "shares: what the keys here say; chunks: weights, with the optimizer state of "
                   "each, stay on the GPU as far as activations leave room (PatrickStar)"}),
      fact_row<&Offload::chunk_bytes>("offload.chunk", Dimension::bytes,
                                      {.low = 0,
                                       .above_low = true,
                                       .high = 1e12,
                                       .optional = true,
                                       .example = "128 MiB",
                                       .help = "weights of a chunk; default: of sizes from that "
                                               "of the largest tensor on the one that is filled "
                                               "best"}),
      flag_row<&Offload::delayed>(
          "offload.delayed",
          {.example = "true",
           .help = "the host's step runs beside the next one, whose weights are then a step old"}),
      fact_row<&Offload::cores>("offload.cores", Dimension::number,
                                {.low = 0,
                                 .above_low = true,
                                 .high = 1e4,
                                 .optional = true,
                                 .example = "16",
                                 .help = "of the host for each GPU's step; default: an equal share "
                                         "of the node's"}),
      bandwidth_row("offload.core_rate",
                    {.optional = true,
                     .example = "20 GB/s",
                     .help = "what one core reads and writes while it takes the step"}),
  };
}

}  // namespace windtunnel
