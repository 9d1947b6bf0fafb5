#include "report/figures/shown_studies.hpp"

#include <algorithm>

namespace windtunnel {

std::span<const ShownStudy> shown_studies(StudyRole role) {
  static const std::vector<ShownStudy> beside = {shown_volunteers(), shown_fused(), shown_power()};
  static const std::vector<ShownStudy> leading = {shown_rollout()};
  return role == StudyRole::beside ? beside : leading;
}

const ShownStudy* leading_study(const Record& record) {
  const auto all = shown_studies(StudyRole::leading);
  const auto found =
      std::ranges::find_if(all, [&](const ShownStudy& study) { return study.is_in(record); });
  return found == all.end() ? nullptr : &*found;
}

void add_figures(const Record& record, std::string_view prefix, SummarySection& section,
                 std::string (*text)(const Figure& figure, const Record& record)) {
  for (const Figure* each : figures_below(prefix)) {
    const std::string value = text(*each, record);
    if (!value.empty()) section.rows.push_back({each->title, value});
  }
}

std::string plain_text(const Figure& figure, const Record& record) {
  return figure.text(record);
}

}  // namespace windtunnel
