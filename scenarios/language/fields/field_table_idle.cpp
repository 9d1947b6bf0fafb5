// These rows of the field table are about idle time and offload: "filling", "input", pauses of a
// campaign, "offload".
#include "models/cost/offload/offload.hpp"
#include "models/workload/filling.hpp"
#include "models/workload/input_pipeline.hpp"
#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

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
      name_row("filling.work.*.model", names(names_listed<library_models, library_networks>),
               example("bert-large"),
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

Rows offload_rows() {
  return {
      map_row("offload", shorthand("optimizer"), example("{optimizer: host, gradients: host}"),
              "what is kept outside of the GPU's memory, in host memory or on the node's drives, "
              "and copied over PCIe when needed"),
      name_row("offload.optimizer", sets<&Offload::optimizer>, example("host"),
               "where the optimizer state is kept; outside of the GPU, the host's cores compute "
               "the optimizer step (ZeRO-Offload; disk: ZeRO-Infinity)"),
      name_row("offload.gradients", sets<&Offload::gradients>, example("host"),
               "gpu: they leave once a step where the optimizer is on the host; otherwise after "
               "each micro-batch, and are summed there"),
      name_row("offload.weights", sets<&Offload::weights>, example("host"),
               "outside of the GPU, each layer's are copied in before the passes that need them "
               "(FSDP's CPU offload, ZeRO-Infinity)"),
      name_row("offload.activations", sets<&Offload::activations>, example("host"),
               "activations kept for the backward pass are copied out after each forward pass and "
               "return one layer ahead of use; with recompute: full these are the layers' inputs"),
      fact_row("offload.optimizer_share", sets<&Offload::optimizer_share>, above(0, 1), optional,
               example("0.6"),
               "of the optimizer state, that offload.optimizer moves; the GPU keeps and updates "
               "the rest (Twin-Flow of ZeRO-Offload++); default: 1"),
      fact_row(
          "offload.activation_share", sets<&Offload::activation_share>, above(0, 1), optional,
          example("0.5"),
          "of a stage's layers, from the first on, that offload.activations moves; default: 1"),
      flag_row("offload.hidden", sets<&Offload::hidden>, example("true"),
               "activations are offloaded as far as the copies overlap with the passes, the same "
               "share in every layer (ByteScale); the longer the sequence, the more"),
      whole_row("offload.sections", sets<&Offload::sections>, range(1, 1000), optional,
                example("3"),
                "number of layers whose weights and activations have buffers on the GPU (SE-MoE's "
                "ring); default: 2, one in use while the next is copied in"),
      whole_row("offload.tiles", sets<&Offload::tiles>, range(1, 1000), optional, example("4"),
                "parts of a layer's weights that come and are used one after another, so that "
                "layers larger than the GPU fit (ZeRO-Infinity's memory-centric tiling)"),
      name_row("offload.placement", sets<&Offload::placement>, example("chunks"),
               "shares: as the keys here state; chunks: weights with their optimizer state stay on "
               "the GPU as far as activations leave room (PatrickStar)"),
      fact_row("offload.chunk", sets<&Offload::chunk_bytes>, Dimension::bytes, above(0, 1e12),
               optional, example("128 MiB"),
               "weights of a chunk; default: of sizes from that of the largest tensor on the one "
               "that is filled best"),
      flag_row("offload.delayed", sets<&Offload::delayed>, example("true"),
               "the host's optimizer step overlaps with the next training step, whose weights are "
               "then one step old"),
      fact_row("offload.cores", sets<&Offload::cores>, above(0, 1e4), optional, example("16"),
               "of the host for each GPU's step; default: an equal share of the node's"),
      bandwidth_row("offload.core_rate", optional, example("20 GB/s"),
                    "what one core reads and writes while it takes the step"),
  };
}

}  // namespace windtunnel
