// What `windtunnel plan` and `windtunnel init` are asked.
#pragma once

#include <string>
#include <vector>

#include "cli/program/command_line.hpp"
#include "sim/study/plan/plan_request.hpp"

namespace windtunnel {

struct PlanOptions {
  std::string file = {};  // of a job, which says what no option does; empty: none
  std::string cluster = {}, model = {}, tokens = {};
  std::string framework = {}, batch = {}, price = {}, sequence = {}, budget = {};
  std::string days = {};
  double headroom_percent = -1;
  std::vector<std::string> set = {};
  int threads = 0;
};

// What `options` has already is said to be the default.
void add_plan_options(CLI::App& app, PlanOptions& options);

// Adds FILE, the configuration of a training program or a scenario, which a plan alone takes.
void add_plan_file(CLI::App& app, PlanOptions& options);

// How surely it is done in time: of a plan alone, not of a scenario to start from.
void add_deadline_options(CLI::App& app, PlanOptions& options);

// Throws Error that names the option, also where neither an option nor the file says what a plan
// needs.
PlanRequest request_of(PlanOptions options);

}  // namespace windtunnel
