// Rows of the field table below "communication.compressor", and below "compress", which lists
// compressors by axis.
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

// The keys of one compressor.
Rows choice_rows(const PathsBelow& path, bool named) {
  return {
      name_row(path(".name"), sets<&CompressorChoice::name>, required_if(named),
               names(compressor_names), example("powersgd"),
               "windtunnel list compressors describes each and its keys"),
      name_row(path(".hop"), sets<&CompressorChoice::hop>, example("across"),
               "among whom compressed gradients travel: all replicas; or across nodes only (on a "
               "fabric of sites: across sites; of shards with copies: across these), after a dense "
               "reduce-scatter inside; auto: across on a fabric of sites, and of shards with "
               "copies what is no sum. Of tp, cp and ep: in all groups, or only in those that "
               "leave a node"),
      whole_row(path(".rank"), sets<&CompressorChoice::rank>, range(1, 1e6), optional, example("4"),
                "of the low-rank factors"),
      choice_row(path(".density"), sets<&CompressorChoice::density>, above(0, 1), optional,
                 example("0.001"), "share of the elements that is kept"),
      whole_row(path(".bits"), sets<&CompressorChoice::bits>, range(1, 32), optional, example("4"),
                "of a quantised element"),
      whole_row(path(".block"), sets<&CompressorChoice::block>, range(1, 1e8), optional,
                example("512"), "elements with one scale; side of a chunk"),
      choice_row(path(".warmup"), sets<&CompressorChoice::warmup>, above(0, 1), optional,
                 example("0.15"),
                 "share of the run before it starts, with dense gradients; a step is predicted as "
                 "after it"),
      choice_row(path(".every"), sets<&CompressorChoice::every>, range(1, 1e9), optional,
                 example("32"), "steps between synchronisations, or between exact thresholds"),
      choice_row(
          path(".error"), sets<&CompressorChoice::error>, above(0, 1e3), optional, example("1"),
          "lgreco: allowed error, relative to that of its base with one choice for all layers"),
      name_row(path(".feedback"), sets<&CompressorChoice::feedback>, optional, example("ef"),
               "what happens to the part that is not sent"),
      name_row(path(".base"), sets<&CompressorChoice::base>, optional, names(base_names),
               example("powersgd"), "lgreco: the method whose numbers it chooses by layer"),
      text_row(path(".errors"), example("errors.csv"),
               "lgreco: measured errors, a CSV file beside this one with the columns layer, rows, "
               "columns, number, error; layers that it does not list have assumed ones"),
  };
}

}  // namespace

Rows compressor_rows() {
  std::vector<std::string_view> axes;
  for (const CompressedAxis& axis : kCompressedAxes) axes.emplace_back(to_string(axis.axis));
  return joined(
      {{map_row("communication.compressor", shorthand("name"), example("{name: powersgd, rank: 4}"),
                "of the gradients")},
       choice_rows({"communication.compressor"}, false),
       {list_row("compress", example("[{axis: dp, name: powersgd}, {axis: ep, name: fp8}]"),
                 "compressors by axis, each axis once; axis dp takes the place of "
                 "communication.compressor"),
        map_row("compress.*", example("{axis: ep, name: fp8, passes: dispatch}"),
                "the compressor of an axis"),
        name_row("compress.*.axis", required, names(axes), example("ep"),
                 "dp: gradients; tp, cp, ep and pp: activations and their gradients, which only "
                 "what quantises each element goes with"),
        name_row("compress.*.passes", sets<&CompressorChoice::passes>, optional,
                 example("dispatch"),
                 "of ep: both ways, or only what tokens bring to their experts")},
       choice_rows({"compress.*"}, true),
       {map_row("sync.*.compressor", shorthand("name"), example("{name: int4}"),
                "the compressor of the exchanges at this level")},
       choice_rows({"sync.*.compressor"}, false)});
}

}  // namespace windtunnel
