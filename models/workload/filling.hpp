// Work that runs only where a rank would idle (Job::filling): frozen encoders' forward passes for
// the next step (DiffusionPipe, arXiv 2405.01248), evaluation, or another job's forward passes
// (PipeFill, arXiv 2410.07192). It comes in pieces that run to their end once begun: layers, say.
// Which piece runs where is decided in policies/filling; rules: docs/physics/idle-time.md.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "models/base/choice.hpp"
#include "models/workload/layer_table.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

// How much of it a step of the job needs.
enum class FillingNeed {
  nothing,     // nothing waits for it: as much is done as fits
  step,        // each step needs `units` of each replica
  microbatch,  // each micro-batch needs `units`
};
template <>
inline constexpr Choice<FillingNeed> kChoices<FillingNeed>[] = {
    {"nothing", FillingNeed::nothing},
    {"step", FillingNeed::step},
    {"micro-batch", FillingNeed::microbatch}};

// The model whose forward pass is a unit.
struct FillingModel {
  TransformerSpec transformer;
  std::shared_ptr<const LayerTable> network;  // in its place
};

struct FillingWork {
  std::string name;
  FillingNeed need = FillingNeed::nothing;
  double units = 1;                           // what a step or a micro-batch needs
  std::shared_ptr<const FillingModel> model;  // null: `piece_s` is stated
  int samples = 1;                            // samples of the model in a unit
  // On a GPU of the job that is not slow; 0: of the model, whose pieces are equal.
  double piece_s = 0;
  int pieces = 0;  // of a unit; 0: the layers of the model, or 1
  // Beside training: as long as the job runs, and while a piece does; below 0: by the model.
  double resident_bytes = -1;
  double working_bytes = -1;
  double switch_s = 0;  // to it and back, of each idle period that it uses
};

struct Filling {
  std::vector<FillingWork> work;  // what comes first goes first, needed work before other
  // The share of each idle period that stays free, as it may turn out shorter than the profile
  // says.
  double margin = 0.05;
};

// Whether steps wait for some of it.
inline bool is_needed(const Filling& filling) {
  return std::ranges::any_of(
      filling.work, [](const FillingWork& work) { return work.need != FillingNeed::nothing; });
}

}  // namespace windtunnel
