#include "validate/accuracy/schedules/printed_schedule.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "policies/schedules/schedules.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

struct OtherName {
  std::string_view printed;
  std::string_view name;
};

// Names in tables of rows that the table of schedules does not have.
constexpr std::array kOtherNames{
    OtherName{"1f1b-i", "interleaved-1f1b"},
    OtherName{"interleaved", "interleaved-1f1b"},
    OtherName{"eager1f1b", "eager-1f1b"},
    OtherName{"loopedbfs", "looped-bfs"},
    OtherName{"zbv", "zb-v"},
    OtherName{"seq1f1b-i", "seq1f1b"},
};

std::string plain(std::string_view text) {
  std::string name(text.substr(0, text.find('(')));
  while (!name.empty() && (name.back() == ' ' || name.back() == '*')) name.pop_back();
  for (char& c : name) c = c == '_' ? '-' : static_cast<char>(std::tolower(c));
  return name;
}

}  // namespace

std::optional<PrintedSchedule> printed_schedule(std::string_view text) {
  std::string name = plain(text);
  for (const OtherName& other : kOtherNames) {
    if (other.printed == name) name = other.name;
  }
  const auto& kinds = schedule_kinds();
  const bool known = std::any_of(kinds.begin(), kinds.end(),
                                 [&](const ScheduleKind& kind) { return kind.name == name; });
  if (!known) return std::nullopt;
  const bool zero_bubble = name.starts_with("zb-") || name.starts_with("v-");
  // From the authors' scripts: --pipe-sp-splits 4.
  const int slices = name == "seq1f1b" ? 4 : 1;
  return PrintedSchedule{name, zero_bubble && !contains_text(text, "all-reduce"), slices};
}

}  // namespace windtunnel
