// Parts of a job that are there or not, whose keys --explain reads back.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/plan/job.hpp"
#include "models/results/resolved_value.hpp"

namespace windtunnel {

struct ExplainedPart {
  std::string path;                             // below which its keys stand
  const void* type;                             // kTypeTag of the struct
  const void* from;                             // of the job
  std::function<bool(std::string_view)> takes;  // whether it has a use for the key, less `path`
};

std::vector<ExplainedPart> explained_parts(const Job& job);

// What recompute: auto and offload: auto found, in the place of that the scenario leaves it to
// them; other values stay.
void take_found(const Job& job, ResolvedValue& value);

}  // namespace windtunnel
