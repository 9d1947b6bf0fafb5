#include "validate/accuracy/rows/fitted_rows.hpp"

#include <algorithm>
#include <filesystem>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

void add_law(const std::string& name, const InterconnectLaw& law,
             std::vector<FittedNumber>& numbers) {
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    const Parameter& number = law.*field.member;
    if (!number.fitted_on.empty()) {
      numbers.push_back({name + "." + std::string(field.name), false, &number});
    }
  }
}

}  // namespace

std::vector<FittedNumber> fitted_numbers(const Calibration& calibration) {
  std::vector<FittedNumber> numbers;
  for (const CalibrationField& field : calibration_fields()) {
    const Parameter& number = calibration.*field.member;
    if (number.fitted_on.empty()) continue;
    const bool of_memory = field.member == &Calibration::framework_bytes ||
                           field.member == &Calibration::fragmentation ||
                           field.member == &Calibration::memory_error;
    numbers.push_back({std::string(field.name), of_memory, &number});
  }
  add_law("network", calibration.network, numbers);
  if (calibration.node_network) add_law("node_network", *calibration.node_network, numbers);
  return numbers;
}

bool has_columns(const RowFilter& filter, const CsvTable& table) {
  try {
    filter.check(table);
  } catch (const Error&) {
    return false;
  }
  return true;
}

bool is_among(const std::vector<FittedOn>& fitted_on, const CsvTable& table, std::size_t row) {
  const std::string file = std::filesystem::path(table.file()).filename().string();
  return std::ranges::any_of(fitted_on, [&](const FittedOn& rows) {
    if (!rows.file.empty() && rows.file != file) return false;
    if (rows.where.empty()) return true;
    const RowFilter filter = RowFilter::parse(rows.where, "fitted_on");
    return has_columns(filter, table) && filter.matches(table, row);
  });
}

}  // namespace windtunnel
