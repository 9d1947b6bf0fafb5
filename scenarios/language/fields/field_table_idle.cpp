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
               "name of the work in reports"),
      name_row("filling.work.*.needed_by", sets<&FillingWork::need>, example("micro-batch"),
               "makes a step of a replica, or each of its micro-batches, need `units` of the work; "
               "units that do not fit into idle time run at the end of the step; default: as much "
               "is done as fits"),
      choice_row("filling.work.*.units", sets<&FillingWork::units>, Dimension::count,
                 range(1e-6, 1e6), "units that a step or a micro-batch needs"),
      name_row("filling.work.*.model", names(names_listed<library_models, library_networks>),
               example("bert-large"),
               "a unit is a forward pass of this model on one GPU; without it piece and "
               "unit_pieces give the duration"),
      whole_row("filling.work.*.samples", sets<&FillingWork::samples>, range(1, 1e6), example("8"),
                "sequences or images of that pass"),
      duration_row("filling.work.*.piece", sets<&FillingWork::piece_s>, above(0), optional,
                   example("3 ms"),
                   "duration of a piece, which cannot be interrupted, on an otherwise idle GPU"),
      whole_row("filling.work.*.unit_pieces", sets<&FillingWork::pieces>, range(1, 1e6), optional,
                example("24"),
                "number of equal pieces in a unit; default: the layers of the model, else 1"),
      fact_row("filling.work.*.resident", sets<&FillingWork::resident_bytes>, Dimension::bytes,
               range(0, 1e15), optional, example("700 MB"),
               "memory that the work always keeps on each GPU that runs it; default: the model's "
               "weights in two bytes each, else none"),
      fact_row(
          "filling.work.*.working", sets<&FillingWork::working_bytes>, Dimension::bytes,
          range(0, 1e15), optional, example("2 GB"),
          "additional memory while a piece runs; default: the activations of a layer, else none"),
      duration_row("filling.work.*.switch", sets<&FillingWork::switch_s>, example("1 ms"),
                   "time to switch to the work and back, in each idle period that it uses"),
  };
}

}  // namespace

Rows filling_rows() {
  return joined(
      {{map_row("filling", example("{work: [{name: evaluation, piece: 4 ms, unit_pieces: 32}]}"),
                "work that runs only where ranks would idle: frozen encoders, evaluation, another "
                "job's forward passes"),
        choice_row("filling.margin", sets<&Filling::margin>, range(0, 0.95),
                   "share of each idle period that is left free, in case the period is shorter "
                   "than expected"),
        list_row("filling.work", required,
                 example("[{name: evaluation, piece: 4 ms, unit_pieces: 32}]"),
                 "work that runs in idle time")},
       work_rows()});
}

Rows input_rows() {
  return {
      map_row("input", example("{sample: 110 kB, prepare: 8 ms, workers: 8}"),
              "a loader per replica reads samples and prepares them on CPU cores during training; "
              "without this map, samples are always ready in time"),
      fact_row("input.sample", sets<&InputPipeline::sample_bytes>, Dimension::bytes, range(0, 1e15),
               example("110 kB"), "bytes of a sample, as it is read"),
      duration_row("input.prepare", sets<&InputPipeline::sample_core_s>, example("8 ms"),
                   "time of a CPU core to decode and augment a sample"),
      whole_row("input.workers", sets<&InputPipeline::workers>, range(1, 1e5), example("8"),
                "cores that a loader uses at most"),
      name_row("input.read_from", sets<&InputPipeline::source>,
               "where samples are: on the shared storage, on the node's drives, or in its memory, "
               "which takes no time"),
      whole_row("input.prefetch", sets<&InputPipeline::prefetch>, range(0, 1e6),
                "number of steps that the loader works ahead; 0: it begins with the step that "
                "needs the samples"),
  };
}

namespace {

Rows pause_rows(std::string_view path, std::string_view every, std::string_view takes,
                std::string_view help) {
  return {map_row(path, example("{every: 1000 iterations, takes: 60 s}"), help),
          interval_row(every, above(0), required, example("1000 iterations"),
                       "iterations, or training time, between two pauses"),
          duration_row(takes, required, example("60 s"), "duration of the pause")};
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
              "what is kept outside of GPU memory, in host memory or on the node's drives, and "
              "copied over PCIe when needed"),
      name_row("offload.optimizer", sets<&Offload::optimizer>, example("host"),
               "where the optimizer state is kept; outside of the GPU, the host's cores compute "
               "the optimizer step (ZeRO-Offload; disk: ZeRO-Infinity)"),
      name_row("offload.gradients", sets<&Offload::gradients>, example("host"),
               "where gradients are kept; gpu: they are copied to an optimizer on the host once a "
               "step; host or disk: they are copied after each micro-batch and summed there"),
      name_row("offload.weights", sets<&Offload::weights>, example("host"),
               "where weights are kept; outside of the GPU, the weights of a layer are copied in "
               "before the passes that need them (FSDP's CPU offload, ZeRO-Infinity)"),
      name_row("offload.activations", sets<&Offload::activations>, example("host"),
               "activations kept for the backward pass are copied out after each forward pass and "
               "return one layer ahead of use; with recompute: full these are the layers' inputs"),
      fact_row("offload.optimizer_share", sets<&Offload::optimizer_share>, above(0, 1), optional,
               example("0.6"),
               "share of the optimizer state that offload.optimizer moves; the GPU keeps and "
               "updates the rest (Twin-Flow of ZeRO-Offload++); default: 1"),
      fact_row("offload.activation_share", sets<&Offload::activation_share>, above(0, 1), optional,
               example("0.5"),
               "share of a stage's layers, from the first on, whose activations "
               "offload.activations moves; a fraction of a layer is moved in part; default: 1"),
      flag_row("offload.hidden", sets<&Offload::hidden>, example("true"),
               "offloads as large a share of activations as copies overlap with passes, the same "
               "in every layer (ByteScale); it grows with the sequence"),
      whole_row("offload.sections", sets<&Offload::sections>, range(1, 1000), optional,
                example("3"),
                "number of layers whose weights and activations have buffers on the GPU (SE-MoE's "
                "ring); default: 2, one in use while the next is copied in"),
      whole_row("offload.tiles", sets<&Offload::tiles>, range(1, 1000), optional, example("4"),
                "parts into which a layer's weights are divided, which are copied in and used one "
                "after another, so that layers larger than GPU memory fit (ZeRO-Infinity's "
                "memory-centric tiling)"),
      name_row("offload.placement", sets<&Offload::placement>, example("chunks"),
               "shares: as the other keys of offload say; chunks: weights and their optimizer "
               "state stay on the GPU as far as activations leave memory (PatrickStar)"),
      fact_row("offload.chunk", sets<&Offload::chunk_bytes>, Dimension::bytes, above(0, 1e12),
               optional, example("128 MiB"),
               "size of a chunk of weights; default: the size, at least that of the largest "
               "tensor, that wastes the least memory"),
      flag_row("offload.delayed", sets<&Offload::delayed>, example("true"),
               "the host's optimizer step overlaps with the next training step, whose weights are "
               "then one step old"),
      fact_row("offload.cores", sets<&Offload::cores>, above(0, 1e4), optional, example("16"),
               "cores of the host for the optimizer step of each GPU; default: an equal share of "
               "the node's cores"),
      bandwidth_row("offload.core_rate", optional, example("20 GB/s"),
                    "bytes per second that one core reads and writes during the optimizer step"),
  };
}

}  // namespace windtunnel
