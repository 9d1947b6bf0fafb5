// Notes on keys that a scenario states and that do not affect its result.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/note.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

std::vector<Note> unused_keys(const Values& values, const Job& job);

}  // namespace windtunnel
