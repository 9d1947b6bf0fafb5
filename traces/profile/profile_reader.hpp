// What a profiler recorded, by the name of its file.
#pragma once

#include <string>

#include "traces/logs/training_log.hpp"
#include "traces/profile/rank_profile.hpp"

namespace windtunnel {

// PyTorch's .json and .json.gz, Nsight Systems' .sqlite.
bool is_profile(const std::string& path);

// Whether a file that is_profile() names so may be one: of a plain .json by what it begins with.
bool begins_as_profile(const std::string& path);

// A file that does not say its rank may have it in its name: "rank-3.json", "run.rank3.sqlite",
// "trace.3.json". Throws Error as read_kineto() and read_nsight() do.
RankProfile read_profile(const std::string& path);

// The steps of what a profiler recorded, as those of a log. Throws Error as read_profile() does,
// and where nothing in the file tells where a step ends.
TrainingLog profile_log(const std::string& path);

}  // namespace windtunnel
