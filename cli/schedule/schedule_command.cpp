// windtunnel schedule: pipeline schedules without a cluster: lists them, analyses their cost, and
// imports and exports torch's files.
#include "cli/schedule/schedule_command.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace windtunnel {
namespace {

Handler define_schedule_list(const CommandLine& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON document");
  add_example(app, "--json");
  return [json] { return print_listing("schedules", *json); };
}

const std::vector<Command>& schedule_commands() {
  static const std::vector<Command> table = {
      {"list", "list the named schedules", define_schedule_list},
      {"show", "show makespan, bubbles and memory of a schedule", define_schedule_show},
      {"search", "search for the best order for given times and memory, with a lower bound",
       define_schedule_search},
      {"export", "write a schedule as a CSV that torch.distributed.pipelining reads",
       define_schedule_export},
      {"import", "read a CSV of torch.distributed.pipelining, check it and lower it",
       define_schedule_import},
  };
  return table;
}

}  // namespace

Handler define_schedule(const CommandLine& app) {
  std::vector<std::pair<CommandLine, Handler>> actions;
  for (const Command& command : schedule_commands()) {
    const CommandLine sub = app.add_subcommand(command.name, command.help);
    actions.emplace_back(sub, command.define(sub));
  }
  add_example(app, "show zb-h1 --ranks 4 --microbatches 8 --gantt");
  app.require_subcommand(1, 1);
  return [actions] {
    for (const auto& [sub, action] : actions) {
      if (sub.parsed()) return action();
    }
    throw InternalError("no subcommand was parsed");
  };
}

}  // namespace windtunnel
