#include "traces/rows/checkpoint_rows.hpp"

#include <fmt/format.h>

#include <array>

#include "models/base/printable.hpp"

namespace windtunnel {
namespace {

void read_event(CheckpointRow& row, RowReader& reader) {
  const std::string text = reader.text("event");
  if (text == "load") {
    row.event = CheckpointEvent::load;
  } else if (text == "save throughput") {
    row.event = CheckpointEvent::save_rate;
  } else if (text != "save") {
    reader.fault("event", fmt::format("'{}' is unknown; known are save, load, save throughput",
                                      excerpt(text)));
  }
}

constexpr auto kCheckpointFields = std::to_array<RowField<CheckpointRow>>({
    {"source", &CheckpointRow::source, Needs::cell},
    {"system", &CheckpointRow::system, Needs::column},
    {"gpu_type", &CheckpointRow::gpu_type, Needs::column},
    {"model", &CheckpointRow::model, Needs::column},
    {"params", &CheckpointRow::parameters},
    {"storage", &CheckpointRow::storage, Needs::cell},
    {"method", &CheckpointRow::method, Needs::cell},
    {"note", &CheckpointRow::note},
    {"gpus", &CheckpointRow::gpus, Needs::cell, "", 1e6},
    {"event", read_event, Needs::column},
    {"checkpoint_bytes", &CheckpointRow::bytes, Needs::column, "B", 1e18},
    {"storage_bw_Bps", &CheckpointRow::storage_Bps, Needs::column, "B/s", 1e18},
    {"seconds", &CheckpointRow::seconds, Needs::column, "s", 1e9},
    {"blocking_s", &CheckpointRow::blocking_s, Needs::nothing, "s", 1e9},
});

void check_event(const CheckpointRow& row, RowReader& reader) {
  const bool rate = row.event == CheckpointEvent::save_rate;
  const std::string_view needed = rate ? "storage_bw_Bps" : "seconds";
  if (reader.text(needed).empty()) reader.fault(needed, "is empty");
}

}  // namespace

CheckpointRows parse_checkpoint_rows(std::string_view text, const std::string& file) {
  return parse_fields<CheckpointRow>(text, file, kCheckpointFields, check_event);
}

CheckpointRows read_checkpoint_rows(const std::string& path) {
  return parse_checkpoint_rows(read_file(path), path);
}

}  // namespace windtunnel
