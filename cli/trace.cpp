// windtunnel trace: the Plan of a scenario as MLCommons Chakra execution traces, and traces
// executed.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/overrides.hpp"
#include "models/base/units.hpp"
#include "models/iteration_report.hpp"
#include "report/json.hpp"
#include "sim/engine/engine.hpp"
#include "sim/simulate.hpp"
#include "traces/chakra.hpp"
#include "traces/chakra_rank.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  std::string scenario;
  std::vector<std::string> set;
  std::string out;
  ChakraRanks ranks = ChakraRanks::all;
  bool force = false;
};

struct ImportOptions {
  std::vector<std::string> files;
  std::string scenario;
  std::vector<std::string> set;
  bool json = false;
};

// The scenario's name as a part of file names.
std::string file_stem(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == ' '; }, '-');
  return name;
}

// A rank of an earlier export would be read as one of this job.
void clear_traces(const ExportOptions& options, const std::string& stem) {
  std::error_code error;
  for (fs::directory_iterator at(options.out, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (rank_of_name(name) < 0) continue;
    if (!options.force) {
      throw Error(Location{options.out},
                  fmt::format("holds traces ({}); --force replaces those of {}", name, stem));
    }
    const bool same_job = at->path().stem().stem() == stem;
    if (same_job) fs::remove(at->path(), error);
  }
  if (error) {
    throw Error(Location{options.out}, fmt::format("cannot be cleared: {}", error.message()),
                ExitCode::failed);
  }
}

ExitCode export_traces(const ExportOptions& options) {
  const Case the_case = load_case(options.scenario, parse_overrides(options.set));
  const Plan plan = plain_plan(the_case.job);
  const std::string stem = file_stem(the_case.scenario);
  prepare_folder(options.out);
  clear_traces(options, stem);
  const ChakraExport traces(plan, options.ranks);
  double bytes = 0;
  {
    Progress progress;
    for (int i = 0; i < traces.files(); ++i) {
      progress.show(fmt::format("[{}/{}] rank {}", i + 1, traces.files(), traces.rank(i)));
      const std::string content = traces.content(i);
      write_file(fmt::format("{}/{}.{}.et", options.out, stem, traces.rank(i)), content);
      bytes += double(content.size());
    }
  }
  print_result(fmt::format("wrote {0} traces of {1} ranks to {2}/{3}.RANK.et, {4}\n",
                           traces.files(), plan.ranks, options.out, stem, format_bytes(bytes)));
  return ExitCode::ok;
}

ChakraImport read_traces(const ImportOptions& options) {
  std::error_code error;
  const bool folder = options.files.size() == 1 && fs::is_directory(options.files.front(), error);
  Progress progress;
  return read_chakra(folder ? chakra_files(options.files.front()) : options.files,
                     [&](size_t done, size_t all) {
                       progress.show(fmt::format("[{}/{}] reading", done + 1, all));
                     });
}

size_t count_tasks(const Plan& plan) {
  size_t tasks = 0;
  for (const RankClass& owner : plan.classes) tasks += owner.tasks.size() * owner.members.size();
  return tasks;
}

Json import_document(const ChakraImport& import, const Timeline& timeline,
                     const IterationReport& report) {
  Json path = Json::object();
  for (int c = 0; c < kCategories; ++c) {
    path[to_string(static_cast<Category>(c))] = report.critical_path_s[c];
  }
  return {{"step_s", report.time_s},
          {"critical_path_s", path},
          {"ranks", import.plan.ranks},
          {"ranks_simulated", timeline.ranks_simulated},
          {"iterations", import.plan.iterations},
          {"tasks", count_tasks(import.plan)},
          {"foreign", import.foreign}};
}

Summary import_summary(const ImportOptions& options, const ChakraImport& import,
                       const Timeline& timeline, const IterationReport& report) {
  Summary summary;
  summary.title = options.files.front();
  summary.subtitle = fmt::format(
      "{} tasks of {} ranks, {} on the machine of {}",
      with_separators(double(count_tasks(import.plan))), with_separators(import.plan.ranks),
      import.foreign ? "written elsewhere," : "written by windtunnel,", options.scenario);
  SummarySection iteration{"Iteration",
                           {{"step time", format_seconds(report.time_s)},
                            {"ranks simulated", fmt::format("{}", timeline.ranks_simulated)}}};
  SummarySection path{"Where the step time goes (critical path)", {}};
  for (int c = 0; c < kCategories; ++c) {
    const double seconds = report.critical_path_s[c];
    if (seconds <= 0) continue;
    path.rows.push_back(
        {to_string(static_cast<Category>(c)),
         fmt::format("{}  {}", format_percent(seconds / report.time_s), format_seconds(seconds))});
  }
  summary.sections = {std::move(iteration), std::move(path)};
  return summary;
}

ExitCode import_traces(const ImportOptions& options) {
  const Job job = load_case(options.scenario, parse_overrides(options.set)).job;
  ChakraImport import = read_traces(options);
  if (import.plan.ranks > job.cluster.gpus()) {
    throw Error(fmt::format("the traces are of {} ranks, the cluster of {} has {} GPUs",
                            import.plan.ranks, options.scenario, job.cluster.gpus()));
  }
  if (import.foreign) add_latencies(import.plan, job.cluster, job.calibration);
  const Timeline timeline =
      execute(import.plan, job.cluster, {.fold = job.fold, .calibration = job.calibration});
  // Of the report only what follows from the timeline: the traces may be of another job.
  const IterationReport report =
      iteration_report(job, {}, {}, import.plan, timeline, critical_path(import.plan, timeline));
  if (options.json) print_result(json_text(import_document(import, timeline, report)));
  const Summary summary = import_summary(options, import, timeline, report);
  print_human(summary_text(summary, human_style(options.json)), options.json);
  return ExitCode::ok;
}

CLI::Option* add_set(CLI::App& app, std::vector<std::string>& set) {
  return app.add_option("--set", set, "set a value of the scenario; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

}  // namespace

Handler define_trace(CLI::App& app) {
  auto to = std::make_shared<ExportOptions>();
  CLI::App* write = app.add_subcommand(
      "export", "write the tasks of a scenario as MLCommons Chakra execution traces");
  write->add_option("SCENARIO", to->scenario, "scenario file (YAML)")->required();
  write->add_option("--out", to->out, "write NAME.RANK.et here")->type_name("DIR")->required();
  const std::map<std::string, ChakraRanks> ranks = {{"all", ChakraRanks::all},
                                                    {"one-per-class", ChakraRanks::one_per_class}};
  write
      ->add_option("--ranks", to->ranks,
                   "all (default), or one-per-class: only the first of the ranks that run the same "
                   "tasks; windtunnel reads all back from it, other programs do not")
      ->type_name("WHICH")
      ->transform(CLI::CheckedTransformer(ranks, CLI::ignore_case).description(""));
  add_set(*write, to->set);
  write->add_flag("--force", to->force, "replace the traces of an earlier export");

  auto from = std::make_shared<ImportOptions>();
  CLI::App* read = app.add_subcommand(
      "import", "simulate MLCommons Chakra execution traces on the machine of a scenario");
  read->add_option("TRACE", from->files, "files NAME.RANK.et of all ranks, or their folder")
      ->required();
  read->add_option("--scenario", from->scenario, "its cluster and calibration are used")
      ->type_name("SCENARIO")
      ->required();
  add_set(*read, from->set);
  read->add_flag("--json", from->json, "print one JSON document on stdout, text on stderr");
  app.require_subcommand(1);
  return [to, from, write] { return write->parsed() ? export_traces(*to) : import_traces(*from); };
}

}  // namespace windtunnel
