#include "validate/documents/sample_fault_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace windtunnel {
namespace {

std::string first_rows(const std::vector<std::string>& rows) {
  constexpr std::size_t kShown = 3;
  const std::span shown = std::span(rows).first(std::min(kShown, rows.size()));
  const std::size_t others = rows.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "),
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

TextTable sample_faults_table(std::span<const SampleFault> faults) {
  TextTable table = titled_table("fault | first rows | advice");
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const bool last = i + 1 == faults.size() || faults[i + 1].kind != faults[i].kind;
    table.rows.push_back(
        {line_of(faults[i]), first_rows(faults[i].rows), last ? faults[i].advice : ""});
  }
  return table;
}

std::string sample_faults_text(std::span<const SampleFault> faults) {
  return console_text({"sample_faults", {{"sample_faults", sample_faults_table(faults)}}});
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
