#include "report/figures/shown_studies.hpp"

#include <algorithm>

namespace windtunnel {

std::span<const ShownStudy> shown_studies() {
  static const std::vector<ShownStudy> all = [] {
    std::vector<ShownStudy> studies = {shown_volunteers(), shown_fused(), shown_power(),
                                       shown_rollout()};
    std::ranges::stable_sort(studies, {}, &ShownStudy::role);  // those beside a job first
    return studies;
  }();
  return all;
}

std::span<const ShownStudy> shown_studies(StudyRole role) {
  const std::span<const ShownStudy> all = shown_studies();
  const auto beside =
      static_cast<std::size_t>(std::ranges::count(all, StudyRole::beside, &ShownStudy::role));
  return role == StudyRole::leading ? all.subspan(beside) : all.first(beside);
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
