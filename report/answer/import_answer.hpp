// What `windtunnel import` made of the configuration of a training program.
#pragma once

#include "report/text/answer.hpp"
#include "scenarios/language/imports/import.hpp"
#include "scenarios/language/imports/launch.hpp"

namespace windtunnel {

Answer import_answer(const ImportedScenario& imported);

// What a training program is started with, as a part of the answer that it belongs to.

// A section of what the program does not take over, and "launch" in the document. The launch has to
// outlive the answer.
void add_launch(const Launch& launch, Answer& answer);

}  // namespace windtunnel
