// What of a job has not been held against measured runs.
#pragma once

#include <vector>

#include "models/results/familiarity.hpp"
#include "models/results/note.hpp"

namespace windtunnel {

// Nothing where all of it has.
std::vector<Note> unfamiliar_notes(const Familiarity& familiarity);

}  // namespace windtunnel
