// What `windtunnel plan` and `windtunnel init` are asked.
#pragma once

#include <string>
#include <vector>

#include "cli/program/command_line.hpp"
#include "sim/study/plan/plan_request.hpp"

namespace windtunnel {

struct PlanOptions {
  std::string cluster = {}, model = {}, tokens = {};
  std::string framework = {}, batch = {}, price = {}, sequence = {}, budget = {};
  std::string days = {};
  double headroom_percent = -1;
  std::vector<std::string> set = {};
  int threads = 0;
};

// `required`: machine, model and tokens must be given; else `options` has what they are otherwise.
void add_plan_options(CLI::App& app, PlanOptions& options, bool required);

// How surely it is done in time: of a plan alone, not of a scenario to start from.
void add_deadline_options(CLI::App& app, PlanOptions& options);

// Throws Error that names the option.
PlanRequest request_of(const PlanOptions& options);

}  // namespace windtunnel
