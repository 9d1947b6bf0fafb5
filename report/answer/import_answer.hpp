// The answer of `windtunnel import`: the scenario made from a training program's configuration.
#pragma once

#include "report/text/answer.hpp"
#include "scenarios/language/imports/import.hpp"

namespace windtunnel {

Answer import_answer(const ImportedScenario& imported);

}  // namespace windtunnel
