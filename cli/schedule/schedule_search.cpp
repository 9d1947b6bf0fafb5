// windtunnel schedule search: finds the best order of a pipeline's actions under a memory limit,
// and a bound on how much better any order could be.
#include "policies/search/schedule_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "cli/program/answer_output.hpp"
#include "cli/program/interruption.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "cli/schedule/schedule_command.hpp"
#include "cli/schedule/schedule_source.hpp"
#include "models/base/units.hpp"
#include "policies/iteration.hpp"
#include "report/json/json.hpp"
#include "report/text/table.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"
#include "traces/torch/torch_schedule.hpp"

namespace windtunnel {
namespace {

struct ScheduleSearchOptions {
  std::shared_ptr<ScheduleSourceOptions> source;
  std::string objective = "longest-stage";
  double waiting_share = 0.5;
  double effort = 20;
  double seconds = 0;
  std::uint64_t seed = 1;
  int threads = 0;
  std::string out;
  AnswerOutput output;
};

constexpr std::array<const char*, 3> kNotSearched = {"--group", "--slices", "--defer-weights"};

// Memory left for activations on the fullest rank.
double memory_left(const Case& the_case) {
  const double capacity = the_case.job.cluster.node.gpu.memory_bytes.value;
  double left = std::numeric_limits<double>::infinity();
  for (const GpuMemory& memory : the_case.prepared->memory) {
    left = std::min(left, capacity - (memory.total() - memory.activations));
  }
  if (left > 0) return left;
  throw Error("weights, gradients and optimizer state alone do not fit in GPU memory",
              ExitCode::failed);
}

// Makes a source with this many chunks per rank. Its schedule only carries the numbers.
ScheduleSource source_of(const ScheduleSearchOptions& options, int chunks) {
  ScheduleSourceOptions source = *options.source;
  const double memory_limit = source.memory_limit;
  if (source.scenario.empty()) {
    if (!(memory_limit >= 0)) throw Error("--memory-limit: must be at least 0");
    source.what = chunks == 1 ? "1f1b" : "looped-bfs";
    source.chunks = chunks;
    source.memory_limit = 0;
  }
  ScheduleSource loaded = load_schedule_source(source);
  ScheduleRequest& request = loaded.request;
  if (request.slices != 1 || loaded.schedule.directions != 1 || loaded.schedule.iterations != 1) {
    throw Error(
        fmt::format("schedule '{}' of the scenario has slices, directions or several iterations, "
                    "which a search does not support",
                    loaded.schedule.name));
  }
  request.group = 0;
  if (source.scenario.empty()) {
    request.memory_limit = memory_limit;
    for (StageCost& cost : request.costs) {
      cost.weight_activation =
          options.waiting_share * (source.recompute ? cost.recomputed : cost.activation);
    }
  } else if (request.memory_limit == 0) {
    request.memory_limit = memory_left(*loaded.the_case);
    loaded.notes.push_back(fmt::format("memory limit: the {} that GPUs have free for activations",
                                       format_bytes(request.memory_limit)));
  }
  return loaded;
}

SearchOptions search_options(const ScheduleSearchOptions& options) {
  SearchOptions search;
  search.objective =
      options.objective == "makespan" ? SearchObjective::makespan : SearchObjective::longest_stage;
  search.effort = options.effort * 1e6;
  search.seconds = options.seconds;
  search.seed = options.seed;
  search.threads = options.threads;
  search.stop = &Interruption::asked();
  return search;
}

// The simulated step; infinite if ranks would wait for each other forever with the scenario's way
// to send messages.
double played_step_s(const Case& the_case, const Schedule& order) {
  Case played = the_case;
  played.job.schedule = {};
  played.job.schedule.imported = std::make_shared<const Schedule>(order);
  played.job.campaign.length_s = 0;
  try {
    played.prepared = std::make_shared<const PreparedIteration>(prepare_iteration(played.job));
    return measure_iteration(played, {.allow_oom = true}).report.time_s;
  } catch (const Error&) {
    return std::numeric_limits<double>::infinity();
  }
}

// [name] Simulated step, in seconds, of each order found, on the scenario's network. The fastest
// becomes the best of `result`. Orders that are much slower even without a network are skipped.
std::map<std::string, double> play_orders(const ScheduleSource& source, SearchResult& result) {
  constexpr std::size_t kMost = 24;
  constexpr double kNotWorthIt = 1.5;  // relative to the best
  std::map<std::string, double> steps_s;
  double fastest_s = std::numeric_limits<double>::infinity();
  for (const FoundOrder& order : result.orders) {
    if (order.value_s > kNotWorthIt * result.value_s || steps_s.size() == kMost) break;
    if (steps_s.contains(order.name) || Interruption::asked()) continue;
    const double step_s = played_step_s(*source.the_case, order.schedule);
    if (step_s == std::numeric_limits<double>::infinity()) continue;
    steps_s[order.name] = step_s;
    if (step_s >= fastest_s) continue;
    fastest_s = step_s;
    result.schedule = order.schedule;
    result.found_by = order.name;
    result.value_s = order.value_s;
  }
  const auto found = std::ranges::find(result.candidates, result.found_by, &SearchCandidate::name);
  if (!steps_s.empty()) result.evaluation = found->evaluation;
  return steps_s;
}

class Printer {
 public:
  Printer(const ScheduleSource& source, const SearchResult& result,
          const std::map<std::string, double>& played_s)
      : source_(source), result_(result), played_s_(played_s) {}

  SummarySection section(SearchObjective objective) const {
    return {"What was found, and the lower bounds", rows(objective), table()};
  }

  Json document(const ScheduleSearchOptions& options) const {
    const ScheduleRequest& request = source_.request;
    Json document = {{"ranks", request.ranks},         {"microbatches", request.microbatches},
                     {"chunks", request.chunks},       {"memory_limit", request.memory_limit},
                     {"objective", options.objective}, {"found_by", result_.found_by}};
    document["best"] = figures(result_.evaluation);
    document["bound_s"] = result_.bound_s;
    document["bound_because"] = result_.bound_because;
    document["gap"] = std::max(0.0, result_.gap());
    document["stopped"] = result_.stopped;
    document["candidates"] = list_json(result_.candidates, [&](const SearchCandidate& candidate) {
      Json row = MEMBERS_JSON(candidate, name, fits);
      row.update(figures(candidate.evaluation));
      if (const auto played = played_s_.find(candidate.name); played != played_s_.end()) {
        row["simulated_step_s"] = played->second;
      }
      return row;
    });
    document["searched"] = kSearched;
    document["left_out"] = list_json(result_.left_out, [&](const LeftOutOrder& at) {
      Json row = {{"name", at.order.name}, {"fits", at.order.fits}, {"why", at.why}};
      row.update(figures(at.order.evaluation));
      return row;
    });
    return document;
  }

 private:
  std::string time(double seconds) const {
    return source_.in_seconds ? format_seconds(seconds) : fmt::format("{:.6g}", seconds);
  }
  std::string amount(double activation) const {
    return source_.in_bytes ? format_bytes(activation) : fmt::format("{:.4g}", activation);
  }

  std::vector<SummaryRow> rows(SearchObjective objective) const {
    const ScheduleEvaluation& best = result_.evaluation;
    std::vector<SummaryRow> rows = {
        {"searched", kSearched},
        {"best", fmt::format("{}{}", result_.found_by, result_.stopped ? " (stopped early)" : "")},
        {"makespan", time(best.makespan_s)},
        {"longest stage", time(best.longest_stage_s)},
        {"bubble, longest stage", fmt::format("{}  {}", time(best.bubble_longest_stage_s()),
                                              format_percent(best.bubble_longest_stage_rate()))},
        {"bubble, makespan", time(best.bubble_makespan_s())},
        {"peak activations", amount(*std::ranges::max_element(best.peak_activation))},
        {objective == SearchObjective::makespan ? "makespan, lower bound"
                                                : "longest stage, lower bound",
         fmt::format("{}  ({})", time(result_.bound_s), result_.bound_because)},
        {"gap", fmt::format("{:.3g} %", 100 * std::max(0.0, result_.gap()))}};
    if (const auto played = played_s_.find(result_.found_by); played != played_s_.end()) {
      rows.insert(rows.begin() + 2, {"simulated step", time(played->second)});
    }
    if (const LeftOutOrder* faster = faster_left_out(objective)) {
      rows.push_back(
          {"faster, not searched",
           fmt::format("{}: {} ({}); the bound does not apply to such orders", faster->order.name,
                       time(objective_s(faster->order.evaluation, objective)), faster->why)});
    }
    return rows;
  }

  // Returns the fastest order that the search left out, if it fits and beats the best; else null.
  const LeftOutOrder* faster_left_out(SearchObjective objective) const {
    if (result_.left_out.empty()) return nullptr;
    const LeftOutOrder& first = result_.left_out.front();
    const bool faster =
        first.order.fits && objective_s(first.order.evaluation, objective) < result_.value_s;
    return faster ? &first : nullptr;
  }

  TextTable table() const {
    TextTable table{{{"candidate"},
                     {"longest stage", Align::right},
                     {"bubble", Align::right},
                     {"makespan", Align::right},
                     {"peak activations", Align::right},
                     {"fits"}},
                    {}};
    const auto add = [&](const SearchCandidate& at) {
      table.rows.push_back({at.name, time(at.evaluation.longest_stage_s),
                            format_percent(at.evaluation.bubble_longest_stage_rate()),
                            time(at.evaluation.makespan_s), amount(at.peak_activation),
                            at.fits ? "yes" : "no"});
    };
    for (const SearchCandidate& at : result_.candidates) add(at);
    if (!played_s_.empty()) {
      table.columns.push_back({"simulated step", Align::right});
      for (auto& row : table.rows) {
        const auto played = played_s_.find(row.front());
        row.push_back(played == played_s_.end() ? "-" : time(played->second));
      }
    }
    if (result_.left_out.empty()) return table;
    for (auto& row : table.rows) row.push_back("yes");
    table.columns.push_back({"searched"});
    for (const LeftOutOrder& at : result_.left_out) {
      add(at.order);
      if (!played_s_.empty()) table.rows.back().push_back("-");
      table.rows.back().push_back(fmt::format("no: {}", at.why));
    }
    return table;
  }

  static Json figures(const ScheduleEvaluation& evaluation) {
    return {{"makespan_s", evaluation.makespan_s},
            {"longest_stage_s", evaluation.longest_stage_s},
            {"bubble_rate", evaluation.bubble_longest_stage_rate()},
            {"peak_activation", evaluation.peak_activation}};
  }

  const ScheduleSource& source_;
  const SearchResult& result_;
  const std::map<std::string, double>& played_s_;  // empty: nothing was simulated
};

// The page analyses the best order as `schedule show` does.
Answer answer_of(const ScheduleReport& best, SummarySection found, MakesJson document) {
  Answer answer = schedule_answer(best);
  for (SummarySection& section : answer.sections) section.where = ShownOn::page;
  answer.sections.insert(answer.sections.begin() + 1, std::move(found));
  answer.kind = "schedule-search";
  answer.document = std::move(document);
  return answer;
}

// One and two chunks per rank are both tried, unless the user or the scenario states the number.
std::vector<int> chunks_to_try(const ScheduleSourceOptions& options) {
  if (!options.scenario.empty()) return {0};
  if (options.chunks > 0) return {options.chunks};
  return {1, 2};
}

ExitCode search(const ScheduleSearchOptions& options) {
  check_output_file(options.out, {options.source->scenario});
  for (const char* name : kNotSearched) {
    if (std::ranges::find(options.source->given, name) != options.source->given.end()) {
      throw Error(fmt::format("{}: a search takes none", name));
    }
  }
  std::optional<ScheduleSource> best_source;
  std::optional<SearchResult> best;
  std::string fault;
  {
    const Interruption interruption;
    Progress progress;
    for (const int chunks : chunks_to_try(*options.source)) {
      if (best && Interruption::asked()) break;
      ScheduleSource source = source_of(options, chunks);
      SearchOptions search = search_options(options);
      search.progress = [&](const std::string& step) {
        progress.show(fmt::format("{} chunks per rank: {}", source.request.chunks, step));
      };
      try {
        SearchResult result = search_schedule(source.request, search);
        if (best && result.value_s >= best->value_s) continue;
        best = std::move(result);
        best_source = std::move(source);
      } catch (const Error& error) {
        if (fault.empty()) fault = error.what();
      }
    }
  }
  if (!best) throw Error(fault);
  const std::map<std::string, double> played_s = play_orders(*best_source, *best);
  const Printer printer(*best_source, *best, played_s);
  if (!options.out.empty()) write_file(options.out, torch_schedule_text(best->schedule));
  const ScheduleRequest& request = best_source->request;
  ScheduleReport report = analysed(*best_source, best->schedule);
  report.title = fmt::format(
      "The best order found: {} ranks, {} micro-batches, {} chunk{} per rank", request.ranks,
      request.microbatches, request.chunks, request.chunks == 1 ? "" : "s");
  hand_out(answer_of(report, printer.section(search_options(options).objective),
                     [&] { return printer.document(options); }),
           options.output);
  return ExitCode::ok;
}

}  // namespace

Handler define_schedule_search(const CommandLine& app) {
  auto options = std::make_shared<ScheduleSearchOptions>();
  options->source = add_schedule_source(app);
  // A search does not start from a schedule, so it has no use for these options.
  app.remove_option("SCHEDULE");
  app.remove_option("--dialect");
  for (const char* name : kNotSearched) app.option(name).hide();
  app.add_option(
         "--objective", options->objective,
         "what to minimise: longest-stage (default; what counts with post-validation) or makespan",
         "NAME")
      .check(one_of("objective", {"longest-stage", "makespan"}));
  app.add_option("--waiting-share", options->waiting_share,
                 "share of the activations that is kept until the weight gradient (default 0.5)",
                 "SHARE")
      .check(number_in(0.0, 1.0));
  app.add_option("--effort", options->effort,
                 "millions of actions that the local search evaluates (default 20)", "N")
      .check(number_in(0.0, 1e9));
  app.add_option("--seconds", options->seconds,
                 "end the local search after this time; the result may then differ from run to run",
                 "S")
      .check(number_in(0.0, 1e9));
  app.add_option("--seed", options->seed, "seed of the local search (default 1)", "N");
  app.add_option("--out", options->out, "write the best schedule as a torch CSV", "FILE.csv");
  add_answer_output(app, options->output);
  app.add_threads(options->threads,
                  "threads (default: all cores); the result does not depend on it");
  add_example(app, "--ranks 4 --microbatches 8 --times 1,1,1 --out best.csv");
  return [options] { return search(*options); };
}

}  // namespace windtunnel
