// The structs of a job that --explain reads back through the rows bound to their members.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/plan/job.hpp"
#include "models/results/resolved_value.hpp"

namespace windtunnel {

struct ExplainedPart {
  std::string path;                             // the path above its keys
  const void* type;                             // kTypeTag of the struct
  const void* from;                             // the struct in the job
  std::function<bool(std::string_view)> takes;  // whether a key below `path` has an effect
};

std::vector<ExplainedPart> explained_parts(const Job& job);

// Replaces the value of a key that was left to `recompute: auto` or `offload: auto` by what the
// search has found. Other values do not change.
void take_found(const Job& job, ResolvedValue& value);

}  // namespace windtunnel
