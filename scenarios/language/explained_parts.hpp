// Structs of a job whose members --explain reads back, by the rows that are bound to them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/plan/job.hpp"
#include "models/results/resolved_value.hpp"

namespace windtunnel {

struct ExplainedPart {
  std::string path;                             // its keys stand below it
  const void* type;                             // kTypeTag of the struct
  const void* from;                             // of the job
  std::function<bool(std::string_view)> takes;  // whether it has a use for the key, less `path`
};

std::vector<ExplainedPart> explained_parts(const Job& job);

// Replaces the value of a key that the scenario leaves to recompute: auto or offload: auto by what
// the search has found. Other values stay as they are.
void take_found(const Job& job, ResolvedValue& value);

}  // namespace windtunnel
