#include "traces/rows/checkpoint_rows.hpp"

#include <fmt/format.h>

#include <array>

#include "models/base/printable.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr std::array<std::string_view, 11> kRequired = {
    "source",  "system",         "gpus",   "gpu_type", "model",  "checkpoint_bytes",
    "storage", "storage_bw_Bps", "method", "event",    "seconds"};

constexpr NumberColumn kBytes = {"checkpoint_bytes", "B", 1e18};
constexpr NumberColumn kStorage = {"storage_bw_Bps", "B/s", 1e18};
constexpr NumberColumn kSeconds = {"seconds", "s", 1e9};
constexpr NumberColumn kBlocking = {"blocking_s", "s", 1e9};

std::string stated(RowReader& reader, std::string_view column) {
  std::string text = reader.text(column);
  if (text.empty()) reader.fault(column, "is empty");
  return text;
}

CheckpointEvent event_of(RowReader& reader) {
  const std::string text = reader.text("event");
  if (text == "load") return CheckpointEvent::load;
  if (text == "save throughput") return CheckpointEvent::save_rate;
  if (text != "save") {
    reader.fault("event",
                 fmt::format("'{}' is none; they are save, load, save throughput", excerpt(text)));
  }
  return CheckpointEvent::save;
}

CheckpointRow row_of(const CsvTable& table, size_t at, RowReader& reader) {
  CheckpointRow row;
  row.id = table.id(at);
  row.table_row = at;
  row.source = stated(reader, "source");
  row.system = reader.text("system");
  row.gpu_type = reader.text("gpu_type");
  row.model = reader.text("model");
  row.storage = stated(reader, "storage");
  row.method = stated(reader, "method");
  row.note = reader.text("note");
  const std::optional<int> gpus = reader.count({"gpus", "", 1e6});
  if (!gpus && reader.text("gpus").empty()) reader.fault("gpus", "is empty");
  row.gpus = gpus.value_or(0);
  row.event = event_of(reader);
  row.bytes = reader.number(kBytes);
  row.storage_Bps = reader.number(kStorage);
  row.seconds = reader.number(kSeconds);
  row.blocking_s = reader.number(kBlocking);
  const bool rate = row.event == CheckpointEvent::save_rate;
  const NumberColumn& needed = rate ? kStorage : kSeconds;
  if (reader.text(needed.name).empty()) reader.fault(needed.name, "is empty");
  return row;
}

}  // namespace

bool holds_checkpoints(const CsvTable& table) {
  return table.has("checkpoint_bytes") && table.has("event") && table.has("method");
}

CheckpointRows parse_checkpoint_rows(std::string_view text, const std::string& file) {
  std::vector<CsvFault> faults;
  CsvTable table = CsvTable::parse(text, file, &faults);
  return read_runs<CheckpointRows>(std::move(table), faults, kRequired, row_of);
}

CheckpointRows read_checkpoint_rows(const std::string& path) {
  return parse_checkpoint_rows(read_file(path), path);
}

}  // namespace windtunnel
