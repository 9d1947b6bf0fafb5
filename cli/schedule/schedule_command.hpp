// Each subcommand of `windtunnel schedule` has its source file.
#pragma once

#include "cli/program/command.hpp"

namespace windtunnel {

Handler define_schedule_show(const CommandLine& app);
Handler define_schedule_export(const CommandLine& app);
Handler define_schedule_import(const CommandLine& app);
Handler define_schedule_search(const CommandLine& app);

}  // namespace windtunnel
