#include "cli/trace/trace_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "policies/analysis/rank_step.hpp"
#include "report/captured/captured_report.hpp"
#include "report/console/console.hpp"
#include "sim/study/simulate.hpp"
#include "traces/profile/kineto.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

bool is_profile(const std::string& path) {
  return path.ends_with(".json") || path.ends_with(".json.gz");
}

std::vector<std::string> profiles_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (is_profile(at->path().string())) files.push_back(at->path().string());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> files_of(const std::vector<std::string>& named) {
  std::error_code error;
  const bool folder = named.size() == 1 && fs::is_directory(named.front(), error);
  return folder ? profiles_in(named.front()) : named;
}

// By rank; of a single file that does not say it is 0.
std::vector<RankProfile> read_profiles(const std::vector<std::string>& files) {
  std::map<RankId, RankProfile> by_rank;
  Progress progress;
  for (std::size_t i = 0; i < files.size(); ++i) {
    progress.show(fmt::format("[{}/{}] reading {}", i + 1, files.size(), files[i]));
    RankProfile profile = read_kineto(files[i]);
    if (profile.rank < 0 && files.size() == 1) profile.rank = 0;
    if (profile.rank < 0) {
      throw Error(Location{files[i]},
                  "does not say which rank it is of (distributedInfo), and "
                  "there are several files");
    }
    const RankId rank = profile.rank;
    const auto [other, is_new] = by_rank.try_emplace(rank, std::move(profile));
    if (!is_new) {
      throw Error(Location{files[i]},
                  fmt::format("is of rank {}, and so is {}", rank, other->second.file));
    }
  }
  std::vector<RankProfile> profiles;
  for (auto& [rank, profile] : by_rank) profiles.push_back(std::move(profile));
  return profiles;
}

}  // namespace

bool are_profiles(const std::vector<std::string>& files) {
  std::error_code error;
  if (files.size() == 1 && fs::is_directory(files.front(), error)) {
    return !profiles_in(files.front()).empty();
  }
  return std::ranges::all_of(files, is_profile);
}

ExitCode import_profiles(const ProfileImport& options) {
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
                  fmt::format("is of rank {}; the job of {} has {} ranks", rank, options.scenario,
                              predicted.plain.plan.ranks));
    }
    answer.scenario = options.scenario;
    answer.predicted = rank_step(the_case->job, predicted.plain.plan, predicted.plain.timeline,
                                 predicted.report.time_s, rank);
  }
  if (options.json) print_document("trace-capture", capture_document(answer));
  print_human(summary_text(capture_summary(answer), human_style(options.json)), options.json);
  return ExitCode::ok;
}

}  // namespace windtunnel
