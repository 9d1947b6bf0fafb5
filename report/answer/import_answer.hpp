// What `windtunnel import` made of the configuration of a training program.
#pragma once

#include "report/text/answer.hpp"
#include "scenarios/language/imports/import.hpp"

namespace windtunnel {

Answer import_answer(const ImportedScenario& imported);

}  // namespace windtunnel
