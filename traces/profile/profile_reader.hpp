// Reads a profile in the format that the file's name indicates.
#pragma once

#include <string>

#include "traces/logs/training_log.hpp"
#include "traces/profile/rank_profile.hpp"

namespace windtunnel {

// Accepts PyTorch's .json and .json.gz, and Nsight Systems' .sqlite.
bool is_profile(const std::string& path);

// Whether a file accepted by is_profile() can be one; a plain .json is checked by its beginning.
bool begins_as_profile(const std::string& path);

// If a file does not state its rank, the rank is taken from its name: "rank-3.json",
// "run.rank3.sqlite", "trace.3.json". Throws Error as read_kineto() and read_nsight() do.
RankProfile read_profile(const std::string& path);

// Returns the steps of a profile in the form of a log. Throws Error as read_profile() does, and if
// nothing in the file marks the end of a step.
TrainingLog profile_log(const std::string& path);

// Reads a trace of PyTorch's profiler (Kineto, output_json.cpp of pytorch/kineto): JSON of Chrome
// trace events, plain or gzip, one file per rank. It reads event by event, so memory grows with the
// work of the GPU (about 60 bytes per item) and not with the file. docs/guide/traces.md lists the
// events and arguments that are used. Throws Error with file:line:column if the JSON is broken, a
// field has another type or a time is invalid; with the file if it contains no work of a GPU, or
// work of several GPUs.
RankProfile read_kineto(const std::string& path);

// Reads a recording of one rank by Nsight Systems, as `nsys export --type sqlite` writes it:
// kernels, copies, launches, and NVTX ranges that mark the steps. It contains no sizes of
// collectives. docs/guide/traces.md lists the tables and columns that are used. Throws Error that
// names file, table and row.
RankProfile read_nsight(const std::string& path);

}  // namespace windtunnel
