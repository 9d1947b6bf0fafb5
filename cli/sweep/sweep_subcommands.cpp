// The subcommands of `windtunnel sweep`.
#include <memory>
#include <utility>

#include "cli/sweep/sweep_command.hpp"

namespace windtunnel {
namespace {

void add_threads(CLI::App& app, int& threads) {
  app.add_option("-j", threads, "threads (default: all cores); the result is the same")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
}

void add_folder(CLI::App& app, std::string& folder) {
  app.add_option("DIR", folder, "folder of the sweep")->required();
}

void add_grid(CLI::App& app, SweepGrid& grid) {
  app.add_option("SCENARIO", grid.scenario, "scenario file (YAML)");
  app.add_option("--vary", grid.vary,
                 "values of a key, or N of them from LO to HI by equal steps or (log) factors; "
                 "repeated: every combination")
      ->type_name("KEY=A,B,C|LO:HI:N[log]")
      ->allow_extra_args(false);
  app.add_option("--replicas", grid.replicas, "campaigns simulated per point (campaign.replicas)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--set", grid.set, "set a value of the scenario; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--out", grid.out, "folder of the sweep")->type_name("DIR");
}

Handler define_expand(CLI::App& app) {
  auto grid = std::make_shared<SweepGrid>();
  add_grid(app, *grid);
  add_example(app, "scenarios/llama3-405b.yaml --vary layout.vpp=1,2,4 --out out");
  return [grid] {
    begin_sweep(*grid, 0);
    return ExitCode::ok;
  };
}

Handler define_shard(CLI::App& app) {
  struct Options {
    std::string folder, shard = "0/1";
    int threads = 0;
  };
  auto options = std::make_shared<Options>();
  add_folder(app, options->folder);
  app.add_option("--shard", options->shard,
                 "part I of N, from 0; auto: I from SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, "
                 "HQ_TASK_ID or OMPI_COMM_WORLD_RANK")
      ->type_name("I/N|auto/N");
  add_threads(app, options->threads);
  add_example(app, "out --shard 0/4");
  return [options] {
    const SweepShard shard = parse_shard(options->shard);
    return run_shard(options->folder, open_sweep(options->folder), shard, options->threads);
  };
}

Handler define_merge(CLI::App& app) {
  auto folder = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  add_folder(app, *folder);
  app.add_flag("--json", *json, "print one JSON document on stdout, text on stderr");
  add_example(app, "out");
  return [folder, json] { return merge_sweep(*folder, open_sweep(*folder), *json); };
}

Handler define_resume(CLI::App& app) {
  struct Options {
    std::string folder;
    int threads = 0;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  add_folder(app, options->folder);
  add_threads(app, options->threads);
  app.add_flag("--json", options->json, "print one JSON document on stdout, text on stderr");
  add_example(app, "out");
  return [options] {
    const SweepPlan plan = open_sweep(options->folder);
    const ExitCode code = run_shard(options->folder, plan, {}, options->threads);
    return code == ExitCode::ok ? merge_sweep(options->folder, plan, options->json) : code;
  };
}

Handler define_status(CLI::App& app) {
  auto folder = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  add_folder(app, *folder);
  app.add_flag("--json", *json, "one JSON document");
  add_example(app, "out");
  return [folder, json] { return show_sweep_status(*folder, *json); };
}

Handler define_submit(CLI::App& app) {
  struct Options {
    std::string folder;
    bool slurm = false;
    SlurmOptions of;
  };
  auto options = std::make_shared<Options>();
  add_folder(app, options->folder);
  app.add_flag("--slurm", options->slurm, "to Slurm, as an array job and a merge after it")
      ->required();
  app.add_option("--shards", options->of.shards, "elements of the array (default 16)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--cpus", options->of.cpus, "cores of each (default 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--print", options->of.print, "print the scripts and submit nothing");
  add_example(app, "out --slurm --shards 32 --print");
  return [options] { return submit_sweep(options->folder, options->of); };
}

const std::vector<Command>& sweep_commands() {
  static const std::vector<Command> table = {
      {"expand", "write the cases into a folder and run nothing", define_expand},
      {"run", "run a shard of them, or all", define_shard},
      {"merge", "results of all shards: tables and page; says what is missing", define_merge},
      {"resume", "run what is missing, then merge", define_resume},
      {"status", "how much is finished", define_status},
      {"submit", "hand the shards to a cluster", define_submit}};
  return table;
}

}  // namespace

Handler define_sweep(CLI::App& app) {
  struct Options {
    SweepGrid grid;
    int threads = 0;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  std::vector<std::pair<CLI::App*, Handler>> actions;
  for (const Command& command : sweep_commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    actions.emplace_back(sub, command.define(*sub));
  }
  add_grid(app, options->grid);
  add_threads(app, options->threads);
  app.add_flag("--json", options->json, "print one JSON document on stdout, text on stderr");
  app.require_subcommand(0, 1);
  add_example(app,
              "scenarios/llama3-405b.yaml --vary 'snapshots.1.every=5 min:4 h:10log' --out out");
  return [options, actions] {
    for (const auto& [sub, action] : actions) {
      if (sub->parsed()) return action();
    }
    const SweepPlan plan = begin_sweep(options->grid, options->threads);
    const std::string& folder = options->grid.out;
    const ExitCode code = run_shard(folder, plan, {}, options->threads);
    return code == ExitCode::ok ? merge_sweep(folder, plan, options->json) : code;
  };
}

}  // namespace windtunnel
