#include "models/compression/compressors.hpp"
#include "models/compression/layer_choice.hpp"
#include "scenarios/field_rows.hpp"
#include "scenarios/spec_fields.hpp"

namespace windtunnel {
namespace {

std::vector<std::string> compressor_names() {
  return names_in(compressor_kinds());
}

std::vector<std::string> base_names() {
  std::vector<std::string> names;
  for (const std::string_view name : layer_choice_bases()) names.emplace_back(name);
  return names;
}

std::vector<std::string_view> feedback_names() {
  std::vector<std::string_view> names;
  for (const Choice<ErrorFeedback>& choice : error_feedbacks()) names.push_back(choice.name);
  return names;
}

}  // namespace

Rows compressor_rows() {
  return {
      map_row("communication.compressor", {.shorthand = "name",
                                           .example = "{name: powersgd, rank: 4}",
                                           .help = "of the gradients"}),
      name_row("communication.compressor.name",
               {.default_text = "none",
                .library = compressor_names,
                .example = "powersgd",
                .help = "windtunnel list compressors tells what each is and takes"}),
      whole_row("communication.compressor.rank",
                {.low = 1, .high = 1e6, .example = "4", .help = "of the low-rank factors"}),
      choice_row("communication.compressor.density", Dimension::number,
                 {.low = 0,
                  .above_low = true,
                  .high = 1,
                  .example = "0.001",
                  .help = "share of the elements that is kept"}),
      whole_row("communication.compressor.bits",
                {.low = 1, .high = 32, .example = "4", .help = "of a quantised element"}),
      whole_row("communication.compressor.block",
                {.low = 1,
                 .high = 1e8,
                 .example = "512",
                 .help = "elements with one scale; side of a chunk"}),
      choice_row("communication.compressor.warmup", Dimension::number,
                 {.low = 0,
                  .above_low = true,
                  .high = 1,
                  .example = "0.15",
                  .help = "share of the run before it starts, with dense gradients; a step is "
                          "predicted as after it"}),
      choice_row("communication.compressor.every", Dimension::number,
                 {.low = 1,
                  .high = 1e9,
                  .example = "32",
                  .help = "steps between synchronisations, or between exact thresholds"}),
      choice_row("communication.compressor.error", Dimension::number,
                 {.low = 0,
                  .above_low = true,
                  .high = 1e3,
                  .example = "1",
                  .help = "lgreco: allowed error, relative to that of its base with one choice for "
                          "all layers"}),
      name_row(
          "communication.compressor.feedback",
          {.names = feedback_names(), .example = "ef", .help = "what becomes of what is not sent"}),
      name_row("communication.compressor.base",
               {.library = base_names,
                .example = "powersgd",
                .help = "lgreco: the method whose numbers it chooses by layer"}),
      text_row("communication.compressor.errors",
               {.example = "errors.csv",
                .help = "lgreco: measured errors, a CSV file beside this one with the columns "
                        "layer, rows, columns, number, error; layers that it does not list have "
                        "assumed ones"}),
  };
}

}  // namespace windtunnel
