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

// The steps of a profile in the form of a log. Throws Error as read_profile() does, and if nothing
// in the file marks the end of a step.
TrainingLog profile_log(const std::string& path);

}  // namespace windtunnel
