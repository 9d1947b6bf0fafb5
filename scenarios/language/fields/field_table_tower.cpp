// This file has the rows of the field table below "model.tower".
#include "models/workload/tower.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

Rows tower_rows() {
  return {
      map_row("model.tower",
              example("{layers: 24, hidden: 1024, heads: 16, patches: 576, patch_values: 588}"),
              "layers before the decoder, on its first stage, that turn images or sounds into "
              "places of its sequence; a config.json that has them states them"),
      whole_row("model.tower.sources", sets<&Tower::sources>, optional, range(0, 1000),
                example("2"),
                "images or sounds in a sequence of the batch; 0: none, so that the tower is only "
                "held in memory; default: 1"),
      whole_row("model.tower.patches", sets<&Tower::layers, &TransformerSpec::sequence>, optional,
                range(1, 1e6), example("576"),
                "patches of an image, or frames of a sound, on which each layer works; required "
                "without a config.json"),
      whole_row("model.tower.tokens", sets<&Tower::tokens>, optional, range(1, 1e6), example("576"),
                "places of the decoder's sequence that an image or a sound takes; default: as "
                "many as patches"),
      whole_row("model.tower.layers", sets<&Tower::layers, &TransformerSpec::layers>, optional,
                range(1, 1e4), example("24"), "number of layers; required without a config.json"),
      whole_row("model.tower.hidden", sets<&Tower::layers, &TransformerSpec::hidden>, optional,
                range(1, 1e6), example("1024"),
                "width between layers; required without a config.json"),
      whole_row("model.tower.heads", sets<&Tower::layers, &TransformerSpec::heads>, optional,
                range(1, 1e5), example("16"), "attention heads; required without a config.json"),
      whole_row("model.tower.ffn", sets<&Tower::layers, &TransformerSpec::ffn_hidden>, optional,
                range(1, 1e6), example("4096"),
                "width of one matrix of an MLP; default: 4 x hidden"),
      name_row("model.tower.activation", sets<&Tower::layers, &TransformerSpec::activation>,
               optional, example("gelu"),
               "activation of an MLP, which has three matrices with swiglu; default: gelu"),
      whole_row("model.tower.patch_values", sets<&Tower::patch_values>, optional, range(0, 1e7),
                example("588"),
                "numbers in a patch, such as 3 colours x 14 x 14 pixels; the matrix that embeds "
                "patches has this number of rows; default: 0"),
      whole_row("model.tower.positions", sets<&Tower::positions>, optional, range(0, 1e7),
                example("577"),
                "number of learned position vectors that are added to patches; default: 0"),
      list_row("model.tower.projector", example("[1024, 4096, 4096]"),
               "widths from the tower to the decoder, with a matrix between each pair of "
               "neighbours; default: one matrix"),
      whole_row("model.tower.projector.*", range(1, 1e7), example("4096"), "one width"),
      whole_row("model.tower.projector_copies", sets<&Tower::projectors>, optional, range(1, 100),
                example("4"),
                "number of equal projectors; all but one read the output of a layer in the middle "
                "of the tower; default: 1"),
  };
}

}  // namespace windtunnel
