// How samples reach a job (Job::input): one loader per replica reads them and prepares them on CPU
// cores of the node, beside training. Rules: docs/physics/idle-time.md.
#pragma once

#include "models/base/choice.hpp"

namespace windtunnel {

enum class InputSource { storage, local_disk, memory };
template <>
inline constexpr Choice<InputSource> kChoices<InputSource>[] = {
    {"storage", InputSource::storage},
    {"local-disk", InputSource::local_disk},
    {"memory", InputSource::memory}};

struct InputPipeline {
  double sample_bytes = 0;   // as they are read
  double sample_core_s = 0;  // to decode and augment one on a core
  int workers = 2;           // cores of a loader at most (PyTorch: num_workers)
  InputSource source = InputSource::storage;
  // Steps that the loader is ahead; 0: it begins with the step that needs the samples.
  int prefetch = 1;
};

}  // namespace windtunnel
