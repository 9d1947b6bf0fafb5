// This is the request of `windtunnel plan` or `windtunnel init`, from its options.
#pragma once

#include <string>
#include <vector>

#include "cli/program/command_line.hpp"
#include "sim/study/plan/plan_request.hpp"

namespace windtunnel {

struct PlanOptions {
  std::string file = {};  // of a job, for keys that have no option; empty: none
  std::string cluster = {}, model = {}, tokens = {};
  std::string framework = {}, batch = {}, price = {}, sequence = {}, budget = {};
  std::string days = {};
  double headroom_percent = -1;
  std::vector<std::string> set = {};
  int threads = 0;
};

// Values already in `options` are shown as defaults.
void add_plan_options(CLI::App& app, PlanOptions& options);

// Adds FILE, the configuration of a training program or a scenario; only `plan` has it.
void add_plan_file(CLI::App& app, PlanOptions& options);

// Adds the goals of days and cost; only `plan` has them.
void add_deadline_options(CLI::App& app, PlanOptions& options);

// Throws Error that names the option, also if neither an option nor the file states something that
// a plan needs.
PlanRequest request_of(PlanOptions options);

}  // namespace windtunnel
