// These are rows of the field table below "communication" except the compressor's.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>

#include "models/compression/compressors.hpp"
#include "models/compression/layer_choice.hpp"
#include "models/compression/robust.hpp"
#include "models/network/groups/collective_steps.hpp"
#include "models/plan/job.hpp"
#include "models/plan/job_collective.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {
namespace {

// Adds the rows of one kind of collective, or of one axis.
void add_collectives(std::string_view name, std::string_view usual,
                     const std::vector<std::string_view>& algorithms, std::string_view help,
                     Rows& rows) {
  static std::deque<std::string> paths;  // the rows refer to them
  const auto path = [&](const char* end) -> std::string_view {
    return paths.emplace_back(fmt::format("communication.collectives.{}{}", name, end));
  };
  rows.push_back(map_row(path(""), shorthand("algorithm"), example(usual), help));
  rows.push_back(
      name_row(path(".algorithm"), names(algorithms), example(usual),
               "algorithm of the collective; default: auto, the one with the least cost"));
  rows.push_back(name_row(path(".protocol"), names(names_of<Protocol>()), example("simple"),
                          "NCCL's wire format; default: auto"));
}

Rows collective_rows() {
  Rows rows = {
      map_row("communication.collectives", example("{all_reduce: tree, ep: pairwise}"),
              "algorithms and protocols by kind or by axis (tp, cp, ep, dp), where not automatic")};
  for (const Choice<CollectiveKind>& kind : kChoices<CollectiveKind>) {
    // Algorithms have the names that the models use.
    std::vector<std::string_view> algorithms = {"auto"};
    for (const CollectiveAlgorithm algorithm : algorithms_of(kind.value)) {
      algorithms.emplace_back(to_string(algorithm));
    }
    add_collectives(kind.name, to_string(usual_algorithm(kind.value)), algorithms,
                    "how all collectives of this kind run", rows);
  }
  for (const Category axis : kCollectiveAxes) {
    std::vector<std::string_view> algorithms = {"auto"};
    for (const CollectiveKind kind : kinds_of_axis(axis)) {
      for (const CollectiveAlgorithm algorithm : algorithms_of(kind)) {
        const std::string_view name = to_string(algorithm);
        if (std::ranges::find(algorithms, name) == algorithms.end()) algorithms.push_back(name);
      }
    }
    add_collectives(to_string(axis), to_string(usual_algorithm(kinds_of_axis(axis).front())),
                    algorithms,
                    "the algorithm for all collectives of this axis that support it; overrides the "
                    "choice for their kind",
                    rows);
  }
  return rows;
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
               names(names_listed<compressor_kinds>), example("powersgd"),
               "name of a compressor; `windtunnel list compressors` describes each"),
      name_row(path(".hop"), sets<&CompressorChoice::hop>, example("across"),
               "where gradients are exchanged compressed: among all replicas (all); or only across "
               "nodes, after a dense reduce-scatter inside a node (across; on a fabric of sites: "
               "across sites; with copies of shards: across the copies); auto: across on a fabric "
               "of sites, and with copies of shards for compressors that do not sum; else all. For "
               "tp, cp and ep: in all groups, or only in groups that span nodes"),
      whole_row(path(".rank"), sets<&CompressorChoice::rank>, range(1, 1e6), optional, example("4"),
                "rank of the low-rank factors"),
      choice_row(path(".density"), sets<&CompressorChoice::density>, above(0, 1), optional,
                 example("0.001"), "share of the elements that is kept"),
      whole_row(path(".bits"), sets<&CompressorChoice::bits>, range(1, 32), optional, example("4"),
                "bits of a quantised element"),
      whole_row(path(".block"), sets<&CompressorChoice::block>, range(1, 1e8), optional,
                example("512"), "elements that share one scale; side of a chunk"),
      choice_row(path(".warmup"), sets<&CompressorChoice::warmup>, above(0, 1), optional,
                 example("0.15"),
                 "share of the run, at its start, with dense gradients; the predicted step is one "
                 "after the warm-up"),
      choice_row(path(".every"), sets<&CompressorChoice::every>, range(1, 1e9), optional,
                 example("32"), "steps between synchronisations, or between exact thresholds"),
      choice_row(path(".error"), sets<&CompressorChoice::error>, above(0, 1e3), optional,
                 example("1"),
                 "lgreco: allowed error, relative to the error of its base with one choice for all "
                 "layers"),
      name_row(path(".feedback"), sets<&CompressorChoice::feedback>, optional, example("ef"),
               "what happens to the part that is not sent"),
      name_row(path(".base"), sets<&CompressorChoice::base>, optional, names(base_names),
               example("powersgd"),
               "lgreco: the base compressor whose number it chooses per layer"),
      text_row(path(".errors"), example("errors.csv"),
               "lgreco: measured errors, a CSV file in the same folder with the columns layer, "
               "rows, columns, number, error; errors of layers that are not listed are assumed"),
  };
}

}  // namespace

Rows communication_rows() {
  const Rows own = {
      map_row("communication", example("{overlap: bucketed, bucket: 25 MB}"),
              "how gradients are exchanged"),
      name_row("communication.overlap", sets<&Communication::overlap>, example("bucketed"),
               "reduce gradients after the backward pass, or during it: tensor by tensor (wfbp), "
               "in buckets (DDP), in buckets while nothing is computed (blocking: cores that "
               "compute and send), merged where that pays (mg-wfbp), two at once (asc), in "
               "partitions in the order of the next forward pass (priority), or scattered during "
               "it and gathered in the next forward pass (dear)"),
      choice_row("communication.bucket", sets<&Communication::bucket_bytes>, Dimension::bytes,
                 above(0, 1e15), "gradient bytes that are reduced together (PyTorch's DDP: 25 MB)"),
      choice_row("communication.bucket_elements", sets<&Communication::bucket_elements>,
                 Dimension::count, range(0, 1e13), example("134217728"),
                 "number of gradient elements that are reduced together, as parts of one buffer "
                 "(Megatron-Core); overrides communication.bucket; 0: communication.bucket counts"),
      choice_row("communication.bucket_elements_per_replica",
                 sets<&Communication::bucket_elements_per_replica>, Dimension::count,
                 range(0, 1e10), example("1 M"),
                 "a bucket has at least this many elements times layout.dp (Megatron-Core: 1 M, "
                 "with bucket_elements 40 M)"),
      choice_row("communication.first_bucket", sets<&Communication::first_bucket_bytes>,
                 Dimension::bytes, range(0, 1e15), example("1 MiB"),
                 "size of the bucket that is ready first (DDP: 1 MiB); 0: as the others"),
      choice_row("communication.partition", sets<&Communication::partition_bytes>, Dimension::bytes,
                 range(1e3, 1e15), "overlap: priority: gradient bytes in one partition"),
      choice_row("communication.credit", sets<&Communication::credit_bytes>, Dimension::bytes,
                 range(0, 1e15),
                 "overlap: priority: bytes in flight, which later partitions cannot overtake"),
      name_row("communication.aggregation", sets<&Communication::aggregation>,
               "where gradients are summed: on the GPUs, or on parameter servers"),
      map_row("communication.robust", shorthand("rule"), example("{rule: krum, faulty: 2}"),
              "an aggregation of gradients that replaces their sum, so that faulty replicas do no "
              "harm"),
      name_row("communication.robust.rule", sets<&RobustAggregation::rule>, required,
               example("krum"),
               "none: the sum; per coordinate (median, trimmed-mean); the gradient closest to its "
               "neighbours, or the mean of such gradients (krum, multi-krum); reweighted least "
               "squares (flag); the mean of the models closest to a replica's own (monna)"),
      whole_row("communication.robust.faulty", sets<&RobustAggregation::faulty>, range(0, 1e6),
                optional, example("2"), "number of replicas that may be faulty (f); default: 1"),
      name_row("communication.robust.form", sets<&RobustAggregation::form>, optional,
               example("sliced"),
               "every rank gets all gradients (gathered, the default), or only its part of them "
               "and then gathers the result (sliced)"),
      whole_row("communication.robust.iterations", sets<&RobustAggregation::iterations>,
                range(1, 1e4), optional, example("5"),
                "flag: iterations of the least squares; default: 5"),
      whole_row("communication.servers", sets<&Communication::servers>, range(1, 1e6), optional,
                example("8"),
                "aggregation: parameter-server: number of servers outside of the cluster; default: "
                "the host of every node is a server"),
      name_row("communication.embeddings", sets<&Communication::embeddings>, example("all-to-all"),
               "how gradients of an embedding are exchanged: the whole table is reduced (dense), "
               "or the rows that a step touches are gathered or exchanged by columns (EmbRace)"),
      whole_row("communication.boundary_rank", sets<&Communication::boundary_rank>, range(1, 1e6),
                optional, example("8"),
                "columns of the low-rank factor that stages send instead of activations, and of "
                "its gradient (SFT); default: activations are sent"),
      name_row("communication.fidelity", sets<&Communication::fidelity>,
               "collectives are computed by formula (closed), as flows that share links (flows), "
               "or as flows only where links are shared (auto)"),
      name_row("communication.inner", sets<&Communication::inner>, example("tasks"),
               "collectives of tensor, context and expert parallelism are part of the duration of "
               "passes (folded), separate tasks that share links and wait for slow ranks (tasks), "
               "or tasks only where that can matter (auto)"),
      name_row("communication.law", by_default("auto"), names({"auto", "nccl", "constants"}),
               example("constants"),
               "which model gives the cost of a collective and chooses its algorithm: the "
               "calibration's law of the network, or else NCCL's own model of node and transport "
               "(nccl); the five constants of the calibration with the cheapest algorithm in "
               "protocol Simple (constants); auto: nccl, but constants if these were fitted on "
               "this machine or NCCL does not run on it"),
  };
  return joined({own, compressor_rows(), collective_rows()});
}

Rows compressor_rows() {
  std::vector<std::string_view> axes;
  for (const CompressedAxis& axis : kCompressedAxes) axes.emplace_back(to_string(axis.axis));
  return joined(
      {{map_row("communication.compressor", shorthand("name"), example("{name: powersgd, rank: 4}"),
                "compressor of the gradients")},
       choice_rows({"communication.compressor"}, false),
       {list_row("compress", example("[{axis: dp, name: powersgd}, {axis: ep, name: fp8}]"),
                 "compressors by axis, each axis once; axis dp replaces communication.compressor"),
        map_row("compress.*", example("{axis: ep, name: fp8, passes: dispatch}"),
                "the compressor of an axis"),
        name_row("compress.*.axis", required, names(axes), example("ep"),
                 "dp: gradients; tp, cp, ep and pp: activations and their gradients, for which a "
                 "compressor must quantise every element"),
        name_row("compress.*.passes", sets<&CompressorChoice::passes>, optional,
                 example("dispatch"),
                 "axis ep: compresses both directions, or only tokens on their way to the experts "
                 "(dispatch)")},
       choice_rows({"compress.*"}, true),
       {map_row("sync.*.compressor", shorthand("name"), example("{name: int4}"),
                "the compressor of the exchanges at this level")},
       choice_rows({"sync.*.compressor"}, false)});
}

}  // namespace windtunnel
