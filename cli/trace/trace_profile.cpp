#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/trace/trace_parts.hpp"
#include "policies/analysis/rank_step.hpp"
#include "report/captured/captured_report.hpp"
#include "scenarios/language/library/calibration_writer.hpp"
#include "sim/study/simulate.hpp"
#include "traces/chakra/chakra.hpp"
#include "traces/chakra/rank_plan.hpp"
#include "traces/profile/profile_reader.hpp"
#include "traces/profile/profile_tasks.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

// None if the folder contains Chakra traces.
std::vector<std::string> profiles_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    if (path.ends_with(".et")) return {};  // execution traces, whatever else is in the folder
    if (is_profile(path) && begins_as_profile(path) && !is_chakra_json(path)) {
      files.push_back(path);
    }
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> files_of(const std::vector<std::string>& named) {
  std::error_code error;
  const bool folder = named.size() == 1 && fs::is_directory(named.front(), error);
  return folder ? profiles_in(named.front()) : named;
}

// Sorted by rank; a single file that does not tell its rank has rank 0.
std::vector<RankProfile> read_profiles(const std::vector<std::string>& files) {
  std::map<RankId, RankProfile> by_rank;
  Progress progress;
  for (std::size_t i = 0; i < files.size(); ++i) {
    progress.show(fmt::format("[{}/{}] reading {}", i + 1, files.size(), files[i]));
    RankProfile profile = read_profile(files[i]);
    if (profile.rank < 0 && files.size() == 1) profile.rank = 0;
    if (profile.rank < 0) {
      throw Error(Location{files[i]},
                  "does not say which rank it was recorded on (distributedInfo), but there are "
                  "several files");
    }
    const RankId rank = profile.rank;
    const auto [other, is_new] = by_rank.try_emplace(rank, std::move(profile));
    if (!is_new) {
      throw Error(Location{files[i]},
                  fmt::format("is of rank {}, as is {}", rank, other->second.file));
    }
  }
  std::vector<RankProfile> profiles;
  for (auto& [rank, profile] : by_rank) profiles.push_back(std::move(profile));
  return profiles;
}

// The same step on another rank: by name if the program marks steps, else by position.
const CapturedStep* find_step(const CapturedRank& rank, const CapturedStep& step,
                              std::size_t place) {
  if (!rank.annotated) return place < rank.steps.size() ? &rank.steps[place] : nullptr;
  const auto found = std::ranges::find(rank.steps, step.name, &CapturedStep::name);
  return found == rank.steps.end() ? nullptr : &*found;
}

const CapturedStep& same_step(const CapturedRank& rank, const CapturedStep& step, std::size_t place,
                              const std::string& file) {
  const CapturedStep* found = find_step(rank, step, place);
  if (found != nullptr) return *found;
  throw Error(Location{file}, fmt::format("has no {}, as the first rank does", step.name));
}

// The number of ranks if no file states it: enough for the captured ranks and all ranks in their
// groups.
int ranks_of(const RankTrace& trace, const std::vector<RankProfile>& profiles) {
  RankId last = std::max(static_cast<RankId>(profiles.size()) - 1, profiles.back().rank);
  for (const ProcessGroup& group : trace.declared) {
    for (const RankId rank : group.ranks) last = std::max(last, rank);
  }
  return std::min(last, kMostRanks) + 1;
}

Replay replay_on(const Case& on, const ProfileImport& options,
                 const std::vector<RankProfile>& profiles, const CaptureAnswer& answer) {
  const CapturedRank& first = answer.files.front().captured;
  const CapturedStep& step = replayed_step(first);
  const auto place = static_cast<std::size_t>(&step - first.steps.data());
  Replay replay{.scenario = options.scenario,
                .captured_step = step.name,
                .captured_s = step.seconds(),
                .captured_ranks = static_cast<int>(profiles.size())};
  const auto fits = [&](std::int64_t ranks) { check_ranks(on, ranks, options.scenario); };
  std::size_t next = 0;
  int copy = 0;
  RankTrace of_rank;
  RankPlan made = plan_of_ranks(
      [&]() -> std::optional<RankTrace> {
        if (next == profiles.size()) return std::nullopt;
        if (copy == 0) {
          const CapturedRank& rank = answer.files[next].captured;
          const RankProfile& profile = profiles[next];
          ProfileTasks tasks = tasks_of(profile, rank, same_step(rank, step, place, profile.file));
          replay.priced += next == 0 ? tasks.priced : 0;
          replay.as_measured += next == 0 ? tasks.as_measured : 0;
          of_rank = std::move(tasks.trace);
          if (of_rank.ranks == 0) of_rank.ranks = ranks_of(of_rank, profiles);
          fits(std::int64_t{of_rank.ranks} * options.replicas);
          replicate(of_rank, options.replicas);
        }
        RankTrace trace = copy_of(of_rank, copy, options.replicas);
        copy = (copy + 1) % options.replicas;
        if (copy == 0) ++next;
        return trace;
      },
      fits);
  replay.ranks = made.plan.ranks;
  replay.copied = replay.captured_ranks * options.replicas == replay.ranks;
  check_machine(on, made.plan, options.scenario);
  const FigureRange range = step_range(on, made.plan);
  replay.step_s = time_on_machine(on, made.plan).makespan_s;
  replay.low_s = range.low;
  replay.high_s = range.high;
  return replay;
}

std::vector<MatchedRank> tasks_of_ranks(const Case& on, const MeasuredIteration& predicted,
                                        const std::vector<RankProfile>& profiles,
                                        const std::vector<CapturedFile>& files) {
  const auto& [plan, timeline] = std::tie(predicted.plain.plan, predicted.plain.timeline);
  const CapturedRank& first = files.front().captured;
  const CapturedStep& replayed = replayed_step(first);
  const auto place = static_cast<std::size_t>(&replayed - first.steps.data());
  std::vector<MatchedRank> tasks;
  for (std::size_t i = 0; i < profiles.size() && profiles[i].rank < plan.ranks; ++i) {
    const CapturedRank& captured = files[i].captured;
    const CapturedStep* same = find_step(captured, replayed, place);
    const CapturedStep& step = same == nullptr ? replayed_step(captured) : *same;
    tasks.push_back({match_passes(profiles[i], captured, step,
                                  rank_passes(on.job, plan, timeline, profiles[i].rank)),
                     step.seconds(), predicted.report.time_s});
  }
  return tasks;
}

std::string calibration_comment(const ProfileImport& options, const CaptureAnswer& answer) {
  return fmt::format(
      "The calibration of {}, with kernels as in {} (windtunnel trace import). Use: --set "
      "calibration=calibration.yaml",
      options.scenario, fs::path(answer.files.front().file).filename().string());
}

}  // namespace

bool are_profiles(const std::vector<std::string>& files) {
  std::error_code error;
  if (files.size() == 1 && fs::is_directory(files.front(), error)) {
    return !profiles_in(files.front()).empty();
  }
  return std::ranges::all_of(
      files, [](const std::string& path) { return is_profile(path) && !is_chakra_json(path); });
}

ExitCode import_profiles(const ProfileImport& options) {
  if (options.scenario.empty() && !options.out.empty()) {
    throw Error("--out writes the calibration of a --scenario, which is missing");
  }
  std::optional<Case> the_case;
  if (!options.scenario.empty()) the_case = load_scenario(options.scenario, options.set).at();
  const std::vector<RankProfile> profiles = read_profiles(files_of(options.files));
  CaptureAnswer answer;
  for (const RankProfile& profile : profiles) {
    answer.files.push_back(
        {profile.file, profile.rank, profile.ranks, profile.gpu, captured_steps(profile)});
  }
  if (the_case) {
    const MeasuredIteration predicted = measure_iteration(*the_case, {.allow_oom = true});
    const RankId rank = answer.files.front().rank;
    if (rank >= predicted.plain.plan.ranks) {
      throw Error(Location{answer.files.front().file},
                  fmt::format("is of rank {}, but the job of {} has {} ranks", rank,
                              options.scenario, predicted.plain.plan.ranks));
    }
    answer.scenario = options.scenario;
    answer.predicted = rank_step(the_case->job, predicted.plain.plan, predicted.plain.timeline,
                                 predicted.report.time_s, rank);
    answer.tasks = tasks_of_ranks(*the_case, predicted, profiles, answer.files);
    // Steps and comparison are valid without a replay, but --replicas requests one.
    try {
      answer.replay = replay_on(*the_case, options, profiles, answer);
    } catch (const Error& error) {
      if (options.replicas > 1) throw;
      answer.no_replay = error.what();
    }
  }
  if (!options.out.empty() || !options.vary.empty()) {
    const std::string calibration = calibration_text(captured_calibration(the_case->job, answer),
                                                     calibration_comment(options, answer));
    if (!options.out.empty()) {
      prepare_folder(options.out);
      write_file(options.out + "/calibration.yaml", calibration);
    }
    if (!options.vary.empty()) {
      const double traced_s = figures_of(answer.files.front().captured).step_s;
      answer.what_if =
          study_what_if(options.scenario, options.set, calibration, options.vary, traced_s);
    }
  }
  hand_out(capture_answer(answer), options.output);
  return ExitCode::ok;
}

}  // namespace windtunnel
