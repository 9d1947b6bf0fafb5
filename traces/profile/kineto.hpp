// Reads the traces of PyTorch's profiler (Kineto, output_json.cpp of pytorch/kineto): JSON of
// Chrome trace events, plain or gzip, one file per rank. It reads event by event, so memory grows
// with the work of the GPU (about 60 bytes per item) and not with the file. docs/guide/traces.md
// lists the events and arguments that are used.
#pragma once

#include <string>

#include "traces/profile/rank_profile.hpp"

namespace windtunnel {

// Throws Error with file:line:column if the JSON is broken, a field has another type or a time is
// invalid; with the file if it contains no work of a GPU, or work of several GPUs.
RankProfile read_kineto(const std::string& path);

}  // namespace windtunnel
