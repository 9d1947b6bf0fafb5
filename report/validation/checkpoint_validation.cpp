#include "report/validation/checkpoint_validation.hpp"

#include <fmt/format.h>

#include <vector>

#include "report/text/markdown.hpp"
#include "report/text/table.hpp"
#include "report/validation/validation.hpp"
#include "report/validation/validation_rows.hpp"

namespace windtunnel {
namespace {

constexpr double kCheckpointMiss = 0.2;

std::string seconds_cell(double seconds) {
  return fmt::format("{:.3g} s", seconds);
}

std::string interval_cell(const ValidationRow& row) {
  return row.low == row.high ? "-" : fmt::format("{:.3g} .. {:.3g}", row.low, row.high);
}

std::string event_name(const std::string& metric) {
  return metric == "load_s" ? "load" : metric == "stall_s" ? "stall" : "save";
}

std::string event_cell(const ValidationRow& row) {
  return event_name(row.metric);
}

const char* const kCheckpointRules = R"(
A time is that of the row's bytes through the software that its method names, to the place and at
the bandwidth that it states ([rows.md](rows.md#checkpoints)). What a process of the software writes
and reads (`models/cost/snapshot/snapshot_writer.cpp`) was fitted on the rows of the second table
and then frozen. The simpler rule is bytes / stated bandwidth: of the drives of all nodes, of the
storage, or of the GPUs' PCIe links. Intervals of 90 % are as wide as the other families were off.

torchsnapshot prints one time of torch.save for any number of GPUs: those rows say that more GPUs do
not help, and no more. Of FSDP's full states the gathering is not modelled, of DLRover's loads that
Megatron-LM reads less than it saved and that files were still in the host's memory (a load that is
faster than the stated drives). Whose state is sharded differently from what its method's words mean
is off by as much.
)";

std::string family_lines_of(const ValidationReport& report) {
  std::string text = markdown_header(
      {"family", "event", "rows", "fitted on", "MAPE", "median", "bytes / bandwidth", "in 90 %"},
      2);
  for (const ValidationFamily& family : report.families) {
    const bool judged = family.rows > 0;
    const auto rule = family.baselines.find("bytes / bandwidth");
    text += markdown_row({family.name, event_name(family.metric), std::to_string(family.rows),
                          std::to_string(family.fitted), judged ? percent(family.mape) : "-",
                          judged ? percent(family.median_ape) : "-",
                          rule == family.baselines.end() ? "-" : percent(rule->second),
                          family.coverage90 ? percent(*family.coverage90) : "-"});
  }
  for (const ValidationFamily& family : report.families) {
    if (!family.note.empty()) {
      text += fmt::format("\n{}, {}: {}.\n", family.name, family.metric, family.note);
    }
  }
  return text;
}

std::string row_lines(const std::vector<ValidationRow>& rows) {
  if (rows.empty()) return "None.\n";
  std::string text = markdown_header(
      {"row", "what", "event", "measured", "predicted", "error", "90 %", "bytes / bandwidth"}, 3);
  for (const ValidationRow& row : rows) {
    const auto rule = row.baselines.find("bytes / bandwidth");
    text += markdown_row({without_folder(row.id), row.label, event_cell(row),
                          seconds_cell(row.measured), seconds_cell(row.predicted),
                          signed_error(row), interval_cell(row),
                          rule == row.baselines.end() ? "-" : seconds_cell(rule->second)});
  }
  return text;
}

}  // namespace

std::string checkpoints_text(const ValidationReport& report, std::size_t width) {
  std::string text = validation_text(report, width);
  TextTable table{{{"off by more than 20 %"},
                   {"event"},
                   {"measured", Align::right},
                   {"predicted", Align::right},
                   {"error", Align::right},
                   {"what"}},
                  {}};
  for (const ValidationRow* row : worst_first(report)) {
    if (row->relative_error() <= kCheckpointMiss) break;
    table.rows.push_back({without_folder(row->id), event_cell(*row), seconds_cell(row->measured),
                          seconds_cell(row->predicted), signed_error(*row),
                          shortened(row->label, 60)});
  }
  if (!table.rows.empty()) text += "\n" + table_text(table, width);
  return text + fmt::format("\n{} rows judged, {} fitted on, {} not predicted\n",
                            report.rows.size(), report.fitted.size(), report.skipped.size());
}

std::string checkpoints_page(const ValidationReport& report, const std::string& command) {
  std::string text = fmt::format(
      "# Checkpoints: predicted against measured\n\nMade by `{}`; not written by hand.\n{}\n{}",
      command, kCheckpointRules, family_lines_of(report));
  text += "\n## Rows judged\n\n" + row_lines(report.rows);
  text += "\n## Rows fitted on\n\n" + row_lines(report.fitted);
  text += fmt::format("\n## Rows not predicted\n\n{} rows.\n", report.skipped.size());
  if (report.skipped.empty()) return text;
  text += "\n" + markdown_header({"row", "reason"}, 2);
  for (const SkippedRow& row : report.skipped) {
    text += markdown_row({without_folder(row.id), row.reason});
  }
  return text;
}

}  // namespace windtunnel
