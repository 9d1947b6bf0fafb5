// Rows of the field table for idle time: below "filling", "input", and the pauses of a campaign.
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
      map_row("filling.work.*",
              {.example = "{name: text-encoder, model: bert-large, samples: 8, needed_by: "
                          "micro-batch}",
               .help = "one kind of work; what stands first goes first, needed work before other"}),
      text_row<&FillingWork::name>(
          "filling.work.*.name",
          {.required = true, .example = "text-encoder", .help = "how reports call it"}),
      name_row<&FillingWork::need>(
          "filling.work.*.needed_by",
          {.example = "micro-batch",
           .help = "a step of a replica, or each of its micro-batches, needs `units` of it, which "
                   "run exposed at the step's end where no idle time is left; nothing: as much is "
                   "done as fits"}),
      choice_row<&FillingWork::units>(
          "filling.work.*.units", Dimension::count,
          {.low = 1e-6, .high = 1e6, .example = "1", .help = "that a step or a micro-batch needs"}),
      name_row(
          "filling.work.*.model",
          {.library = forward_names,
           .example = "bert-large",
           .help = "a unit is a forward pass of this model on one GPU; else piece and unit_pieces "
                   "say what it takes"}),
      whole_row<&FillingWork::samples>(
          "filling.work.*.samples",
          {.low = 1, .high = 1e6, .example = "8", .help = "sequences or images of that pass"}),
      duration_row<&FillingWork::piece_s>(
          "filling.work.*.piece",
          {.above_low = true,
           .optional = true,
           .example = "3 ms",
           .help = "what a piece takes that cannot be interrupted, on a GPU with nothing beside"}),
      whole_row<&FillingWork::pieces>(
          "filling.work.*.unit_pieces",
          {.low = 1,
           .high = 1e6,
           .optional = true,
           .example = "24",
           .help = "equal pieces of a unit; default: the layers of the model, else 1"}),
      fact_row<&FillingWork::resident_bytes>(
          "filling.work.*.resident", Dimension::bytes,
          {.low = 0,
           .high = 1e15,
           .optional = true,
           .example = "700 MB",
           .help = "memory on each GPU that runs it, all the time; default: the model's weights in "
                   "two bytes each, else nothing"}),
      fact_row<&FillingWork::working_bytes>(
          "filling.work.*.working", Dimension::bytes,
          {.low = 0,
           .high = 1e15,
           .optional = true,
           .example = "2 GB",
           .help = "while a piece runs; default: the activations of a layer, else nothing"}),
      duration_row<&FillingWork::switch_s>(
          "filling.work.*.switch",
          {.example = "1 ms", .help = "to it and back, in each idle period that it uses"}),
  };
}

}  // namespace

Rows filling_rows() {
  return joined(
      {{map_row("filling", {.example = "{work: [{name: evaluation, piece: 4 ms, unit_pieces: 32}]}",
                            .help = "work that runs only where ranks would idle: frozen encoders, "
                                    "evaluation, another job's forward passes"}),
        choice_row<&Filling::margin>(
            "filling.margin", Dimension::number,
            {.low = 0,
             .high = 0.95,
             .example = "0.05",
             .help = "share of each idle period that stays free, as it may turn out shorter"}),
        list_row("filling.work", {.required = true,
                                  .example = "[{name: evaluation, piece: 4 ms, unit_pieces: 32}]",
                                  .help = "what runs there"})},
       work_rows()});
}

Rows input_rows() {
  return {
      map_row("input", {.example = "{sample: 110 kB, prepare: 8 ms, workers: 8}",
                        .help = "a loader per replica reads samples and prepares them on CPU cores "
                                "beside training; without it they are there when they are needed"}),
      fact_row<&InputPipeline::sample_bytes>(
          "input.sample", Dimension::bytes,
          {.low = 0, .high = 1e15, .example = "110 kB", .help = "of one, as it is read"}),
      duration_row<&InputPipeline::sample_core_s>(
          "input.prepare", {.example = "8 ms", .help = "of a CPU core, to decode and augment one"}),
      whole_row<&InputPipeline::workers>(
          "input.workers",
          {.low = 1, .high = 1e5, .example = "8", .help = "cores that a loader uses at most"}),
      name_row<&InputPipeline::source>(
          "input.read_from",
          {.example = "storage",
           .help =
               "the shared storage, the node's own drives, or its memory, which takes no time"}),
      whole_row<&InputPipeline::prefetch>(
          "input.prefetch",
          {.low = 0,
           .high = 1e6,
           .example = "1",
           .help = "steps that the loader is ahead; 0: it begins with the step that needs the "
                   "samples"}),
  };
}

namespace {

Rows pause_rows(std::string_view path, std::string_view every, std::string_view takes,
                std::string_view help) {
  return {
      map_row(path, {.example = "{every: 1000 iterations, takes: 60 s}", .help = help}),
      Field{.path = every,
            .scalar = ScalarType::interval,
            .low = 0,
            .above_low = true,
            .required = true,
            .example = "1000 iterations",
            .help = "iterations, or time of training"},
      duration_row(takes, {.required = true, .example = "60 s", .help = "so long nothing trains"})};
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
