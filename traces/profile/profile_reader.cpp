#include "traces/profile/profile_reader.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <initializer_list>
#include <string_view>

#include "traces/profile/captured_steps.hpp"
#include "traces/text/input_file.hpp"

namespace windtunnel {
namespace {

// Returns the rank at the start of `text`, after blanks, dashes and underscores; -1 if there is
// none.
RankId leading_rank(std::string_view text) {
  while (!text.empty() && (text[0] == '-' || text[0] == '_' || text[0] == ' ')) {
    text.remove_prefix(1);
  }
  RankId rank = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), rank);
  return parsed.ec == std::errc() && rank >= 0 && rank < kMostRanks ? rank : -1;
}

// Finds the number after the word "rank", or in the last part between dots: "t.3.json".
RankId rank_in_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  std::string_view stem = name;
  for (std::size_t at = stem.rfind("rank"); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : stem.rfind("rank", at - 1)) {
    const bool is_word = at == 0 || std::isalpha(static_cast<unsigned char>(stem[at - 1])) == 0;
    if (is_word) return leading_rank(stem.substr(at + 4));
  }
  for (const std::string_view end : {".gz", ".json", ".sqlite", ".trace", ".pt"}) {
    if (stem.ends_with(end)) stem.remove_suffix(end.size());
  }
  const std::size_t dot = stem.rfind('.');
  if (dot == std::string_view::npos) return -1;
  const std::string_view last = stem.substr(dot + 1);
  const bool digits = last.find_first_not_of("0123456789") == std::string_view::npos;
  return digits && last.size() < 8 ? leading_rank(last) : -1;  // longer numbers are times
}

}  // namespace

bool is_profile(const std::string& path) {
  return path.ends_with(".json") || path.ends_with(".json.gz") || path.ends_with(".sqlite");
}

bool begins_as_profile(const std::string& path) {
  if (!path.ends_with(".json")) return true;
  const std::string begin = beginning_of(path, 4096);
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"\"traceEvents\"", "\"schemaVersion\"",
                                              "\"deviceProperties\"", "\"distributedInfo\""},
      [&](std::string_view key) { return begin.find(key) != std::string::npos; });
}

RankProfile read_profile(const std::string& path) {
  RankProfile profile = path.ends_with(".sqlite") ? read_nsight(path) : read_kineto(path);
  if (profile.rank < 0) profile.rank = rank_in_name(path);
  return profile;
}

TrainingLog profile_log(const std::string& path) {
  const CapturedRank captured = captured_steps(read_profile(path));
  if (!captured.annotated && captured.steps.size() < 2) {
    throw Error(Location{path},
                "marks no steps, and there are no optimizer kernels that would separate steps; "
                "call step() of the profiler after each step");
  }
  TrainingLog log;
  log.file = path;
  log.software = {"a profiler"};
  for (const CapturedStep& captured_step : captured.steps) {
    LoggedStep step;
    step.iteration = static_cast<int>(log.steps.size()) + 1;
    const double seconds = captured_step.seconds();
    step.values[static_cast<std::size_t>(LogQuantity::step_s)] = {seconds, seconds};
    log.steps.push_back(step);
  }
  return log;
}

}  // namespace windtunnel
