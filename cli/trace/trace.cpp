// windtunnel trace: writes the Plan of a scenario as MLCommons Chakra execution traces and executes
// traces; also writes the scenario's failures as a log of faults and fits logs (trace_parts.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>

#include "cli/plan/plan_arguments.hpp"
#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "cli/trace/trace_parts.hpp"
#include "models/base/units.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/iteration.hpp"
#include "report/captured/captured_report.hpp"
#include "report/figures/figure_text.hpp"
#include "report/json/json.hpp"
#include "scenarios/language/library/library.hpp"
#include "sim/study/iterations/simulations.hpp"
#include "sim/study/simulate.hpp"
#include "traces/chakra/chakra.hpp"
#include "traces/chakra/rank_trace.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

// A word that --ranks accepts.
struct RanksWord {
  const char* word;
  ChakraRanks ranks;
};
constexpr RanksWord kRanksWords[] = {{"all", ChakraRanks::all},
                                     {"one-per-class", ChakraRanks::one_per_class}};

std::vector<std::string> ranks_words() {
  std::vector<std::string> words;
  for (const RanksWord& each : kRanksWords) words.emplace_back(each.word);
  return words;
}

ChakraRanks ranks_named(const std::string& word) {
  const auto* const found = std::ranges::find(kRanksWords, word, &RanksWord::word);
  CHECK(found != std::end(kRanksWords), "--ranks {}", word);
  return found->ranks;
}

struct ExportOptions {
  std::string scenario;
  std::vector<std::string> set;
  std::string out;
  std::string ranks = kRanksWords[0].word;
  bool force = false;
  bool faults = false;
  FaultExport fault;
};

struct ImportOptions {
  std::vector<std::string> files;
  std::string scenario;
  std::string cluster;  // instead of a scenario
  std::vector<std::string> set;
  int replicas = 1;
  std::vector<std::string> vary;
  AnswerOutput output;
  FaultImport fault;
};

// The scenario's name, usable in file names.
std::string file_stem(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == ' '; }, '-');
  return name;
}

// Removes traces of an earlier export: its ranks would be read as part of this job.
void clear_traces(const ExportOptions& options, const std::string& stem) {
  std::error_code error;
  for (fs::directory_iterator at(options.out, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (rank_of_name(name) < 0 || !name.ends_with(".et")) continue;
    if (!options.force) {
      throw Error(
          Location{options.out},
          fmt::format("already contains traces ({}); --force replaces those of {}", name, stem));
    }
    const bool same_job = at->path().stem().stem() == stem;
    if (same_job) fs::remove(at->path(), error);
  }
  if (error) {
    throw Error(Location{options.out}, fmt::format("cannot be cleared: {}", error.message()),
                ExitCode::failed);
  }
}

// Keys of a scenario that an import uses: the machine and the choice of collectives; layout, batch
// and model only as far as they fit the machine to the traces. The traces determine the tasks.
bool is_taken(std::string_view key) {
  constexpr std::string_view kTaken[] = {"name",
                                         "cluster",
                                         "calibration",
                                         "fold",
                                         "layout",
                                         "batch",
                                         "model",
                                         "origins",
                                         "communication.collectives",
                                         "communication.fidelity",
                                         "communication.law"};
  return std::ranges::any_of(kTaken, [&](std::string_view prefix) {
    return key == prefix || key.starts_with(fmt::format("{}.", prefix));
  });
}

std::string text_of(const ResolvedValue& value) {
  return fmt::format("{}: {}", value.key, value.value);
}

// What the scenario states about things that the traces determine.
std::vector<std::string> stated_in_traces(const Case& the_case) {
  std::vector<std::string> texts;
  for (const ResolvedValue& value : the_case.values) {
    if (!value.is_default && !is_taken(value.key)) texts.push_back(text_of(value));
  }
  return texts;
}

ExitCode export_traces(const ExportOptions& options) {
  const Case the_case = load_scenario(options.scenario, parse_overrides(options.set)).at();
  if (options.faults) return export_faults(the_case, options.out, options.fault);
  if (!the_case.job.sync.empty()) {
    throw Error(the_case.places.where("sync"),
                "sync: traces contain one step, but islands exchange only once in many steps; "
                "leave it out, e.g. with --set sync=[]");
  }
  if (the_case.job.redundancy) {
    throw Error(the_case.places.where("redundancy"),
                "redundancy: traces contain one step in which every replica does only its own "
                "part; leave it out, e.g. with --set redundancy=none");
  }
  // Work in idle time is only known after the plan has run.
  const Plan plan = the_case.job.filling ? run_iteration(the_case.job, *the_case.prepared, {}).plan
                                         : iteration_plan(the_case.job, *the_case.prepared);
  const std::string stem = file_stem(the_case.scenario);
  prepare_folder(options.out);
  clear_traces(options, stem);
  const ChakraExport traces(plan, ranks_named(options.ranks), stated_in_traces(the_case));
  double bytes = 0;
  std::string content;
  {
    Progress progress;
    for (int i = 0; i < traces.files(); ++i) {
      progress.show(fmt::format("[{}/{}] rank {}", i + 1, traces.files(), traces.rank(i)));
      traces.put_content(i, content);
      write_file(fmt::format("{}/{}.{}.et", options.out, stem, traces.rank(i)), content);
      bytes += double(content.size());
    }
  }
  print_result(fmt::format("wrote {0} traces of {1} ranks to {2}/{3}.RANK.et, {4}\n",
                           traces.files(), plan.ranks, options.out, stem, format_bytes(bytes)));
  return ExitCode::ok;
}

// The name of the traces' machine in messages.
std::string machine_name(const ImportOptions& options) {
  return options.cluster.empty() ? options.scenario : options.cluster;
}

// Refuses overrides of keys that --cluster states, or that only complete its scenario.
void check_set(const Overrides& set) {
  for (const auto& [key, value] : set) {
    const bool says = key == "cluster" || key == "cluster.nodes" || key == "cluster.pools";
    if (says || key == "cluster.node" || key == "cluster.node.base") {
      throw Error(fmt::format("--set {}: --cluster already says which nodes and how many", key));
    }
    const std::string_view part = std::string_view(key).substr(0, key.find('.'));
    if (part == "model" || part == "layout" || part == "batch" || part == "precision") {
      throw Error(
          fmt::format("--set {}: with --cluster the job is that of the traces; leave it out", key));
    }
  }
}

// A case for a cluster alone. Its model, batch and precision only complete the scenario; every GPU
// has that precision, and the job does not run.
Case machine_of(const ImportOptions& options) {
  const Overrides given = parse_overrides(options.set);
  if (options.cluster.empty()) return load_scenario(options.scenario, given).at();
  check_set(given);
  const ClusterArgument cluster = parse_cluster(options.cluster);
  const auto& [nodes, node, part] = cluster;
  Overrides set = part_of_node(cluster);
  set.insert(set.end(), given.begin(), given.end());
  const int gpus = nodes * (part > 0 ? part : find_node(node).gpus);
  return resolve_case({.file = "--cluster",
                       .text = fmt::format("name: traces\ncluster: {{nodes: {}, node: {}}}\n"
                                           "model: llama3-8b\nprecision: fp32\n"
                                           "batch: {{global: {}}}\n",
                                           nodes, node, gpus),
                       .set = set});
}

RankPlan read_traces(const ImportOptions& options, const Case& on) {
  std::error_code error;
  const bool folder = options.files.size() == 1 && fs::is_directory(options.files.front(), error);
  Progress progress;
  return read_chakra(
      folder ? chakra_files(options.files.front()) : options.files,
      [&](size_t done, size_t all) {
        progress.show(fmt::format("[{}/{}] reading", done + 1, all));
      },
      [&](int ranks) { check_ranks(on, ranks, machine_name(options)); });
}

size_t count_tasks(const Plan& plan) {
  size_t tasks = 0;
  for (const RankClass& owner : plan.classes) tasks += owner.tasks.size() * owner.members.size();
  return tasks;
}

// `range` applies to traces of other programs; for windtunnel's own traces `run` reports the error.
Json import_document(const RankPlan& import, const Timeline& timeline,
                     const IterationReport& report, const FigureRange& range) {
  Json path = Json::object();
  for (int c = 0; c < kCategories; ++c) {
    path[to_string(static_cast<Category>(c))] = report.critical_path_s[c];
  }
  Json document = {{"step_s", report.time_s},
                   {"critical_path_s", path},
                   {"ranks", import.plan.ranks},
                   {"ranks_simulated", timeline.ranks_simulated},
                   {"iterations", import.plan.iterations},
                   {"tasks", count_tasks(import.plan)},
                   {"foreign", import.foreign},
                   {"captured", import.captured},
                   {"absent_dependencies", import.absent_deps},
                   {"untimed", import.untimed}};
  if (import.foreign) document["step_range_s"] = {{"low", range.low}, {"high", range.high}};
  return document;
}

Answer import_answer(const ImportOptions& options, const RankPlan& import, const Timeline& timeline,
                     const IterationReport& report, const FigureRange& range) {
  Answer summary;
  summary.kind = "trace-import";
  summary.document = [&] { return import_document(import, timeline, report, range); };
  summary.title = options.files.front();
  summary.subtitle = fmt::format(
      "{} tasks of {} ranks, {} on {}{}", with_separators(double(count_tasks(import.plan))),
      with_separators(import.plan.ranks),
      import.foreign
          ? "written elsewhere,"
          : "written by windtunnel (computation, including tensor parallelism, stays as exported),",
      options.cluster.empty() ? "the machine of " : "", machine_name(options));
  if (import.captured < import.plan.ranks && import.foreign) {
    summary.subtitle += fmt::format(
        "; only {} of the ranks have a trace, and the others are assumed to run as the first",
        import.captured);
  }
  if (import.untimed > 0) {
    summary.subtitle += fmt::format("; {} compute nodes have no duration and take no time",
                                    with_separators(double(import.untimed)));
  }
  if (import.absent_deps > 0) {
    summary.subtitle += fmt::format("; {} dependencies on nodes that are in no file are ignored",
                                    with_separators(double(import.absent_deps)));
  }
  summary.figures = {{figure("iteration.time_s").title, format_seconds(report.time_s)}};
  SummarySection iteration{"Iteration",
                           {{"ranks simulated", fmt::format("{}", timeline.ranks_simulated)}}};
  iteration.with_figures = true;
  if (range.low < range.high) {
    summary.figures.front().detail = range_text(Unit::seconds, range.low, range.high);
    // Explains the brackets on the console; the page has none.
    const std::string text(kStepRangeText);
    iteration.rows.push_back({"in brackets", text, {}, ShownOn::console});
    iteration.rows.push_back({"interval", text, {}, ShownOn::page});
  }
  SummarySection path{group_title("iteration.critical_path_s"), {}};
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

// Overrides may repeat settings that the traces were exported with. `completed`: keys that
// machine_of() added.
void check_scenario(const Case& read, const RankPlan& import, std::string_view completed) {
  for (const ResolvedValue& value : read.values) {
    if (value.is_default || is_taken(value.key) || value.key == completed) continue;
    const std::string text = text_of(value);
    if (std::ranges::find(import.scenario, text) != import.scenario.end()) continue;
    throw Error(read.places.fault_at(value.key),
                fmt::format("{}, which has no effect on traces: these already contain computation "
                            "and messages, and a scenario only adds cluster, calibration, fold and "
                            "communication.collectives, fidelity and law; leave it out",
                            text));
  }
}

ExitCode import_traces(const ImportOptions& options) {
  const bool profiles = are_profiles(options.files);
  const bool on_machine = !options.scenario.empty() || !options.cluster.empty();
  const bool chooses = !options.set.empty() || !options.vary.empty() || options.replicas > 1;
  if (!on_machine && chooses) {
    throw Error(
        "--set, --vary and --replicas need a --scenario, which is missing; with execution traces "
        "--set also works with a --cluster");
  }
  if (profiles && !options.cluster.empty()) {
    throw Error(
        "--cluster is for execution traces; a profiler's trace is compared with the job of a "
        "--scenario");
  }
  if (!profiles && options.replicas > 1) {
    throw Error("--replicas is for profiler traces");
  }
  if (!profiles && !options.vary.empty()) {
    throw Error("--vary is for profiler traces");
  }
  if (options.files.size() == 1 && is_fault_log(options.files.front())) {
    if (on_machine) {
      throw Error("a log of faults needs no --scenario or --cluster; leave them out");
    }
    return import_faults(options.files.front(), options.fault, options.output);
  }
  if (options.fault.nodes > 0 || options.fault.days > 0) {
    throw Error("--nodes and --days are for a log of faults, FILE.csv");
  }
  if (profiles) {
    return import_profiles({.files = options.files,
                            .scenario = options.scenario,
                            .set = parse_overrides(options.set),
                            .vary = parse_varied(options.vary),
                            .replicas = options.replicas,
                            .out = options.fault.out,
                            .output = options.output});
  }
  if (!options.fault.out.empty()) {
    throw Error("--out is for a log of faults, FILE.csv, and for profiler traces");
  }
  if (!on_machine) {
    throw Error(
        "--cluster is missing: execution traces need a machine, e.g. --cluster '2 x dgx-h100', or "
        "that of a --scenario (logs of faults, FILE.csv, and profiler traces need none)");
  }
  const Case read = machine_of(options);
  const Job& job = read.job;
  RankPlan import = read_traces(options, read);
  check_machine(read, import.plan, machine_name(options));
  check_scenario(read, import, options.cluster.empty() ? "" : "precision");
  const FigureRange range = import.foreign ? step_range(read, import.plan) : FigureRange{};
  const Timeline timeline = time_on_machine(read, import.plan, import.foreign);
  // Uses only what follows from the timeline, because the traces may be of another job.
  const IterationReport report =
      iteration_report(job, {}, {}, import.plan, timeline, critical_path(import.plan, timeline));
  hand_out(import_answer(options, import, timeline, report, range), options.output);
  return ExitCode::ok;
}

// Options for a log of faults; for an export they need --faults.
template <class Fault>
std::vector<Option> add_watch(const CommandLine& app, Fault& fault, const std::string& otherwise) {
  return {app.add_option("--nodes", fault.nodes, "nodes of the log of faults; " + otherwise)
              .check(whole_in(1, 10'000'000)),
          app.add_option("--days", fault.days, "length of the log of faults; " + otherwise)
              .check(number_in(1e-6, 36500))};
}

Handler define_export(const CommandLine& app) {
  auto to = std::make_shared<ExportOptions>();
  app.add_option("SCENARIO", to->scenario, "scenario file (YAML)").required();
  app.add_option("--out", to->out,
                 "write NAME.RANK.et into this folder; with --faults: the file to write", "DIR")
      .required();
  Option ranks =
      app.add_option("--ranks", to->ranks,
                     "all (default), or one-per-class: only the first of the ranks that run the "
                     "same tasks; windtunnel can restore the others, but other programs cannot",
                     "WHICH")
          .check(one_of("kind of ranks", ranks_words()));
  app.add_set(to->set);
  Option force = app.add_flag("--force", to->force, "replace the traces of an earlier export");
  Option faults =
      app.add_flag("--faults", to->faults,
                   "simulate the scenario's failures instead and write them as a log of faults")
          .excludes(ranks)
          .excludes(force);
  for (const Option& option : add_watch(app, to->fault, "default: the scenario's")) {
    option.needs(faults);
  }
  app.add_option("--seed", to->fault.seed, "seed of the log of faults; default: the campaign's")
      .needs(faults);
  add_example(app, "scenarios/small.yaml --ranks one-per-class --out traces");
  return [to] { return export_traces(*to); };
}

Handler define_import(const CommandLine& app) {
  auto from = std::make_shared<ImportOptions>();
  app.add_option(
         "TRACE", from->files,
         "Chakra traces NAME.RANK.et (or .json), or their folder; traces of PyTorch's profiler "
         "(.json, .json.gz) or Nsight Systems (.sqlite), one file per rank, or their folder; or a "
         "log of faults to be fitted: FILE.csv, output of sacct -P or sacctmgr -P show event, a "
         "kernel log with Xids, or output of promtool query range for DCGM_FI_DEV_XID_ERRORS")
      .required();
  Option scenario = app.add_option("--scenario", from->scenario,
                                   "scenario that gives cluster and calibration", "SCENARIO");
  app.add_option("--cluster", from->cluster,
                 "the machine on which execution traces run, instead of a scenario: nodes or GPUs, "
                 "e.g. '2 x dgx-h100'",
                 "N x NODE")
      .excludes(scenario);
  app.add_set(from->set);
  app.add_option("--vary", from->vary,
                 "profiler traces: also predict the scenario, with the calibration from the trace, "
                 "at these values of a key, e.g. schedule=1f1b,zb-h1; repeated, every combination "
                 "is predicted",
                 "KEY=A,B,C")
      .repeatable();
  add_answer_output(app, from->output);
  app.add_option("--replicas", from->replicas,
                 "profiler traces: run this many copies of the job side by side, with data "
                 "parallelism across them")
      .check(whole_in(1, 100'000));
  add_watch(app, from->fault, "default: as the file says");
  app.add_option("--out", from->fault.out,
                 "folder for results: for a log of faults plain.csv, arrivals.csv, repairs.csv and "
                 "the fitted failures.yaml; for profiler traces a calibration.yaml",
                 "DIR");
  add_example(app, "traces --cluster '2 x dgx-h100'");
  return [from] { return import_traces(*from); };
}

}  // namespace

Handler define_trace(const CommandLine& app) {
  const CommandLine write = app.add_subcommand(
      "export",
      "write the tasks of a scenario as MLCommons Chakra execution traces, or its failures as a "
      "log of faults");
  const CommandLine read = app.add_subcommand(
      "import",
      "simulate MLCommons Chakra execution traces on the machine of a scenario, or fit a log of "
      "node faults");
  const Handler to = define_export(write);
  const Handler from = define_import(read);
  add_example(app, "export scenarios/small.yaml --ranks one-per-class --out traces");
  app.require_subcommand(1, 1);
  return [to, from, write] { return write.parsed() ? to() : from(); };
}

}  // namespace windtunnel
