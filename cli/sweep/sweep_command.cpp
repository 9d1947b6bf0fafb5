#include "cli/sweep/sweep_command.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <set>
#include <utility>

#include "cli/program/interruption.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "cli/program/shell_line.hpp"
#include "models/base/units.hpp"
#include "models/base/version.hpp"
#include "report/page/page.hpp"
#include "report/page/sweep_page.hpp"
#include "report/store/sweep_lines.hpp"
#include "report/store/sweep_merge.hpp"
#include "report/store/sweep_ranking.hpp"
#include "report/summary/notes.hpp"
#include "traces/text/input_file.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

int shard_number(const std::string& text, const std::string& shard) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    throw Error(fmt::format("--shard '{}': expected I/N or auto/N, as in 0/4 to 3/4", shard));
  }
  return number;
}

std::string launcher_index() {
  for (const char* name : kIndexVariables) {
    if (const char* value = std::getenv(name)) return value;
  }
  throw Error(fmt::format("--shard auto: none of {} is set; give the index: 0/N, 1/N, ...",
                          fmt::join(kIndexVariables, ", ")));
}

// Prints the notes on the scenario, each once.
void say_notes(const std::vector<SweepCase>& cases) {
  std::vector<Note> said;
  for (const SweepCase& each : cases) {
    if (each.read == nullptr) continue;
    for (const Note& note : each.read->notes) {
      if (std::ranges::find(said, note) != said.end()) continue;
      said.push_back(note);
      print_human(fmt::format("note: {}: {}\n", note.key, note_text(note)), true);
    }
  }
}

SweepPlan plan_of(const SweepGrid& grid, int threads) {
  if (grid.scenario.empty())
    throw Error("expected a SCENARIO: windtunnel sweep SCENARIO --vary ...");
  if (grid.vary.empty()) throw Error("--vary is required: it says what the sweep varies");
  if (grid.out.empty()) throw Error("--out is required: a sweep writes its points into a folder");
  SweepPlan plan;
  plan.version = program_build();
  plan.sweep.scenario = load_scenario(grid.scenario, parse_overrides(grid.set)).text;
  // Absolute, so that the sweep can be resumed from another folder.
  plan.sweep.scenario.file = fs::absolute(plan.sweep.scenario.file).lexically_normal();
  if (grid.replicas > 0) {
    plan.sweep.scenario.set.emplace_back("campaign.replicas", std::to_string(grid.replicas));
  }
  plan.sweep.vary = parse_varied(grid.vary);
  Progress progress;
  progress.show(fmt::format("checking {} points", grid_size(plan.sweep)));
  plan.cases = sweep_cases(plan.sweep, threads);
  say_notes(plan.cases);
  return plan;
}

// Shows "[120/400] 35 s left" on a terminal's line. Without a terminal, if a log is requested,
// prints it as a new line at intervals.
class PointProgress {
 public:
  PointProgress(size_t points, bool log)
      : points_(points), log_(log && isatty(STDERR_FILENO) != 1) {}

  void say(const std::string& step) {
    const std::string text = fmt::format("[{}/{}] {}", done_, points_, step);
    line_.show(text);
    if (log_) last_ = text;
  }
  void finished_one() {
    ++done_;
    const auto now = std::chrono::steady_clock::now();
    const double per_point_s = Seconds(now - begin_).count() / static_cast<double>(done_);
    const double left_s = per_point_s * static_cast<double>(points_ - done_);
    say(done_ == points_ ? fmt::format("after {}", format_seconds(Seconds(now - begin_).count()))
                         : fmt::format("{} left", format_seconds(left_s)));
    const bool due = done_ == 1 || done_ == points_ || Seconds(now - said_).count() >= kLogEveryS;
    if (!log_ || !due) return;
    said_ = now;
    print_human(fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {}\n", fmt::gmtime(std::time(nullptr)), last_),
                true);
  }

 private:
  using Seconds = std::chrono::duration<double>;
  static constexpr double kLogEveryS = 30;

  const size_t points_;
  const bool log_;
  size_t done_ = 0;
  std::string last_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point said_ = begin_;
  Progress line_;
};

// The last line of each shard's log, by file name.
std::string logs_text(const std::string& folder) {
  std::map<std::string, std::string> last;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("shard-") || !name.ends_with(".log")) continue;
    InputLines log(entry.path());
    for (std::string line; log.next(line);) {
      if (!trimmed(line).empty()) last[name] = line;
    }
  }
  std::string text;
  for (const auto& [name, line] : last) text += fmt::format("{}: {}\n", name, line);
  return text;
}

// The path of the sweep's cases; throws Error if the sweep was not begun.
std::string begun(const std::string& folder) {
  std::string path = cases_path(folder);
  if (fs::exists(path)) return path;
  throw Error(Location{path},
              "there is no such file: begin a sweep with `windtunnel sweep SCENARIO --vary ... "
              "--out DIR` or `windtunnel sweep expand`");
}

void check_version(const std::string& path, const std::string& version) {
  if (version == program_build()) return;
  throw Error(
      Location{path},
      fmt::format(
          "the sweep was begun by version {}, but this is {}; their results must not be mixed",
          version, program_build()));
}

std::string resume_line(const std::string& folder) {
  return fmt::format("windtunnel sweep resume {}", shell_word(folder));
}

}  // namespace

SweepShard parse_shard(const std::string& text) {
  const size_t slash = text.find('/');
  std::string index = text.substr(0, slash);
  const std::string count = slash == std::string::npos ? "" : text.substr(slash + 1);
  if (index == "auto") index = launcher_index();
  const SweepShard shard{shard_number(index, text), shard_number(count, text)};
  if (shard.index >= shard.count) {
    throw Error(fmt::format("--shard '{}': there is no part {} of {}; parts are counted from 0",
                            text, shard.index, shard.count));
  }
  return shard;
}

SweepPlan begin_sweep(const SweepGrid& grid, int threads) {
  SweepPlan plan = plan_of(grid, threads);
  prepare_folder(grid.out, kRecordFile);
  const std::string path = cases_path(grid.out);
  if (!fs::exists(path)) {
    write_cases(plan, path);
    return plan;
  }
  const std::string difference = difference_of(read_cases(path), plan);
  if (difference.empty()) return plan;
  throw Error(Location{path},
              fmt::format("the folder already contains another sweep: {}; take another folder with "
                          "--out, or continue the old sweep: {}",
                          difference, resume_line(grid.out)));
}

SweepPlan open_sweep(const std::string& folder) {
  const std::string path = begun(folder);
  SweepPlan plan = read_cases(path);
  check_version(path, plan.version);
  return plan;
}

SweepHead open_head(const std::string& folder) {
  const std::string path = begun(folder);
  SweepHead head = read_head(folder);
  check_version(path, head.version);
  return head;
}

ExitCode run_shard(const std::string& folder, const SweepPlan& plan, const SweepShard& shard,
                   int threads, const ShardOutput& output) {
  std::vector<SweepCase> cases = shard_of(plan.cases, shard.index, shard.count);
  size_t finished = 0;
  {
    const SweepLines lines(folder, head_of(plan));
    finished = lines.finished();
    std::erase_if(cases, [&](const SweepCase& each) { return lines.has(each.index); });
  }
  if (cases.empty()) return ExitCode::ok;
  size_t done = 0;
  {
    const Interruption interruption;
    SweepPart part(folder, shard.index, output.write_once);
    PointProgress progress(cases.size(), output.log);
    SweepOptions options;
    options.threads = threads;
    options.stop = &Interruption::asked();
    options.progress = [&](const std::string& step) { progress.say(step); };
    options.finished = [&](const SweepPoint& point) {
      part.append(point_line(plan.sweep, plan.cases[point.index], point));
      ++done;
      progress.finished_one();
    };
    run_sweep(plan.sweep, cases, options);
    part.finish();
  }
  if (done == cases.size()) return ExitCode::ok;
  print_failure(fmt::format("interrupted: {} of {} points are finished; continue with: {}\n",
                            finished + done, plan.cases.size(), resume_line(folder)));
  return ExitCode::incomplete;
}

ExitCode merge_sweep(const std::string& folder, bool json) {
  const SweepHead head = open_head(folder);
  MergedSweep merged = merge_lines(folder, head);
  SweepResults& results = merged.results;
  const bool any_ran = std::ranges::any_of(results.points(), has_result);
  std::string text = sweep_text(results, human_style(json));
  write_file(folder + "/report.html", sweep_page(results.document));
  // The document of thousands of points is moved, because a copy of it takes 100 MB.
  const std::string document = json_text(with_schema("sweep", std::move(results.document)));
  write_file(folder + "/sweep.json", document);
  if (json) print_result(document);
  text += beside(fmt::format(
      "\nwrote report.html, results.sqlite, results.jsonl and sweep.json in {}\n", folder));
  if (!merged.missing.empty()) {
    text +=
        fmt::format("{} of {} points are missing: {}; run them with: {}\n", merged.missing.size(),
                    head.keys.size(), ranges_text(merged.missing), resume_line(folder));
  }
  print_human(text, json);
  if (!merged.missing.empty()) return ExitCode::incomplete;
  return any_ran ? ExitCode::ok : ExitCode::failed;
}

ExitCode show_sweep_status(const std::string& folder, bool json, bool logs) {
  const SweepLines lines(folder, open_head(folder));
  const std::vector<int> missing = lines.missing();
  if (json) {
    print_document(
        "sweep-status",
        {{"points", lines.points()}, {"finished", lines.finished()}, {"missing", missing}});
  } else {
    print_result(fmt::format("{} of {} points are finished{}\n", lines.finished(), lines.points(),
                             missing.empty() ? "" : "; missing: " + ranges_text(missing)));
    if (logs) print_human(logs_text(folder), false);
  }
  return missing.empty() ? ExitCode::ok : ExitCode::incomplete;
}

}  // namespace windtunnel
