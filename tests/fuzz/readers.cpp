#include "tests/fuzz/readers.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>

#include "cli/mcp/mcp_server.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/override_options.hpp"
#include "models/base/error.hpp"
#include "models/base/find_named.hpp"
#include "report/page/comparison_page.hpp"
#include "report/page/page.hpp"
#include "report/page/sweep_page.hpp"
#include "report/store/sweep_lines.hpp"
#include "report/store/sweep_merge.hpp"
#include "report/text/json_text.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/configs/hugging_face.hpp"
#include "scenarios/language/configs/megatron_arguments.hpp"
#include "scenarios/language/imports/import.hpp"
#include "scenarios/language/library/kernel_laws.hpp"
#include "scenarios/language/library/layer_table_reader.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/library/time_series.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/scenario_text.hpp"
#include "sim/study/diagnose/log_shape.hpp"
#include "traces/chakra/chakra.hpp"
#include "traces/chakra/rank_plan.hpp"
#include "traces/logs/training_log.hpp"
#include "traces/nccl/nccl_tests.hpp"
#include "traces/profile/profile_reader.hpp"
#include "traces/profile/profile_tasks.hpp"
#include "traces/profile/step_passes.hpp"
#include "traces/rows/compression_rows.hpp"
#include "traces/rows/fault_log.hpp"
#include "traces/rows/fault_points.hpp"
#include "traces/rows/samples.hpp"
#include "traces/rows/stage_profile.hpp"
#include "traces/rows/training_runs.hpp"
#include "traces/text/csv.hpp"
#include "traces/text/text.hpp"
#include "traces/torch/torch_schedule.hpp"
#include "validate/accuracy/compression/compression.hpp"
#include "validate/accuracy/kinds/checkpoint_accuracy.hpp"
#include "validate/accuracy/kinds/measured_kind.hpp"
#include "validate/accuracy/pairs/pair_rows.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/schedules/schedule_accuracy.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

const std::string kHere = WINDTUNNEL_SOURCE_DIR "/tests/fuzz/";

ScratchKind& scratch_kind() {
  static ScratchKind kind = ScratchKind::regular;
  return kind;
}

int& scratch_files() {
  static int made = 0;
  return made;
}

void make(const fs::path& path, const std::string& bytes) {
  ++scratch_files();
  switch (scratch_kind()) {
    case ScratchKind::regular:
      std::ofstream(path, std::ios::binary) << bytes;
      return;
    case ScratchKind::pipe:
      CHECK(mkfifo(path.c_str(), 0600) == 0, "no pipe at {}", path.string());
      return;
    case ScratchKind::device:
      fs::create_symlink("/dev/zero", path);
      return;
    case ScratchKind::loop:
      fs::create_symlink(path, path);
      return;
    case ScratchKind::folder:
      fs::create_directory(path);
      return;
    case ScratchKind::missing:
      return;
    case ScratchKind::huge:
      std::ofstream(path, std::ios::binary) << "";
      fs::resize_file(path, std::uintmax_t{3} << 30U);
      return;
  }
}

// Writes a file of these bytes into a folder of this process, or makes what make_scratch_files()
// has chosen instead.
class ScratchFile {
 public:
  ScratchFile(const std::string& name, const std::string& bytes)
      : folder_(scratch_folder(getpid())), path_(folder_ / name) {
    fs::create_directories(folder_);
    make(path_, bytes);
  }
  ~ScratchFile() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::string folder() const { return folder_.string(); }
  std::string path() const { return path_.string(); }

 private:
  fs::path folder_;
  fs::path path_;
};

void read_scenario_text(const std::string& bytes) {
  parse_case(bytes, std::string(WINDTUNNEL_SOURCE_DIR) + "/scenarios/damaged.yaml");
}

// Each line is an argument of --set.
void read_overrides(const std::string& bytes) {
  std::vector<std::string> arguments;
  std::istringstream lines(bytes);
  for (std::string line; std::getline(lines, line);) arguments.push_back(line);
  load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml", parse_overrides(arguments));
}

void read_calibration_text(const std::string& bytes) {
  read_calibration(parse_document(bytes, "calibration.yaml"));
}

void read_kernel_law_text(const std::string& bytes) {
  const ScratchFile file("laws.yaml", bytes);
  read_kernel_laws(file.path());
}

void read_network_text(const std::string& bytes) {
  parse_network_file(bytes, "network.yaml");
}

void read_hugging_face(const std::string& bytes) {
  model_of_hugging_face(bytes, "config.json");
}

void read_megatron_arguments(const std::string& bytes) {
  model_of_megatron_arguments(bytes, "model.args");
}

// Reads the bytes as `windtunnel import` reads a file of that name.
void read_configuration_of(const std::string& name, const std::string& bytes,
                           const Overrides& set = {{"cluster.node", "dgx-h100"}}) {
  const ScratchFile file(name, bytes);
  check_imported(import_scenario({.files = {file.path()}, .kind = "", .set = set}));
}

void read_configuration_script(const std::string& bytes) {
  read_configuration_of("run.sh", bytes);
}

void read_configuration_toml(const std::string& bytes) {
  read_configuration_of("run.toml", bytes, {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "32"}});
}

void read_configuration_yaml(const std::string& bytes) {
  read_configuration_of("run.yaml", bytes);
}

void read_arrivals(const std::string& bytes) {
  const ScratchFile file("times.csv", bytes);
  NamedFiles files(file.folder());
  find_arrival_trace("times.csv", files, {});
}

void read_repairs(const std::string& bytes) {
  const ScratchFile file("times.csv", bytes);
  NamedFiles files(file.folder());
  find_repairs("times.csv", files, {});
}

void read_capacity(const std::string& bytes) {
  const ScratchFile file("spot.csv", bytes);
  NamedFiles files(file.folder());
  const Counts given = read_counts("spot.csv", "nodes", 10'000, files);
  FailureClass failure;
  set_capacity(given.seconds, given.counts, 100, failure);
  check_failure_class(failure);
}

// Reads the bytes as the file "named.csv" that a scenario names.
void read_named(const std::string& scenario, const std::string& bytes) {
  const ScratchFile file("named.csv", bytes);
  parse_case(scenario, file.folder() + "/scenario.yaml");
}

void read_edges_file(const std::string& bytes) {
  read_named(
      "name: edges\nmodel: llama3-8b\n"
      "cluster: {nodes: 2, node: dgx-h100, fabric: {topology: graph, edges_file: named.csv}}\n"
      "layout: {tp: 2, pp: 2}\nbatch: {global: 64}\n",
      bytes);
}

void read_layer_errors(const std::string& bytes) {
  read_named(
      "name: errors\nmodel: mpt-125m\ncluster: {node: dgx-a100, nodes: 2}\n"
      "batch: {global: 16, micro: 1}\n"
      "communication: {compressor: {name: lgreco, errors: named.csv}}\n",
      bytes);
}

void read_quality(const std::string& bytes) {
  read_named(
      "name: quality\nmodel: resnet-50\ncluster: {nodes: 8, node: pcie-rtx2080ti}\n"
      "precision: fp32\nbatch: {global: 256}\njob: {quality: named.csv}\n",
      bytes);
}

// The file is a scenario, or a result of the program in the place of one. A record yields its case;
// a whole comparison or sweep must be refused by an error that says what it is.
void read_given(const std::string& bytes) {
  const ScratchFile file("given.json", bytes);
  try {
    load_scenario(file.path()).at();
  } catch (const Error& error) {
    if (!error.text().starts_with("is of a ")) throw;
  }
}

void read_record(const std::string& bytes) {
  const Json document = parse_json(bytes, "record.json");
  if (is_comparison_document(document)) {
    check_comparison_document(document, "record.json");
    comparison_page(document);
  } else {
    check_page_document(document, "record.json");
    html_page(document);
    summary_of(document);
  }
}

void read_sweep(const std::string& bytes) {
  const Json document = parse_json(bytes, "sweep.json");
  check_sweep_document(document, "sweep.json");
  sweep_page(document);
}

void read_sweep_cases(const std::string& bytes) {
  const SweepPlan plan = parse_cases(bytes, kSweepFile);
  CHECK(parse_cases(cases_text(plan), kSweepFile) == plan, "a sweep changed");
}

void read_sweep_part(const std::string& bytes) {
  const std::string cases = kHere + "corpus/sweep-cases/cases.jsonl";
  const ScratchFile file("part-0.jsonl", bytes);
  const SweepHead head = head_of(parse_cases(read_file(cases), cases));
  sweep_text(merge_lines(file.folder(), head).results);
  merge_lines(file.folder(), head, 2);
}

// One rank of each class is enough, with the table of all ranks.
std::vector<std::string> chakra_bytes(const Plan& plan) {
  const ChakraExport traces(plan, ChakraRanks::one_per_class);
  std::vector<std::string> bytes;
  for (int file = 0; file < traces.files(); ++file) bytes.push_back(traces.content(file));
  return bytes;
}

void read_chakra_file(const std::string& bytes) {
  const ScratchFile file("trace.0.et", bytes);
  const Plan plan = read_chakra({file.path()}).plan;
  const std::vector<std::string> written = chakra_bytes(plan);
  if (written.size() > 1) return;
  const ScratchFile again("again.0.et", written.front());
  CHECK(chakra_bytes(read_chakra({again.path()}).plan) == written, "a plan changed");
}

void read_chakra_json(const std::string& bytes) {
  const ScratchFile file("trace.0.json", bytes);
  read_chakra({file.path()});
}

// The parts of each step must add up to it, and one step becomes a plan or is refused.
void use_profile(RankProfile profile) {
  const CapturedRank captured = captured_steps(profile);
  for (const CapturedStep& step : captured.steps) {
    const double sum_s = step.compute_s + step.exposed_s + step.copy_s + step.idle_s;
    const double far_s = std::max(step.begin_s, step.end_s);  // times are rounded to its precision
    CHECK(std::abs(sum_s - step.seconds()) <= 1e-6 * step.seconds() + 1e-9 * far_s,
          "the parts of a step are {} of {} s", sum_s, step.seconds());
  }
  StepPasses passes = step_passes(profile, captured, median_step(captured.steps));
  if (passes.none.empty() && !passes.annotated) {
    using enum ActionKind;
    split_passes(profile, std::array{forward, forward, backward, forward, backward}, passes);
  }
  for (const CapturedPass& pass : passes.passes) {
    CHECK(!pass.work.empty() && pass.end_s >= pass.start_s && pass.busy_s >= 0,
          "a pass of nothing");
  }
  if (profile.rank < 0) profile.rank = 0;
  bool given = false;
  plan_of_ranks([&]() -> std::optional<RankTrace> {
    if (given) return std::nullopt;
    given = true;
    return tasks_of(profile, captured, median_step(captured.steps)).trace;
  });
}

void read_kineto_file(const std::string& bytes) {
  const ScratchFile file("trace.json", bytes);
  use_profile(read_kineto(file.path()));
}

void read_nsight_file(const std::string& bytes) {
  const ScratchFile file("trace.sqlite", bytes);
  use_profile(read_nsight(file.path()));
}

void read_torch(const std::string& bytes) {
  const TorchSchedule read = parse_torch_schedule(bytes, "schedule.csv");
  const std::string text = torch_schedule_text(read.schedule, true);
  CHECK(torch_schedule_text(parse_torch_schedule(text, "schedule.csv").schedule, true) == text,
        "a schedule changed");
}

// The job gives tokens and FLOPs per step, by which logged rates become times.
void read_training_log_text(const std::string& bytes) {
  const TrainingLog log = parse_training_log(bytes, "run.log");
  const LogShape shape =
      shape_of(log, {.tokens = 1e6, .samples = 128, .gpus = 64, .flops_per_gpu = 1e15});
  CHECK(shape.median_s > 0 && shape.steps > 0 && shape.level_s() >= shape.calm_s(), "steps of {} s",
        shape.median_s);
}

void read_stage_profile(const std::string& bytes) {
  const ScratchFile file("profiles.csv", bytes);
  read_stage_profiles(file.path());
}

// Rows that cannot be predicted are skipped with a reason; the first reason is thrown.
void read_schedule_rows(const std::string& bytes) {
  const ScratchFile file("oracle.csv", bytes);
  const ValidationReport report = validate_schedules({file.path()});
  if (!report.skipped.empty()) throw Error(report.skipped.front().reason);
}

// Each row is a job, and the header tells the kind by which it is judged.
void judge_measured_rows(const std::string& bytes) {
  const ScratchFile file("rows.csv", bytes);
  std::vector<CsvFault> faults;
  const CsvTable table = CsvTable::parse(bytes, file.path(), &faults);
  for (const MeasuredKind& kind : measured_kinds()) {
    const auto has = [&](const std::string& column) { return table.has(column); };
    if (!std::ranges::all_of(kind.columns, has)) continue;
    const ValidationReport report = kind.judge({.files = {file.path()}, .where = {}});
    if (!report.skipped.empty()) throw Error(report.skipped.front().reason);
    return;
  }
  throw Error("these columns belong to no kind of rows");
}

// Each line is a message to the server of the Model Context Protocol. Every answer must be
// JSON-RPC; the first refusal is thrown.
void read_mcp_messages(const std::string& bytes) {
  CommandPage page;
  page.path = "run";
  page.options = {{.names = {"SCENARIO"}, .positional = true, .kind = ValueKind::scenario},
                  {.names = {"--set"}, .kind = ValueKind::key, .list = true},
                  {.names = {"--workers"}, .kind = ValueKind::text, .numeric = true},
                  {.names = {"--timing"}}};
  std::mutex sending;
  std::vector<std::string> sent;
  {
    McpServer server(
        {{"run", "runs", page}},
        [](const McpTool& tool, const Json& arguments, const std::atomic<bool>&) {
          return ToolOutcome{false, command_of(tool, arguments, "/folder").words.back()};
        },
        [&](const std::string& line) {
          const std::scoped_lock lock(sending);
          sent.push_back(line);
        });
    std::istringstream lines(bytes);
    for (std::string line; std::getline(lines, line);) server.receive(line);
  }
  std::string refusal;
  for (const std::string& line : sent) {
    const Json answer = Json::parse(line, nullptr, false);
    CHECK(answer.is_object() && answer.value("jsonrpc", "") == "2.0", "answered {}", line);
    CHECK(answer.contains("result") != answer.contains("error"), "answered {}", line);
    if (refusal.empty() && answer.contains("error")) refusal = answer["error"]["message"];
  }
  if (!refusal.empty()) throw Error(refusal);
}

std::vector<std::string> paths_in(const std::string& folder) {
  std::vector<std::string> paths;
  if (fs::exists(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const std::string& path : paths_in(folder)) files.push_back(read_file(path));
  return files;
}

}  // namespace

void make_scratch_files(ScratchKind kind) {
  scratch_kind() = kind;
}

int scratch_files_made() {
  return scratch_files();
}

const std::vector<Reader>& readers() {
  static const std::vector<Reader> kReaders = {
      {"scenario",
       read_scenario_text,
       {"scenarios/small.yaml", "scenarios/llama3-405b.yaml",
        "scenarios/bert-large-compressors.yaml", "scenarios/mixtral-shared-nics.yaml",
        "scenarios/protection-gemini.yaml", "scenarios/headlines/flexsp.yaml"}},
      {"overrides", read_overrides},
      {"calibration",
       read_calibration_text,
       {"scenarios/library/calibrations/h100-published.yaml"}},
      {"kernel-laws", read_kernel_law_text},
      {"network", read_network_text, {"scenarios/models/mlp.yaml"}},
      {"arrivals", read_arrivals},
      {"repairs", read_repairs},
      {"capacity", read_capacity},
      {"edges", read_edges_file},
      {"hugging-face", read_hugging_face},
      {"megatron-arguments", read_megatron_arguments},
      {"configuration-script",
       read_configuration_script,
       {"tests/scenarios/imports/files/megatron-lm/llama3-8b-fp8.sh",
        "tests/scenarios/imports/files/megatron-deepspeed/bloom-176b.slurm",
        "tests/scenarios/imports/files/megatron-bridge/llama3-70b-h100.sh"}},
      {"configuration-toml",
       read_configuration_toml,
       {"tests/scenarios/imports/files/torchtitan/llama3-70b-2d.toml",
        "tests/scenarios/imports/files/torchtitan/llama3-405b.toml"}},
      {"configuration-yaml",
       read_configuration_yaml,
       {"tests/scenarios/imports/files/nemo/gpt3-175b.yaml",
        "tests/scenarios/imports/files/nemo/mixtral-8x7b.yaml",
        "tests/scenarios/imports/files/nanotron/tiny-llama.yaml"}},
      {"layer-errors", read_layer_errors},
      {"quality", read_quality},
      {"given",
       read_given,
       {"scenarios/small.yaml", "tests/fuzz/corpus/record/run.json",
        "tests/fuzz/corpus/record/compare.json", "tests/fuzz/corpus/sweep-cases/cases.jsonl"}},
      {"record", read_record, {}, true},
      {"sweep", read_sweep, {}, true},
      {"sweep-cases", read_sweep_cases, {}, true},
      {"sweep-part", read_sweep_part},
      {"chakra", read_chakra_file, {}, true},
      {"chakra-json", read_chakra_json},
      {"kineto", read_kineto_file, {"examples/traces/kineto/rank-0.pt.trace.json.gz"}},
      {"nsight", read_nsight_file},
      {"torch-schedule",
       read_torch,
       {"tests/data/zb1p_2rank_2stagep_compute.csv", "tests/data/zb1p_2rank_2stagep_comms_old.csv",
        "tests/data/dualpipev_4rank_10mb.csv"}},
      {"training-log", read_training_log_text, {"examples/logs/llama3-8b.log"}},
      {"mcp", read_mcp_messages},
      {"nccl-log",
       [](const std::string& bytes) { parse_nccl_tests(bytes, "all_reduce_perf.log", {}); }},
      {"nccl-json",
       [](const std::string& bytes) { parse_nccl_tests(bytes, "all_gather_perf.json", {}); },
       {},
       true},
      {"collective-rows",
       [](const std::string& bytes) { pair_machines(parse_collective_rows(bytes, "rows.csv")); },
       {"tests/data/collectives.csv"}},
      {"training-runs",
       [](const std::string& bytes) { parse_training_runs(bytes, "runs.csv"); },
       {"tests/data/memory_runs.csv", "tests/data/zero_bubble_runs.csv"}},
      {"fault-log",
       [](const std::string& bytes) { parse_fault_logs(bytes, "log.csv"); },
       {"tests/data/infinitehbd_faults.csv"}},
      {"fault-points",
       [](const std::string& bytes) { parse_fault_points(bytes, "points.csv"); },
       {"tests/data/fault_reference_points.csv"}},
      {"checkpoint-rows",
       [](const std::string& bytes) { parse_checkpoint_rows(bytes, "times.csv"); },
       {"tests/data/checkpoint_times.csv"}},
      {"measured-rows", judge_measured_rows},
      {"compression-runs",
       [](const std::string& bytes) { parse_compression_runs(bytes, "runs.csv"); },
       {"tests/data/exchange_runs.csv"}},
      {"quantised-rows",
       [](const std::string& bytes) { validate_quantised(CsvTable::parse(bytes, "rows.csv")); },
       {"tests/data/quantised_all_reduce.csv"}},
      {"row-filter", [](const std::string& bytes) { RowFilter::parse(bytes, "--where"); }},
      {"samples",
       [](const std::string& bytes) { parse_samples(bytes, "samples.csv"); },
       {"tests/data/kernel_samples.csv"}},
      {"stage-profiles", read_stage_profile, {"tests/data/zero_bubble_rates.csv"}},
      {"schedule-rows",
       read_schedule_rows,
       {"tests/data/schedule_oracle.csv", "tests/data/zero_bubble_rates.csv"}},
  };
  return kReaders;
}

const Reader& find_reader(std::string_view name) {
  return find_named(readers(), "reader", name);
}

std::vector<std::string> whole_files(const Reader& reader) {
  std::vector<std::string> files = files_in(kHere + "corpus/" + std::string(reader.name));
  for (const std::string_view path : reader.files) {
    files.push_back(read_file(WINDTUNNEL_SOURCE_DIR "/" + std::string(path)));
  }
  return files;
}

std::vector<std::string> found_files(const Reader& reader) {
  return files_in(kHere + "found/" + std::string(reader.name));
}

std::vector<std::string> reader_folders() {
  std::set<std::string> names;
  for (const char* kind : {"corpus", "found"}) {
    for (const std::string& path : paths_in(kHere + kind)) {
      names.insert(fs::path(path).filename().string());
    }
  }
  return {names.begin(), names.end()};
}

std::string scratch_folder(int process) {
  return fs::temp_directory_path() / ("windtunnel-fuzz-" + std::to_string(process));
}

}  // namespace windtunnel
