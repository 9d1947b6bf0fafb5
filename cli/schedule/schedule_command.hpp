// The subcommands of `windtunnel schedule`; one file each.
#pragma once

#include "cli/program/command.hpp"

namespace windtunnel {

Handler define_schedule_show(CLI::App& app);
Handler define_schedule_export(CLI::App& app);
Handler define_schedule_import(CLI::App& app);
Handler define_schedule_search(CLI::App& app);

}  // namespace windtunnel
