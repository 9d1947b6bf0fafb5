// windtunnel compare: simulates a scenario at every combination of the varied values.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "report/console/console.hpp"
#include "report/figures/figure_text.hpp"
#include "report/json/json.hpp"
#include "report/page/comparison_page.hpp"
#include "report/page/drawing.hpp"
#include "report/page/page.hpp"
#include "report/store/sweep_store.hpp"
#include "report/summary/summary.hpp"
#include "scenarios/language/company.hpp"
#include "scenarios/language/overrides.hpp"
#include "sim/study/simulate.hpp"
#include "sim/study/simulate_company.hpp"
#include "traces/perfetto/perfetto.hpp"

namespace windtunnel {
namespace {

struct CompareOptions {
  std::string scenario;
  std::vector<std::string> set;
  std::vector<std::string> vary;
  std::string out;
  AnswerOutput output;
  bool timing = false;
  bool allow_oom = false;
  int threads = 0;
};

struct Outcome {
  Comparison comparison;
  std::vector<std::optional<Error>> faults;  // [point] none if it has a record
  std::vector<Json> drawings;  // [point]; null without a record or without an output folder
};

// Simulates points in any order, several in parallel; each writes only its own results.
class Simulation {
 public:
  Simulation(const CompareOptions& options, LoadedScenario scenario, std::vector<VariedKey> vary)
      : options_(options),
        scenario_(std::move(scenario)),
        points_(cross_product(vary)),
        folders_(point_folders(points_)),
        threads_(options.threads > 0 ? options.threads : processors()) {
    outcome_.comparison.vary = std::move(vary);
    outcome_.comparison.points.resize(points_.size());
    outcome_.faults.resize(points_.size());
    outcome_.drawings.resize(points_.size());
  }

  Outcome run() {
    progress_.show(fmt::format("[0/{}]", points_.size()));
    for_each_index(points_.size(), threads_, [this](size_t i) {
      simulate_point(i);
      const std::scoped_lock lock(mutex_);
      progress_.show(fmt::format("[{}/{}] {}", ++done_, points_.size(), set_text(points_[i])));
    });
    return std::move(outcome_);
  }

  const std::vector<std::string>& folders() const { return folders_; }

 private:
  static int processors() { return static_cast<int>(std::thread::hardware_concurrency()); }

  // An Error makes the point infeasible; any other exception is our bug and ends the run.
  void simulate_point(size_t i) {
    ComparedPoint& point = outcome_.comparison.points[i];
    point.set = points_[i];
    try {
      SimulateOptions simulate_options;
      simulate_options.threads = std::max(1, threads_ / static_cast<int>(points_.size()));
      simulate_options.allow_oom = options_.allow_oom || scenario_.allow_oom;
      // Tables show no advice on intervals; pages and documents of the points do.
      const bool shown = !options_.out.empty() || options_.output.json;
      simulate_options.depth = shown ? StudyDepth::intervals : StudyDepth::campaign;
      point.record = simulate(scenario_.at(points_[i]), simulate_options);
    } catch (const Error& error) {
      outcome_.faults[i] = as_varied(error, points_[i]);
      point.reason = outcome_.faults[i]->what();
      return;
    }
    if (!options_.out.empty()) write_point(i, *point.record);
    // Frees thousands of tasks per rank that no table shows.
    point.record->plan = {};
    point.record->timeline.ranks.clear();
    point.record->critical_path.clear();
  }

  void write_point(size_t i, const Record& record) {
    const std::string folder = options_.out + "/" + folders_[i];
    prepare_folder(folder);
    write_file(folder + "/" + kRecordFile, json_text(page_document(record), -1));
    std::ostringstream trace;
    const RecordedStep shown = recorded_step(record);
    write_perfetto(trace, record.plan, record.timeline,
                   {.label = shown.label, .shows = shown.sentence});
    write_file(folder + "/trace.json", trace.str());
    outcome_.drawings[i] = drawing_of(record, {.max_spans = spans_per_point(points_.size())});
  }

  const CompareOptions& options_;
  const LoadedScenario scenario_;
  const std::vector<Overrides> points_;
  const std::vector<std::string> folders_;
  const int threads_;
  Outcome outcome_;
  Progress progress_;
  std::mutex mutex_;
  size_t done_ = 0;
};

// If every point fails for the same reason, regardless of the value, the fault is not in the varied
// values.
void throw_if_all_fail_alike(const Outcome& outcome) {
  const std::optional<Error>& first = outcome.faults.front();
  const bool alike = std::ranges::all_of(outcome.faults, [&](const std::optional<Error>& fault) {
    return fault && first && fault->text() == first->text();
  });
  if (alike) throw Error(*first);
}

// Returns the list of files written.
std::string write_folder(const Outcome& outcome, const std::vector<std::string>& folders,
                         const Answer& answer, const std::string& out) {
  write_file(out + "/compare.json", json_text(with_schema(answer.kind, answer.document())));
  const Json document = comparison_document(outcome.comparison, outcome.drawings, folders);
  write_file(out + "/" + kRecordFile, json_text(document, -1));
  write_file(out + "/report.html", comparison_page(document));
  return fmt::format(
      "\nwrote {0}/report.html, {0}/compare.json, {0}/record.json, and for each point that ran a "
      "folder with its record.json and trace.json (for ui.perfetto.dev)\n",
      out);
}

void add_jobs(const std::string& set, const CompanyReport& report, TextTable& table) {
  for (const CompanyJob& job : report.jobs) {
    table.rows.push_back({set, job.alone.scenario, value_text(Unit::seconds, job.alone_s()),
                          value_text(Unit::seconds, job.together_s()),
                          fmt::format("{:.4f}", job.slowdown),
                          fmt::format("{:.4f} .. {:.4f}", job.least_slowdown, job.most_slowdown)});
  }
}

// Several jobs on one cluster: a row for each point and job, or the reason why a point is
// infeasible. Points run one after the other, because each simulates several starts in parallel.
// Throws the first point's Error if all points are infeasible.
ExitCode compare_jobs(const ScenarioText& of_all, const std::vector<VariedKey>& vary,
                      const CompareOptions& options) {
  if (!options.out.empty()) {
    throw Error(
        "--out: a comparison of several jobs writes no folder; use --json, or `windtunnel run "
        "--out` for one of the points");
  }
  SimulateOptions simulate_options;
  simulate_options.threads = options.threads;
  simulate_options.allow_oom = options.allow_oom;
  TextTable table{{{"set"},
                   {"job"},
                   {"step alone", Align::right},
                   {"together", Align::right},
                   {"slowdown", Align::right},
                   {"over starts", Align::right}},
                  {}};
  const std::vector<Overrides> wanted = cross_product(vary);
  Json points = Json::array();
  SummarySection infeasible{"Infeasible", {}};
  std::optional<Error> first;
  Progress progress;
  for (const Overrides& point : wanted) {
    progress.show(fmt::format("[{}/{}] {}", points.size(), wanted.size(), set_text(point)));
    Json& document = points.emplace_back(Json::object());
    for (const auto& [key, value] : point) document["set"][key] = value;
    ScenarioText scenario = of_all;
    scenario.set.insert(scenario.set.end(), point.begin(), point.end());
    try {
      Company company = resolve_company(scenario);
      for (Case& each : company.jobs) each.file = std::filesystem::absolute(each.file);
      const CompanyReport report = simulate_company(company, simulate_options);
      document["result"] = company_document(report, options.timing);
      add_jobs(set_text(point), report, table);
    } catch (const Error& error) {
      if (!first) first = as_varied(error, point);
      document["reason"] = error.what();
      infeasible.rows.push_back({set_text(point), error.what()});
    }
  }
  progress.wipe();
  if (table.rows.empty()) throw Error(*first);
  Answer answer{.title = {},
                .subtitle = {},
                .figures = {},
                .sections = {{"", {}, std::move(table)}},
                .kind = "company-compare",
                .document = [&]() -> Json {
                  return {{"points", points}};
                }};
  if (!infeasible.rows.empty()) answer.sections.push_back(std::move(infeasible));
  hand_out(answer, options.output);
  return ExitCode::ok;
}

ExitCode compare(const CompareOptions& options) {
  std::vector<VariedKey> vary = parse_varied(options.vary);
  LoadedScenario scenario = load_scenario(options.scenario, parse_overrides(options.set));
  if (has_jobs(scenario.text)) return compare_jobs(scenario.text, vary, options);
  Simulation simulation(options, std::move(scenario), std::move(vary));
  if (!options.out.empty()) prepare_folder(options.out, kSweepFile);
  const Outcome outcome = simulation.run();
  throw_if_all_fail_alike(outcome);
  const Comparison& comparison = outcome.comparison;
  const Answer answer = compare_answer(comparison, options.timing);
  std::string written;
  if (!options.out.empty()) {
    written = write_folder(outcome, simulation.folders(), answer, options.out);
  }
  hand_out(answer, options.output, beside(written));
  const bool any = std::ranges::any_of(
      comparison.points, [](const ComparedPoint& point) { return point.record.has_value(); });
  return any ? ExitCode::ok : outcome.faults.front()->code();
}

}  // namespace

Handler define_compare(const CommandLine& app) {
  auto options = std::make_shared<CompareOptions>();
  app.add_option("SCENARIO", options->scenario, "scenario file (YAML)").required();
  app.add_option(
         "--vary", options->vary,
         "values of a key; repeated, every combination is run. Commas inside brackets, braces and "
         "quotes do not separate values; KEY=all means every name that the key accepts",
         "KEY=A,B,C")
      .repeatable()
      .required();
  app.add_set(options->set);
  app.add_option(
      "--out", options->out,
      "write report.html, compare.json, and the record and trace of each point into this folder",
      "DIR");
  add_answer_output(app, options->output, "--page");
  app.add_flag("--timing", options->timing, "also print how long each simulation took");
  app.add_flag("--allow-oom", options->allow_oom, "also simulate points that do not fit in memory");
  app.add_threads(options->threads, "points simulated at a time (default: all cores)");
  add_example(app, "scenarios/llama3-405b.yaml --vary layout.vpp=1,2,4,8");
  return [options] { return compare(*options); };
}

}  // namespace windtunnel
