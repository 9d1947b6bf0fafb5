// How samples are loaded (Job::input): one loader per replica reads and prepares them on CPU cores
// of the node while training runs. Rules: docs/physics/idle-time.md.
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
  double sample_bytes = 0;   // as read from storage
  double sample_core_s = 0;  // CPU time to decode and augment a sample
  int workers = 2;           // most cores that a loader uses (PyTorch: num_workers)
  InputSource source = InputSource::storage;
  // Steps that the loader may be ahead; 0: it begins with the step that needs the samples.
  int prefetch = 1;
};

}  // namespace windtunnel
