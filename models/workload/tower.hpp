// A stack of layers before a decoder that turns images or sounds into places of the decoder's
// sequence: a matrix embeds each patch (Dosovitskiy et al. 2020, arXiv 2010.11929, equation 1),
// layers attend to all patches of one source, and a projector maps the result to the decoder's
// width (LLaVA: Liu et al. 2023, arXiv 2304.08485, section 4.1).
#pragma once

#include <string>
#include <vector>

#include "models/workload/layout.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

struct Tower {
  std::string source;       // what a source is: "an image of 448 x 448 pixels"; may be empty
  TransformerSpec layers;   // `sequence`: the patches of one image, or frames of one sound
  int sources = 1;          // images or sounds in a sequence of the batch
  int tokens = 0;           // places of the decoder's sequence that a source takes
  double patch_values = 0;  // numbers of which a patch consists: rows of the matrix that embeds it
  double positions = 0;     // learned vectors that are added to embedded patches
  // Widths of the projector, from its input to the decoder's width; a matrix lies between each two.
  std::vector<double> projector;
  int projectors = 1;  // equal ones: Qwen3-VL has another for some of its layers (deepstack)

  int patches() const { return layers.sequence; }
  double embedding_parameters() const;
  double projector_parameters() const;
  double stack_parameters() const;  // all but the projector
  double parameters() const { return stack_parameters() + projector_parameters(); }
};

// The layout as a tower's layers have it: tp divides their heads and MLPs like a decoder's if it
// divides both numbers; otherwise each rank of tp computes the layers whole.
Layout tower_layout(const Tower& tower, const Layout& layout);

// Operations of a forward pass for one source, by the convention of model_flops(). The stack is
// what Tower::stack_parameters() counts.
struct TowerFlops {
  double stack = 0;
  double attention = 0;  // the part of `stack` that no weights take part in
  double projector = 0;
};
TowerFlops tower_flops(const Tower& tower);

}  // namespace windtunnel
