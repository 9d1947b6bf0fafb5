#include "traces/profile/profile_reader.hpp"

#include <charconv>
#include <filesystem>
#include <string_view>

#include "traces/profile/kineto.hpp"
#include "traces/profile/nsight.hpp"

namespace windtunnel {
namespace {

// At the start of `text`, behind blanks and dashes; -1: there is none, or it is no rank.
RankId leading_rank(std::string_view text) {
  while (!text.empty() && (text[0] == '-' || text[0] == '_' || text[0] == ' ')) {
    text.remove_prefix(1);
  }
  RankId rank = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), rank);
  constexpr RankId kMostRanks = 10'000'000;
  return parsed.ec == std::errc() && rank >= 0 && rank < kMostRanks ? rank : -1;
}

RankId rank_in_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  const std::size_t word = name.rfind("rank");
  if (word != std::string::npos) return leading_rank(std::string_view(name).substr(word + 4));
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    const std::size_t next = name.find('.', dot + 1);
    if (next == std::string::npos) break;
    const std::string_view part = std::string_view(name).substr(dot + 1, next - dot - 1);
    const bool digits = part.find_first_not_of("0123456789") == std::string_view::npos;
    if (!part.empty() && digits && part.size() < 8) return leading_rank(part);
  }
  return -1;
}

}  // namespace

bool is_profile(const std::string& path) {
  return path.ends_with(".json") || path.ends_with(".json.gz") || path.ends_with(".sqlite");
}

RankProfile read_profile(const std::string& path) {
  RankProfile profile = path.ends_with(".sqlite") ? read_nsight(path) : read_kineto(path);
  if (profile.rank < 0) profile.rank = rank_in_name(path);
  return profile;
}

}  // namespace windtunnel
