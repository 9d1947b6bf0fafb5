#include "scenarios/language/library/calibration_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/base/units.hpp"
#include "scenarios/language/library/kernel_laws.hpp"

namespace windtunnel {
namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// YAML's double-quoted form, which can express every character.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (is_control(c)) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

// Writes the value in a readable unit if that text reads back exactly, else in the base unit.
std::string quantity_text(double value, std::string_view unit) {
  if (unit.empty()) return fmt::format("{}", value);
  const Dimension dimension = unit == "s" ? Dimension::seconds : Dimension::bytes;
  const std::string text = format_quantity(value, dimension);
  return parse_quantity(text, dimension) == value ? text : fmt::format("{} {}", value, unit);
}

std::string fitted_on_text(const std::vector<FittedOn>& all) {
  std::string text;
  for (const FittedOn& rows : all) {
    std::vector<std::string> said;
    if (!rows.file.empty()) said.push_back("file: " + quoted(rows.file));
    if (!rows.where.empty()) said.push_back("where: " + quoted(rows.where));
    text += fmt::format("      - {{{}}}\n", fmt::join(said, ", "));
  }
  return text.empty() ? "" : "    fitted_on:\n" + text;
}

std::string parameter_text(std::string_view name, const Parameter& parameter,
                           std::string_view unit) {
  return fmt::format(
             "  {}:\n    value: {}\n    low: {}\n    high: {}\n    origin: {}\n    source: {}\n",
             name, quantity_text(parameter.value, unit), quantity_text(parameter.low, unit),
             quantity_text(parameter.high, unit), to_string(parameter.origin),
             quoted(parameter.source)) +
         fitted_on_text(parameter.fitted_on);
}

std::string law_layer_text(std::string_view key, const InterconnectLaw& law) {
  if (!law.stated) return fmt::format("{}: constants\n", key);
  std::string text = fmt::format("{}:\n", key);
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    text += parameter_text(field.name, law.*field.member, field.unit);
  }
  return text;
}

}  // namespace

std::string calibration_text(const Calibration& calibration, const std::string& comment) {
  std::string line = comment;
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  std::string text = fmt::format("# {}\nname: {}\ngpu: {}\nparameters:\n", line,
                                 quoted(calibration.name), quoted(calibration.gpu));
  for (const CalibrationField& field : calibration_fields()) {
    text += parameter_text(field.name, calibration.*field.member, field.unit);
  }
  if (calibration.network.stated) text += law_layer_text("network", calibration.network);
  if (calibration.node_network) {
    text += law_layer_text("node_network", *calibration.node_network);
  }
  if (!calibration.kernels.empty()) text += "kernels:\n";
  for (const KernelShare& kernel : calibration.kernels) {
    text += parameter_text(kernel.name, kernel.share, "");
  }
  if (!calibration.kernel_starts.empty()) text += "kernel_starts:\n";
  for (const KernelStarts& kernel : calibration.kernel_starts) {
    text += parameter_text(kernel.name, kernel.starts, "");
  }
  if (!calibration.kernel_laws.laws.empty()) text += kernel_laws_text(calibration.kernel_laws);
  return text;
}

}  // namespace windtunnel
