// windtunnel schedule: pipeline schedules without a cluster: what there is, what each costs, and
// torch's files in and out.
#include "cli/schedule/schedule_command.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/program/output.hpp"
#include "report/listing/listing.hpp"

namespace windtunnel {
namespace {

ExitCode list(bool json) {
  const auto listing = std::find_if(listings().begin(), listings().end(),
                                    [](const Listing& each) { return each.name == "schedules"; });
  CHECK(listing != listings().end(), "no listing of schedules");
  if (json) {
    print_document("list", listing->document());
  } else {
    print_result(table_text(listing->table(), human_style(false).width));
  }
  return ExitCode::ok;
}

Handler define_schedule_list(const CommandLine& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON document");
  add_example(app, "--json");
  return [json] { return list(*json); };
}

const std::vector<Command>& schedule_commands() {
  static const std::vector<Command> table = {
      {"list", "the schedules that have a name", define_schedule_list},
      {"show", "makespan, bubbles and memory of one", define_schedule_show},
      {"search", "the best order for given times and memory, with a bound", define_schedule_search},
      {"export", "write one as torch.distributed.pipelining reads it", define_schedule_export},
      {"import", "read such a file, check it, lower it", define_schedule_import},
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
