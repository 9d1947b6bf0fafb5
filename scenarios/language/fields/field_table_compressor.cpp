// Rows of the field table below "communication.compressor", and of "compress", which says the same
// of one axis after another.
#include <deque>
#include <string>
#include <string_view>

#include "models/compression/compressors.hpp"
#include "models/compression/layer_choice.hpp"
#include "models/plan/job.hpp"
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

// Paths below a place.
struct PathsBelow {
  std::string_view place;

  std::string_view operator()(std::string_view key) const {
    static std::deque<std::string> paths;  // the rows refer to them
    return paths.emplace_back(std::string(place) + std::string(key));
  }
};

// Of one compressor.
Rows choice_rows(const PathsBelow& path, bool named) {
  return {
      name_row<&CompressorChoice::name>(
          path(".name"), {.required = named,
                          .library = compressor_names,
                          .example = "powersgd",
                          .help = "windtunnel list compressors tells what each is and takes"}),
      name_row<&CompressorChoice::hop>(
          path(".hop"),
          {.example = "across",
           .help = "among whom compressed gradients travel: all replicas; or across nodes only (on "
                   "a fabric of sites: across sites; of sharded gradients: across their copies), "
                   "after a dense reduce-scatter inside; auto: across on a fabric of sites. Of "
                   "tp, cp and ep: in all groups, or only in those that leave a node"}),
      whole_row<&CompressorChoice::rank>(path(".rank"), {.low = 1,
                                                         .high = 1e6,
                                                         .optional = true,
                                                         .example = "4",
                                                         .help = "of the low-rank factors"}),
      choice_row<&CompressorChoice::density>(path(".density"), Dimension::number,
                                             {.low = 0,
                                              .above_low = true,
                                              .high = 1,
                                              .optional = true,
                                              .example = "0.001",
                                              .help = "share of the elements that is kept"}),
      whole_row<&CompressorChoice::bits>(path(".bits"), {.low = 1,
                                                         .high = 32,
                                                         .optional = true,
                                                         .example = "4",
                                                         .help = "of a quantised element"}),
      whole_row<&CompressorChoice::block>(path(".block"),
                                          {.low = 1,
                                           .high = 1e8,
                                           .optional = true,
                                           .example = "512",
                                           .help = "elements with one scale; side of a chunk"}),
      choice_row<&CompressorChoice::warmup>(
          path(".warmup"), Dimension::number,
          {.low = 0,
           .above_low = true,
           .high = 1,
           .optional = true,
           .example = "0.15",
           .help = "share of the run before it starts, with dense gradients; a step is "
                   "predicted as after it"}),
      choice_row<&CompressorChoice::every>(
          path(".every"), Dimension::number,
          {.low = 1,
           .high = 1e9,
           .optional = true,
           .example = "32",
           .help = "steps between synchronisations, or between exact thresholds"}),
      choice_row<&CompressorChoice::error>(
          path(".error"), Dimension::number,
          {.low = 0,
           .above_low = true,
           .high = 1e3,
           .optional = true,
           .example = "1",
           .help = "lgreco: allowed error, relative to that of its base with one choice for "
                   "all layers"}),
      name_row<&CompressorChoice::feedback>(
          path(".feedback"),
          {.optional = true, .example = "ef", .help = "what becomes of what is not sent"}),
      name_row<&CompressorChoice::base>(
          path(".base"), {.optional = true,
                          .library = base_names,
                          .example = "powersgd",
                          .help = "lgreco: the method whose numbers it chooses by layer"}),
      text_row(path(".errors"),
               {.example = "errors.csv",
                .help = "lgreco: measured errors, a CSV file beside this one with the columns "
                        "layer, rows, columns, number, error; layers that it does not list have "
                        "assumed ones"}),
  };
}

}  // namespace

Rows compressor_rows() {
  std::vector<std::string_view> axes;
  for (const CompressedAxis& axis : kCompressedAxes) axes.emplace_back(to_string(axis.axis));
  return joined(
      {{map_row("communication.compressor", {.shorthand = "name",
                                             .example = "{name: powersgd, rank: 4}",
                                             .help = "of the gradients"})},
       choice_rows({"communication.compressor"}, false),
       {list_row("compress", {.example = "[{axis: dp, name: powersgd}, {axis: ep, name: fp8}]",
                              .help = "compressors of what the axes send, each once; of dp this "
                                      "says what communication.compressor does, in its place"}),
        map_row("compress.*", {.example = "{axis: ep, name: fp8, passes: dispatch}",
                               .help = "the compressor of an axis"}),
        name_row("compress.*.axis",
                 {.required = true,
                  .names = axes,
                  .example = "ep",
                  .help = "dp: gradients; tp, cp, ep and pp: activations and their gradients, "
                          "which only what quantises each element goes with"}),
        name_row<&CompressorChoice::passes>(
            "compress.*.passes",
            {.optional = true,
             .example = "dispatch",
             .help = "of ep: both ways, or only what tokens bring to their experts"})},
       choice_rows({"compress.*"}, true),
       {map_row("sync.*.compressor", {.shorthand = "name",
                                      .example = "{name: int4}",
                                      .help = "of what islands exchange at the level"})},
       choice_rows({"sync.*.compressor"}, false)});
}

}  // namespace windtunnel
