// The answer of `windtunnel import`: the scenario made from a training program's configuration.
#pragma once

#include "report/text/answer.hpp"
#include "scenarios/language/imports/import.hpp"
#include "scenarios/language/imports/launch.hpp"

namespace windtunnel {

Answer import_answer(const ImportedScenario& imported);

// The configuration to launch a training program with, as a part of another answer.

// Adds a section of keys that the program would not use, and "launch" to the document. The launch
// must outlive the answer.
void add_launch(const Launch& launch, Answer& answer);

}  // namespace windtunnel
