// Rows of the field table below "offload".
#include "models/cost/offload/offload.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

Rows offload_rows() {
  return {
      map_row("offload", shorthand("optimizer"), example("{optimizer: host, gradients: host}"),
              "what is kept outside of the GPU's memory, in host memory or on the node's drives, "
              "and copied over PCIe when needed"),
      name_row("offload.optimizer", sets<&Offload::optimizer>, example("host"),
               "where the optimizer state is kept; outside of the GPU, the host's cores compute "
               "the optimizer step (ZeRO-Offload; disk: ZeRO-Infinity)"),
      name_row("offload.gradients", sets<&Offload::gradients>, example("host"),
               "gpu: they leave once a step where the optimizer is on the host; otherwise after "
               "each micro-batch, and are summed there"),
      name_row("offload.weights", sets<&Offload::weights>, example("host"),
               "outside of the GPU, each layer's are copied in before the passes that need them "
               "(FSDP's CPU offload, ZeRO-Infinity)"),
      name_row("offload.activations", sets<&Offload::activations>, example("host"),
               "activations kept for the backward pass are copied out after each forward pass and "
               "return one layer ahead of use; with recompute: full these are the layers' inputs"),
      fact_row("offload.optimizer_share", sets<&Offload::optimizer_share>, above(0, 1), optional,
               example("0.6"),
               "of the optimizer state, that offload.optimizer moves; the GPU keeps and updates "
               "the rest (Twin-Flow of ZeRO-Offload++); default: 1"),
      fact_row(
          "offload.activation_share", sets<&Offload::activation_share>, above(0, 1), optional,
          example("0.5"),
          "of a stage's layers, from the first on, that offload.activations moves; default: 1"),
      flag_row("offload.hidden", sets<&Offload::hidden>, example("true"),
               "activations are offloaded as far as the copies overlap with the passes, the same "
               "share in every layer (ByteScale); the longer the sequence, the more"),
      whole_row("offload.sections", sets<&Offload::sections>, range(1, 1000), optional,
                example("3"),
                "number of layers whose weights and activations have buffers on the GPU (SE-MoE's "
                "ring); default: 2, one in use while the next is copied in"),
      whole_row("offload.tiles", sets<&Offload::tiles>, range(1, 1000), optional, example("4"),
                "parts of a layer's weights that come and are used one after another, so that "
                "layers larger than the GPU fit (ZeRO-Infinity's memory-centric tiling)"),
      name_row("offload.placement", sets<&Offload::placement>, example("chunks"),
               "shares: as the keys here state; chunks: weights with their optimizer state stay on "
               "the GPU as far as activations leave room (PatrickStar)"),
      fact_row("offload.chunk", sets<&Offload::chunk_bytes>, Dimension::bytes, above(0, 1e12),
               optional, example("128 MiB"),
               "weights of a chunk; default: of sizes from that of the largest tensor on the one "
               "that is filled best"),
      flag_row("offload.delayed", sets<&Offload::delayed>, example("true"),
               "the host's optimizer step overlaps with the next training step, whose weights are "
               "then one step old"),
      fact_row("offload.cores", sets<&Offload::cores>, above(0, 1e4), optional, example("16"),
               "of the host for each GPU's step; default: an equal share of the node's"),
      bandwidth_row("offload.core_rate", optional, example("20 GB/s"),
                    "what one core reads and writes while it takes the step"),
  };
}

}  // namespace windtunnel
