// Rows of the field table about idle time: "filling", "input", a campaign's pauses.
#include <algorithm>
#include <iterator>

#include "models/workload/filling.hpp"
#include "models/workload/input_pipeline.hpp"
#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

std::vector<std::string> forward_names() {
  std::vector<std::string> names = names_in(library_models());
  std::ranges::copy(names_in(library_networks()), std::back_inserter(names));
  return names;
}

Rows work_rows() {
  return {
      map_row(
          "filling.work.*",
          example("{name: text-encoder, model: bert-large, samples: 8, needed_by: micro-batch}"),
          "one kind of work; earlier items run first, and needed work before other work"),
      text_row("filling.work.*.name", sets<&FillingWork::name>, required, example("text-encoder"),
               "how reports call it"),
      name_row(
          "filling.work.*.needed_by", sets<&FillingWork::need>, example("micro-batch"),
          "a step of a replica, or each of its micro-batches, needs `units` of it, which run "
          "exposed at the step's end where no idle time is left; nothing: as much is done as fits"),
      choice_row("filling.work.*.units", sets<&FillingWork::units>, Dimension::count,
                 range(1e-6, 1e6), "that a step or a micro-batch needs"),
      name_row("filling.work.*.model", names(forward_names), example("bert-large"),
               "a unit is a forward pass of this model on one GPU; else piece and unit_pieces say "
               "what it takes"),
      whole_row("filling.work.*.samples", sets<&FillingWork::samples>, range(1, 1e6), example("8"),
                "sequences or images of that pass"),
      duration_row("filling.work.*.piece", sets<&FillingWork::piece_s>, above(0), optional,
                   example("3 ms"),
                   "what a piece takes that cannot be interrupted, on a GPU with nothing beside"),
      whole_row("filling.work.*.unit_pieces", sets<&FillingWork::pieces>, range(1, 1e6), optional,
                example("24"), "equal pieces of a unit; default: the layers of the model, else 1"),
      fact_row("filling.work.*.resident", sets<&FillingWork::resident_bytes>, Dimension::bytes,
               range(0, 1e15), optional, example("700 MB"),
               "memory on each GPU that runs it, all the time; default: the model's weights in two "
               "bytes each, else nothing"),
      fact_row("filling.work.*.working", sets<&FillingWork::working_bytes>, Dimension::bytes,
               range(0, 1e15), optional, example("2 GB"),
               "while a piece runs; default: the activations of a layer, else nothing"),
      duration_row("filling.work.*.switch", sets<&FillingWork::switch_s>, example("1 ms"),
                   "to it and back, in each idle period that it uses"),
  };
}

}  // namespace

Rows filling_rows() {
  return joined(
      {{map_row("filling", example("{work: [{name: evaluation, piece: 4 ms, unit_pieces: 32}]}"),
                "work that runs only where ranks would idle: frozen encoders, evaluation, another "
                "job's forward passes"),
        choice_row("filling.margin", sets<&Filling::margin>, range(0, 0.95),
                   "share of each idle period that stays free, as it may turn out shorter"),
        list_row("filling.work", required,
                 example("[{name: evaluation, piece: 4 ms, unit_pieces: 32}]"), "what runs there")},
       work_rows()});
}

Rows input_rows() {
  return {
      map_row("input", example("{sample: 110 kB, prepare: 8 ms, workers: 8}"),
              "a loader per replica reads samples and prepares them on CPU cores during training; "
              "without this map, samples are always ready in time"),
      fact_row("input.sample", sets<&InputPipeline::sample_bytes>, Dimension::bytes, range(0, 1e15),
               example("110 kB"), "of one, as it is read"),
      duration_row("input.prepare", sets<&InputPipeline::sample_core_s>, example("8 ms"),
                   "of a CPU core, to decode and augment one"),
      whole_row("input.workers", sets<&InputPipeline::workers>, range(1, 1e5), example("8"),
                "cores that a loader uses at most"),
      name_row("input.read_from", sets<&InputPipeline::source>,
               "the shared storage, the node's own drives, or its memory, which takes no time"),
      whole_row(
          "input.prefetch", sets<&InputPipeline::prefetch>, range(0, 1e6),
          "steps that the loader is ahead; 0: it begins with the step that needs the samples"),
  };
}

namespace {

Rows pause_rows(std::string_view path, std::string_view every, std::string_view takes,
                std::string_view help) {
  return {map_row(path, example("{every: 1000 iterations, takes: 60 s}"), help),
          interval_row(every, above(0), required, example("1000 iterations"),
                       "iterations, or time of training"),
          duration_row(takes, required, example("60 s"), "so long nothing trains")};
}

}  // namespace

Rows campaign_pause_rows() {
  return of_campaign(
      joined({pause_rows("campaign.evaluation", "campaign.evaluation.every",
                         "campaign.evaluation.takes", "training pauses for an evaluation"),
              pause_rows("campaign.logging", "campaign.logging.every", "campaign.logging.takes",
                         "training pauses to write logs")}));
}

}  // namespace windtunnel
