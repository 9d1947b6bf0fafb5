// windtunnel run: simulates one scenario and reports the result.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <sstream>

#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "report/console/console.hpp"
#include "report/figures/idle_keys.hpp"
#include "report/json/json.hpp"
#include "report/page/company_page.hpp"
#include "report/page/page.hpp"
#include "report/store/sweep_store.hpp"
#include "report/summary/summary.hpp"
#include "sim/study/simulate_company.hpp"
#include "traces/perfetto/perfetto.hpp"

namespace windtunnel {
namespace {

struct RunOptions {
  std::string scenario;
  std::vector<std::string> set;
  std::string out;
  AnswerOutput output;
  bool timing = false;
  bool explain = false;
  bool allow_oom = false;
  bool unused = false;
  int threads = 0;
};

// Returns the list of files written, and what the trace leaves out.
std::string write_folder(const Record& record, const std::string& folder) {
  const Json document = page_document(record);
  write_file(folder + "/" + kRecordFile, json_text(document, -1));
  write_file(folder + "/report.html", html_page(document));
  std::ostringstream trace;
  const RecordedStep shown = recorded_step(record);
  const int left_out = write_perfetto(trace, record.plan, record.timeline,
                                      {.label = shown.label, .shows = shown.sentence});
  write_file(folder + "/trace.json", trace.str());
  std::string text = fmt::format(
      "\nwrote {0}/report.html, {0}/trace.json (for ui.perfetto.dev), {0}/record.json\n", folder);
  if (!shown.sentence.empty()) text += fmt::format("trace.json: {}\n", shown.sentence);
  if (left_out > 0) {
    const size_t recorded = record.timeline.ranks.size();
    text += fmt::format("trace.json contains only the first {} of {} recorded ranks\n",
                        recorded - left_out, recorded);
  }
  return text;
}

std::string timing_text(const Record& record) {
  return fmt::format("\nsimulated in {:.2f} s, peak memory {:.0f} MB\n", record.wall_s,
                     record.peak_rss_bytes / 1e6);
}

Record simulate_with_progress(const Case& the_case, const RunOptions& options, bool allow_oom) {
  Progress progress;
  SimulateOptions simulate_options;
  simulate_options.threads = options.threads;
  simulate_options.allow_oom = allow_oom;
  simulate_options.depth = StudyDepth::advice;
  simulate_options.progress = [&](const std::string& step) { progress.show(step); };
  return simulate(the_case, simulate_options);
}

std::vector<Note> idle_keys_of(const Case& the_case, const RunOptions& options) {
  Progress progress;
  progress.show("trying without each key");
  return idle_keys(the_case, [&](const Case& each) {
    return simulate(each,
                    {.threads = options.threads, .allow_oom = true, .depth = StudyDepth::campaign});
  });
}

// Writes a folder for each job below `folder`.
std::string write_company(const CompanyReport& report, const std::string& folder) {
  const Json document = company_page_document(report);
  write_file(folder + "/" + kRecordFile, json_text(document, -1));
  write_file(folder + "/report.html", company_page(document));
  std::string text = fmt::format("\nwrote {0}/report.html, {0}/record.json\n", folder);
  for (std::size_t j = 0; j < report.jobs.size(); ++j) {
    const std::string own = fmt::format("{}/job-{}", folder, j);
    prepare_folder(own);
    text += write_folder(report.jobs[j].alone, own);
  }
  return text;
}

ExitCode run_company(const ScenarioText& scenario, const RunOptions& options) {
  if (options.explain) {
    throw Error("--explain explains a single job; use it with the file of one of the jobs");
  }
  Company company = resolve_company(scenario);
  for (Case& each : company.jobs) each.file = std::filesystem::absolute(each.file);
  if (!options.out.empty()) prepare_folder(options.out, kSweepFile);
  Progress progress;
  SimulateOptions simulate_options;
  simulate_options.threads = options.threads;
  simulate_options.allow_oom = options.allow_oom;
  simulate_options.progress = [&](const std::string& step) { progress.show(step); };
  const CompanyReport report = simulate_company(company, simulate_options);
  progress.wipe();
  std::string written;
  if (!options.out.empty()) written = write_company(report, options.out);
  Answer answer = summarise(report);
  answer.kind = "company";
  answer.document = [&] { return company_document(report, options.timing); };
  hand_out(answer, options.output, beside(written));
  return ExitCode::ok;
}

ExitCode run(const RunOptions& options) {
  const LoadedScenario scenario = load_scenario(options.scenario, parse_overrides(options.set));
  if (has_jobs(scenario.text)) return run_company(scenario.text, options);
  const Case the_case = scenario.at();
  if (!options.out.empty()) prepare_folder(options.out, kSweepFile);
  if (options.explain) {
    print_human(explain_text(the_case.values, human_style(options.output.json)),
                options.output.json);
  }
  Record record =
      simulate_with_progress(the_case, options, options.allow_oom || scenario.allow_oom);
  if (options.unused)
    std::ranges::move(idle_keys_of(the_case, options), std::back_inserter(record.notes));
  std::string written;
  if (!options.out.empty()) written = write_folder(record, options.out);
  Answer answer = summarise(record);
  answer.kind = "run";
  answer.document = [&] { return run_document(record, options.timing); };
  hand_out(answer, options.output, (options.timing ? timing_text(record) : "") + beside(written));
  return ExitCode::ok;
}

}  // namespace

Handler define_run(const CommandLine& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("SCENARIO", options->scenario,
                 "scenario file (YAML), or the record.json of an earlier run, to repeat that run")
      .required();
  app.add_set(options->set);
  app.add_option("--out", options->out,
                 "write report.html, trace.json and record.json into this folder", "DIR");
  add_answer_output(app, options->output, "--page");
  app.add_flag("--timing", options->timing, "also print how long the simulation took");
  app.add_flag("--explain", options->explain,
               "print every value with its origin, those of the scenario first");
  app.add_flag("--unused", options->unused,
               "also run without each key in turn, and list the keys that change no figure");
  app.add_flag("--allow-oom", options->allow_oom, "simulate even if it does not fit in memory");
  app.add_threads(options->threads, "threads of the campaign (default: all cores)");
  add_example(app, "scenarios/llama3-405b.yaml --set layout.vpp=2 --out out");
  return [options] { return run(*options); };
}

}  // namespace windtunnel
