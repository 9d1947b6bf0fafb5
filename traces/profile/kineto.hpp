// The traces that PyTorch's profiler writes (Kineto, output_json.cpp of pytorch/kineto): JSON of
// Chrome trace events, plain or gzip, one file per rank. Read event by event: memory grows with the
// work of the GPU (some 60 bytes each) and not with the file. Which events and arguments count:
// docs/guide/traces.md.
#pragma once

#include <string>

#include "traces/profile/rank_profile.hpp"

namespace windtunnel {

// Throws Error with file:line:column where the JSON is broken, a field has another type or a time
// cannot be; with the file where it holds no work of a GPU, or that of several.
RankProfile read_kineto(const std::string& path);

}  // namespace windtunnel
