// The answers of commands that have results of their own, and the page of any answer. What an
// answer shows must outlive it.
#pragma once

#include <string>
#include <vector>

#include "report/text/answer.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

struct Diagnosis;
struct ExpectedCurve;
struct ImportedScenario;
struct Launch;
struct LogReading;
struct Optimisation;
struct PlanReport;
struct TrainingLog;

// Draws the page of a command that answers in tables: the main figures, warnings, then charts and
// sections by importance. The page is one self-contained file; its tables are complete without
// scripts.
std::string answer_page(const Answer& answer);

// Brief fits the console on one screen; full has every option that was tried and every default. A
// page is always full.
enum class PlanDetail { brief, full };
// A plan as an answer: its cost, what to launch, the next best option of each choice, and the
// assumptions. The page adds every option that was tried, and where time and memory go. `command`
// runs the plan again.
Answer plan_answer(const PlanReport& plan, const std::string& command, PlanDetail detail);

struct OptimiseAsked {
  std::string scenario, aim, over;  // as on the command line
  std::string run;                  // the command that simulates the best
  std::vector<VariedKey> varied;    // keys with lists of values
};

// The answer of `windtunnel optimise`: the best configuration, the ranking, memory against step
// time, and keys whose best value is at the edge of the searched values.
Answer optimise_answer(const Optimisation& result, const OptimiseAsked& asked);

// The expected time of a collective as an answer: a row for each size with its 90 % interval, a
// chart of the bus bandwidth and, if there is a log, causes that would explain the difference.
// `machine` is its name in the text.
Answer expect_answer(const ExpectedCurve& curve, const std::string& machine);
// Compares with a log of measured times.
Answer expect_answer(const LogReading& reading, const std::string& machine);

// The answer of `windtunnel diagnose`. `job_file` is the name that the user gave.
Answer diagnose_answer(const TrainingLog& log, const Diagnosis& diagnosis,
                       const std::string& job_file);

// The answer of `windtunnel import`: the scenario made from a training program's configuration.
Answer import_answer(const ImportedScenario& imported);

// Adds the configuration to launch a training program with to another answer: a section of keys
// that the program would not use, and "launch" in the document.
void add_launch(const Launch& launch, Answer& answer);

}  // namespace windtunnel
