#include "models/layout.hpp"
#include "scenarios/field_rows.hpp"

namespace windtunnel {

Rows context_rows() {
  return {
      name_row("layout.context",
               {.default_text = "ring",
                .names = {kContextForms.begin(), kContextForms.end()},
                .example = "usp",
                .help = "how the cp ranks share the attention over a sequence: keys and values go "
                        "round (ring), all-to-alls to a part of the heads (ulysses), both (usp), "
                        "queries go round backward (burst) or always (token-ring), scores are kept "
                        "(rsa), the state of a linear attention goes round (lasp)"}),
      whole_row("layout.ulysses", {.low = 1,
                                   .high = 1e6,
                                   .example = "8",
                                   .help = "usp: neighbours of cp that divide the heads"}),
      name_row("layout.ep_tokens",
               {.default_text = "divided",
                .names = {"divided", "all", "dropped"},
                .example = "dropped",
                .help = "what tensor-parallel ranks send to experts: parts of the sequence "
                        "(divided), all tokens of each (all), or parts of what all hold, gathered "
                        "behind (dropped, DeepSpeed-TED)"}),
  };
}

Rows routing_rows() {
  return {
      fact_row("model.moe.zipf", Dimension::number,
               {.low = 0,
                .high = 10,
                .example = "0.8",
                .help = "in place of imbalance: exponent of the experts' popularity"}),
      whole_row("model.moe.hot_experts",
                {.low = 0,
                 .high = 1e5,
                 .example = "2",
                 .help = "the most visited experts, which every rank gathers (Hecate); without a "
                         "base: 0"}),
      fact_row("model.moe.locality", Dimension::number,
               {.low = 0,
                .high = 1,
                .example = "0.7",
                .help = "share of a token's copies that stay in its node (LocMoE); default: by "
                        "chance"}),
      flag_row("model.moe.shortcut",
               {.example = "true",
                .help = "experts work on the layer's input, beside its attention (ScMoE); without "
                        "a base: false"}),
  };
}

}  // namespace windtunnel
