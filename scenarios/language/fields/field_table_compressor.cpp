// Rows of the field table below "communication.compressor".
#include "models/compression/compressors.hpp"
#include "models/compression/layer_choice.hpp"
#include "scenarios/language/fields/field_rows.hpp"

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

}  // namespace

Rows compressor_rows() {
  return {
      map_row("communication.compressor", {.shorthand = "name",
                                           .example = "{name: powersgd, rank: 4}",
                                           .help = "of the gradients"}),
      name_row<&CompressorChoice::name>(
          "communication.compressor.name",
          {.library = compressor_names,
           .example = "powersgd",
           .help = "windtunnel list compressors tells what each is and takes"}),
      name_row<&CompressorChoice::hop>(
          "communication.compressor.hop",
          {.example = "across",
           .help = "among whom compressed gradients travel: all replicas; or across nodes only (on "
                   "a fabric of sites: across sites; of sharded gradients: across their copies), "
                   "after a dense reduce-scatter inside; auto: across on a fabric of sites"}),
      whole_row<&CompressorChoice::rank>("communication.compressor.rank",
                                         {.low = 1,
                                          .high = 1e6,
                                          .optional = true,
                                          .example = "4",
                                          .help = "of the low-rank factors"}),
      choice_row<&CompressorChoice::density>("communication.compressor.density", Dimension::number,
                                             {.low = 0,
                                              .above_low = true,
                                              .high = 1,
                                              .optional = true,
                                              .example = "0.001",
                                              .help = "share of the elements that is kept"}),
      whole_row<&CompressorChoice::bits>("communication.compressor.bits",
                                         {.low = 1,
                                          .high = 32,
                                          .optional = true,
                                          .example = "4",
                                          .help = "of a quantised element"}),
      whole_row<&CompressorChoice::block>("communication.compressor.block",
                                          {.low = 1,
                                           .high = 1e8,
                                           .optional = true,
                                           .example = "512",
                                           .help = "elements with one scale; side of a chunk"}),
      choice_row<&CompressorChoice::warmup>(
          "communication.compressor.warmup", Dimension::number,
          {.low = 0,
           .above_low = true,
           .high = 1,
           .optional = true,
           .example = "0.15",
           .help = "share of the run before it starts, with dense gradients; a step is "
                   "predicted as after it"}),
      choice_row<&CompressorChoice::every>(
          "communication.compressor.every", Dimension::number,
          {.low = 1,
           .high = 1e9,
           .optional = true,
           .example = "32",
           .help = "steps between synchronisations, or between exact thresholds"}),
      choice_row<&CompressorChoice::error>(
          "communication.compressor.error", Dimension::number,
          {.low = 0,
           .above_low = true,
           .high = 1e3,
           .optional = true,
           .example = "1",
           .help = "lgreco: allowed error, relative to that of its base with one choice for "
                   "all layers"}),
      name_row<&CompressorChoice::feedback>(
          "communication.compressor.feedback",
          {.optional = true, .example = "ef", .help = "what becomes of what is not sent"}),
      name_row<&CompressorChoice::base>(
          "communication.compressor.base",
          {.optional = true,
           .library = base_names,
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
