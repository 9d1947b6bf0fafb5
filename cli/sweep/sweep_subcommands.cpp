// The subcommands of `windtunnel sweep`.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "cli/program/output.hpp"
#include "cli/sweep/sweep_command.hpp"

namespace windtunnel {
namespace {

void add_threads(const CommandLine& app, int& threads) {
  app.add_threads(threads, "threads (default: all cores); the result does not depend on it");
}

void add_folder(const CommandLine& app, std::string& folder) {
  app.add_option("DIR", folder, "folder of the sweep").required();
}

void add_grid(const CommandLine& app, SweepGrid& grid) {
  app.add_option("SCENARIO", grid.scenario, "scenario file (YAML)");
  app.add_option("--vary", grid.vary,
                 "values of a key, or N values from LO to HI in equal steps or (log) factors; "
                 "repeated, every combination is run",
                 "KEY=A,B,C|LO:HI:N[log]")
      .repeatable();
  app.add_option("--replicas", grid.replicas, "campaigns simulated per point (campaign.replicas)",
                 "N")
      .check(whole_in(1, 1000000));
  app.add_set(grid.set);
  app.add_option("--out", grid.out, "folder of the sweep", "DIR");
}

void add_write_once(const CommandLine& app, int& seconds) {
  app.add_option("--write-once", seconds,
                 "for object storage: seconds between new result files, which are not changed "
                 "after they are written",
                 "S")
      .check(whole_in(1, 86400));
}

Handler define_expand(const CommandLine& app) {
  auto grid = std::make_shared<SweepGrid>();
  add_grid(app, *grid);
  add_example(app, "scenarios/llama3-405b.yaml --vary layout.vpp=1,2,4 --out out");
  return [grid] {
    const SweepPlan plan = begin_sweep(*grid, 0);
    print_human(
        fmt::format("{0} cases are written, but none has run; next:\n  windtunnel sweep run {1} "
                    "--shard 0/1 (in N parts: 0/N, 1/N, ...)\n  windtunnel sweep merge {1}\n",
                    plan.cases.size(), grid->out),
        false);
    return ExitCode::ok;
  };
}

Handler define_shard(const CommandLine& app) {
  struct Options {
    std::string folder, shard = "0/1";
    int threads = 0, write_once = 0;
  };
  auto options = std::make_shared<Options>();
  add_folder(app, options->folder);
  app.add_option("--shard", options->shard,
                 fmt::format("part I of N, counted from 0; auto: I is taken from whichever of "
                             "these the launcher sets: {}",
                             fmt::join(kIndexVariables, ", ")),
                 "I/N|auto/N");
  add_threads(app, options->threads);
  add_write_once(app, options->write_once);
  add_example(app, "out --shard 0/4");
  return [options] {
    const SweepShard shard = parse_shard(options->shard);
    return run_shard(options->folder, open_sweep(options->folder), shard, options->threads,
                     {.log = true, .write_once = options->write_once});
  };
}

Handler define_merge(const CommandLine& app) {
  auto folder = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  add_folder(app, *folder);
  app.add_json(*json);
  add_example(app, "out");
  return [folder, json] { return merge_sweep(*folder, *json); };
}

Handler define_resume(const CommandLine& app) {
  struct Options {
    std::string folder;
    int threads = 0;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  add_folder(app, options->folder);
  add_threads(app, options->threads);
  app.add_json(options->json);
  add_example(app, "out");
  return [options] {
    const ExitCode code =
        run_shard(options->folder, open_sweep(options->folder), {}, options->threads);
    return code == ExitCode::ok ? merge_sweep(options->folder, options->json) : code;
  };
}

Handler define_status(const CommandLine& app) {
  auto folder = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  add_folder(app, *folder);
  auto logs = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON document");
  app.add_flag("--logs", *logs, "also print the last line of each shard's log");
  add_example(app, "out --logs");
  return [folder, json, logs] { return show_sweep_status(*folder, *json, *logs); };
}

struct SubmitOptions {
  std::string folder;
  bool slurm = false, kubernetes = false, hyperqueue = false, print = false;
  ClusterJob job;
};

Engine engine_of(const SubmitOptions& options) {
  const int given = static_cast<int>(options.slurm) + static_cast<int>(options.kubernetes) +
                    static_cast<int>(options.hyperqueue) +
                    static_cast<int>(!options.job.hosts.empty());
  if (given != 1) {
    throw Error("state to which cluster: one of --slurm, --kubernetes, --hyperqueue and --ssh");
  }
  if (options.slurm) return Engine::slurm;
  if (options.kubernetes) return Engine::kubernetes;
  return options.hyperqueue ? Engine::hyperqueue : Engine::ssh;
}

void add_engines(const CommandLine& app, SubmitOptions& options) {
  app.add_flag("--slurm", options.slurm, "submit to Slurm: an array job, and a merge after it");
  app.add_flag("--kubernetes", options.kubernetes,
               "submit to Kubernetes with kubectl: an Indexed Job, and a second one that merges");
  app.add_flag("--hyperqueue", options.hyperqueue,
               "submit to HyperQueue with hq: a task array; waits, then merges");
  app.add_option("--ssh", options.job.hosts,
                 "run on these hosts, one shard each; waits, then merges", "[USER@]HOST,...")
      .separated_by(',')
      .repeatable();
}

void add_limits(const CommandLine& app, ClusterJob& job) {
  app.add_option("--shards", job.shards, "parts of the sweep (default 16)", "N")
      .check(whole_in(1, 1000000));
  app.add_option("--cpus", job.cpus, "cores of each shard (default 1; with --ssh all)", "N")
      .check(whole_in(1, 4096));
  app.add_option("--time", job.time, "time limit of a shard: '90 min', 1:30:00, 1-12:00:00",
                 "TIME");
  app.add_option("--memory", job.memory, "memory of each shard, e.g. 4G", "SIZE");
  app.add_option("--partition", job.partition, "Slurm: partition", "NAME");
  app.add_option("--account", job.account, "Slurm: account", "NAME");
  app.add_option("--qos", job.qos, "Slurm: quality of service", "NAME");
  app.add_option("--option", job.options,
                 "an option that is passed unchanged to sbatch, hq submit or ssh: "
                 "--option=--constraint=h100; may be repeated",
                 "OPTION")
      .repeatable();
}

void add_places(const CommandLine& app, ClusterJob& job) {
  app.add_option(
      "--container", job.container,
      "container image with windtunnel: for pyxis under Slurm, for the pods of Kubernetes",
      "IMAGE");
  app.add_option("--wrapper", job.wrapper,
                 "command before the program: 'apptainer exec --bind /sweeps IMAGE'", "WORDS");
  app.add_option(
      "--program", job.program,
      "path of the program for the shards (default: this program; in a container windtunnel)",
      "PATH");
  app.add_option("--folder", job.folder,
                 "path of the folder for the shards (default: the same as here)", "PATH")
      .check(Check([](const std::string& path) -> std::string {
        return path.starts_with('/') ? "" : "expected an absolute path, as in /sweeps/out";
      }));
  app.add_option("--claim", job.claim,
                 "Kubernetes: the claim of the volume with the folder, and where pods mount it",
                 "NAME:PATH");
  app.add_option("--namespace", job.name_space, "Kubernetes: namespace", "NAME");
  add_write_once(app, job.write_once);
}

Handler define_submit(const CommandLine& app) {
  auto options = std::make_shared<SubmitOptions>();
  options->job.shards = 0;
  add_folder(app, options->folder);
  add_engines(app, *options);
  add_limits(app, options->job);
  add_places(app, options->job);
  app.add_flag("--print", options->print, "print the scripts without submitting");
  add_example(app, "out --slurm --shards 32 --print");
  return [options] {
    options->job.engine = engine_of(*options);
    return submit_sweep(options->folder, options->job, options->print);
  };
}

const std::vector<Command>& sweep_commands() {
  static const std::vector<Command> table = {
      {"expand", "write the cases into a folder without running them", define_expand},
      {"run", "run a shard of the cases, or all", define_shard},
      {"merge", "merge the results of all shards into tables and a page; also lists missing points",
       define_merge},
      {"resume", "run the missing points, then merge", define_resume},
      {"status", "print how much is finished", define_status},
      {"submit", "submit the shards to a cluster", define_submit}};
  return table;
}

}  // namespace

Handler define_sweep(const CommandLine& app) {
  struct Options {
    SweepGrid grid;
    int threads = 0;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  std::vector<std::pair<CommandLine, Handler>> actions;
  for (const Command& command : sweep_commands()) {
    const CommandLine sub = app.add_subcommand(command.name, command.help);
    actions.emplace_back(sub, command.define(sub));
  }
  add_grid(app, options->grid);
  add_threads(app, options->threads);
  app.add_json(options->json);
  app.require_subcommand(0, 1);
  add_example(app,
              "scenarios/llama3-405b.yaml --vary 'snapshots.1.every=5 min:4 h:10log' --out out");
  return [options, actions] {
    for (const auto& [sub, action] : actions) {
      if (sub.parsed()) return action();
    }
    const std::string& folder = options->grid.out;
    const ExitCode code =
        run_shard(folder, begin_sweep(options->grid, options->threads), {}, options->threads);
    return code == ExitCode::ok ? merge_sweep(folder, options->json) : code;
  };
}

}  // namespace windtunnel
