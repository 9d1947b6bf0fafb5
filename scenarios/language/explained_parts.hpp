// Parts of a job that are there or not, whose keys --explain reads back.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

struct ExplainedPart {
  std::string path;                             // below which its keys stand
  const void* type;                             // kTypeTag of the struct
  const void* from;                             // of the job
  std::function<bool(std::string_view)> takes;  // whether it has a use for the key, less `path`
};

std::vector<ExplainedPart> explained_parts(const Job& job);

}  // namespace windtunnel
