// Work that runs only while a rank would idle (Job::filling): forward passes of frozen encoders for
// the next step (DiffusionPipe, arXiv 2405.01248), evaluation, or forward passes of another job
// (PipeFill, arXiv 2410.07192). It consists of pieces that cannot be interrupted, such as layers.
// policies/filling assigns pieces to idle times; rules: docs/physics/idle-time.md.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "models/base/choice.hpp"
#include "models/workload/layer_table.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

// Whether the job needs the work, and in which portions.
enum class FillingNeed {
  nothing,     // none: as much is done as fits
  step,        // each step needs `units` of each replica
  microbatch,  // each micro-batch needs `units`
};
template <>
inline constexpr Choice<FillingNeed> kChoices<FillingNeed>[] = {
    {"nothing", FillingNeed::nothing},
    {"step", FillingNeed::step},
    {"micro-batch", FillingNeed::microbatch}};

// The model whose forward pass is a unit of work.
struct FillingModel {
  TransformerSpec transformer;
  std::shared_ptr<const LayerTable> network;  // replaces `transformer`
};

struct FillingWork {
  std::string name;
  FillingNeed need = FillingNeed::nothing;
  double units = 1;                           // required per step or micro-batch
  std::shared_ptr<const FillingModel> model;  // null: `piece_s` is given
  int samples = 1;                            // samples per unit
  // Time of a piece on a GPU of normal speed; 0: computed from the model, with equal pieces.
  double piece_s = 0;
  int pieces = 0;  // per unit; 0: the model's layers, or 1
  // Memory for the whole run, and while a piece runs; below 0: computed from the model.
  double resident_bytes = -1;
  double working_bytes = -1;
  double switch_s = 0;  // time to switch to it and back, per idle period used
};

struct Filling {
  std::vector<FillingWork> work;  // in order of priority; needed work goes before other work
  // The share of each idle period that is left free, since it may be shorter than profiled.
  double margin = 0.05;
};

// Whether steps wait for some of the work.
inline bool is_needed(const Filling& filling) {
  return std::ranges::any_of(
      filling.work, [](const FillingWork& work) { return work.need != FillingNeed::nothing; });
}

}  // namespace windtunnel
