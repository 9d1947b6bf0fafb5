#include "report/validation/sample_fault_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace windtunnel {
namespace {

std::string rows_text(const std::vector<std::string>& rows) {
  constexpr std::size_t kShown = 3;
  if (rows.empty()) return "";
  const std::span shown = std::span(rows).first(std::min(kShown, rows.size()));
  const std::size_t others = rows.size() - shown.size();
  return fmt::format(" ({}{})", fmt::join(shown, ", "),
                     others > 0 ? fmt::format(" and {} others", others) : "");
}

std::string line_of(const SampleFault& fault) {
  return fmt::format("{}, {}: {}", to_string(fault.severity), fault.kind, fault.what);
}

}  // namespace

Json sample_faults_json(std::span<const SampleFault> faults) {
  Json list = Json::array();
  for (const SampleFault& fault : faults) {
    list.push_back({{"kind", fault.kind},
                    {"severity", to_string(fault.severity)},
                    {"rows", fault.rows},
                    {"what", fault.what},
                    {"advice", fault.advice}});
  }
  return list;
}

std::string sample_faults_text(std::span<const SampleFault> faults) {
  std::string text;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    text += fmt::format("{}{}\n", line_of(faults[i]), rows_text(faults[i].rows));
    const bool last = i + 1 == faults.size() || faults[i + 1].kind != faults[i].kind;
    if (last) text += fmt::format("  {}\n", faults[i].advice);
  }
  return text;
}

std::string sample_faults_comment(std::span<const SampleFault> faults) {
  std::string text;
  for (const SampleFault& fault : faults) {
    std::string line = line_of(fault);
    std::ranges::replace(line, '\n', ' ');
    text += fmt::format("# {}\n", line);
  }
  return text;
}

}  // namespace windtunnel
