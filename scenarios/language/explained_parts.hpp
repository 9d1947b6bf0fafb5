// Lists the structs of a job whose members --explain prints by the rows bound to them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/plan/job.hpp"
#include "models/results/resolved_value.hpp"

namespace windtunnel {

struct ExplainedPart {
  std::string path;                             // path of the map that contains the keys
  const void* type;                             // kTypeTag of the struct
  const void* from;                             // the struct in the job
  std::function<bool(std::string_view)> takes;  // whether a key below `path` has an effect
};

std::vector<ExplainedPart> explained_parts(const Job& job);

// If `recompute: auto` or `offload: auto` left the key of the value open, replaces the value by
// what the search has found.
void take_found(const Job& job, ResolvedValue& value);

}  // namespace windtunnel
