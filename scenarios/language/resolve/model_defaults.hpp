// What a scenario that writes down its model itself leaves open of it: its reader is told what
// stands there instead.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/note.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// None of a model with a base, or if all is stated.
std::vector<Note> model_defaults(const Values& values, const Job& job);

}  // namespace windtunnel
