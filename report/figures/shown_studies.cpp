#include "report/figures/shown_studies.hpp"

#include <algorithm>

namespace windtunnel {

std::span<const ShownStudy> shown_studies() {
  static const std::vector<ShownStudy> all = {shown_volunteers(), shown_fused(), shown_power(),
                                              shown_rollout()};
  return all;
}

std::span<const ShownStudy> shown_studies(StudyRole role) {
  constexpr std::size_t kLeading = 1;  // at the end of all
  const std::span<const ShownStudy> all = shown_studies();
  return role == StudyRole::leading ? all.last(kLeading) : all.first(all.size() - kLeading);
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
