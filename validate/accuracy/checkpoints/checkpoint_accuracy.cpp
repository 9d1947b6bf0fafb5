#include "validate/accuracy/checkpoints/checkpoint_accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/find_named.hpp"
#include "models/cost/snapshot/restore_cost.hpp"
#include "models/cost/snapshot/snapshot_writer.hpp"
#include "scenarios/language/library/facts/gpu_names.hpp"
#include "scenarios/language/library/library.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/rows/left_out_intervals.hpp"

namespace windtunnel {
namespace {

// Rows that tell constants of snapshot_writer.cpp and the drives of aws-p4d: words of source,
// storage and method, and GPUs.
struct FittedOn {
  std::string_view source, storage, method;
  int gpus;
  CheckpointEvent event;
};
constexpr std::array kFittedOn = {
    FittedOn{"torchsnapshot DDP", "NVMe", "torch.save", 1, CheckpointEvent::save},
    FittedOn{"torchsnapshot DDP", "NVMe", "replicas share", 1, CheckpointEvent::save},
    FittedOn{"torchsnapshot DDP", "NVMe", "replicas share", 8, CheckpointEvent::save},
    FittedOn{"torchsnapshot DDP", "NVMe", "replicas share", 16, CheckpointEvent::save},
    FittedOn{"DLRover", "NVMe", "DDP", 2, CheckpointEvent::load},
    FittedOn{"DLRover", "memory", "DDP", 2, CheckpointEvent::load},
    FittedOn{"DLRover", "memory", "ZeRO-3", 2, CheckpointEvent::save}};

bool is_fitted_on(const CheckpointRow& row) {
  return std::ranges::any_of(kFittedOn, [&](const FittedOn& on) {
    return row.event == on.event && row.gpus == on.gpus && contains_text(row.source, on.source) &&
           contains_text(row.storage, on.storage) && contains_text(row.method, on.method);
  });
}

bool has_any(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return contains_text(text, word); });
}

bool in_memory(const CheckpointRow& row) {
  return contains_text(row.storage, "memory");
}
bool on_drives(const CheckpointRow& row) {
  return has_any(row.storage, {"NVMe", "SSD", "disk"});
}

std::string writer_name(const CheckpointRow& row) {
  if (contains_text(row.method, "torchsnapshot")) return "torchsnapshot";
  if (contains_text(row.method, "flash checkpoint") || contains_text(row.storage, "DLRover")) {
    return "flash-checkpoint";
  }
  if (has_any(row.method, {"DCP", "distributed.checkpoint"})) return "dcp";
  if (has_any(row.method, {"torch.save", "synchronous", "FSDP"})) return "torch-save";
  throw Error(fmt::format("method '{}': no software of the library", row.method));
}

// Without further words FSDP gathers the whole state on its first rank for torch.save; engines that
// shard it write each rank's own.
SnapshotWriter writer_of(const CheckpointRow& row) {
  const std::string name = writer_name(row);
  SnapshotWriter writer = usual_writer(find_named(snapshot_writers(), "writer", name));
  if (contains_text(row.method, "rank 0")) {
    writer.ranks = WritingRanks::one;
  } else if (contains_text(row.method, "DDP")) {
    writer.ranks = WritingRanks::holders;
  } else if (contains_text(row.method, "FSDP")) {
    writer.ranks = name == "torch-save" ? WritingRanks::one : WritingRanks::all;
  } else if (has_any(row.method, {"ZeRO", "DeepSpeed", "Megatron"})) {
    writer.ranks = WritingRanks::all;
  }
  return writer;
}

// "p4d.24xlarge" in a system's name is the library's aws-p4d; null: none is named.
const NodeSpec* named_instance(const std::string& system) {
  const size_t dot = system.find(".24xlarge") != std::string::npos ? system.find(".24xlarge")
                                                                   : system.find(".48xlarge");
  if (dot == std::string::npos) return nullptr;
  const size_t blank = system.rfind(' ', dot);
  const size_t begin = blank == std::string::npos ? 0 : blank + 1;
  return &find_node("aws-" + system.substr(begin, dot - begin));
}

struct Machine {
  Cluster cluster;
  Calibration calibration;
  double stated_Bps = 0;  // of the place, all of it
};

// Data sheets of data-centre drives for NVMe: NodeSpec::local_disk_Bps.
constexpr double kDrive_Bps = 3.5e9;

std::string not_stated(const CheckpointRow& row) {
  return fmt::format("the bandwidth of '{}' is not stated", row.storage);
}

// Of a node.
double drives_Bps(const CheckpointRow& row, const NodeSpec* instance) {
  if (row.storage_Bps && row.event != CheckpointEvent::save_rate) return *row.storage_Bps;
  if (instance != nullptr) return instance->local_disk_Bps.value;
  int drives = 0;
  for (const char c : row.storage) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) break;
    drives = std::min(10 * drives + (c - '0'), 1000);
  }
  if (drives == 0) throw Error(not_stated(row));
  return drives * kDrive_Bps;
}

Machine machine_of(const CheckpointRow& row) {
  const NodeSpec* instance = named_instance(row.system);
  const GpuName& gpu = gpu_named(row.gpu_type, false);
  Machine machine;
  machine.calibration = find_calibration(gpu.calibration);
  Cluster& cluster = machine.cluster;
  cluster.node = instance != nullptr ? *instance : find_node(gpu.node);
  cluster.nodes = (row.gpus + cluster.node.gpus - 1) / cluster.node.gpus;
  cluster.node.gpus = (row.gpus + cluster.nodes - 1) / cluster.nodes;
  if (in_memory(row)) {
    machine.stated_Bps = row.gpus * cluster.node.pcie_Bps.value;
  } else if (on_drives(row)) {
    cluster.node.local_disk_Bps.value = drives_Bps(row, instance);
    machine.stated_Bps = cluster.nodes * cluster.node.local_disk_Bps.value;
  } else if (row.storage_Bps && row.event != CheckpointEvent::save_rate) {
    cluster.storage.write_Bps.value = cluster.storage.read_Bps.value = *row.storage_Bps;
    machine.stated_Bps = *row.storage_Bps;
  } else {
    throw Error(not_stated(row));
  }
  return machine;
}

SnapshotTier tier_of(const CheckpointRow& row) {
  SnapshotTier tier;
  tier.place = in_memory(row)   ? SnapshotPlace::host_memory
               : on_drives(row) ? SnapshotPlace::local_disk
                                : SnapshotPlace::storage;
  tier.writer = writer_of(row);
  return tier;
}

// Slower than one process of any software: the time of a save is that of its bytes.
bool tells_bytes(const CheckpointRow& row) {
  if (row.bytes || row.event != CheckpointEvent::save || !row.storage_Bps) return false;
  double slowest_Bps = std::numeric_limits<double>::infinity();
  for (const NamedWriter& writer : snapshot_writers()) {
    slowest_Bps = std::min(slowest_Bps, writer.write_Bps.low);
  }
  return !in_memory(row) && *row.storage_Bps < slowest_Bps;
}

// What one run is known by: the words of its method before the storage's.
std::string run_of(const CheckpointRow& row) {
  return fmt::format("{}|{}|{}|{}|{}", row.source, row.system, row.model, row.gpus,
                     row.method.substr(0, row.method.find(',')));
}
using BytesOfRuns = std::map<std::string, double>;

BytesOfRuns told_bytes(const std::vector<CheckpointRows>& files) {
  BytesOfRuns bytes;
  for (const CheckpointRows& file : files) {
    for (const CheckpointRow& row : file.runs) {
      if (tells_bytes(row)) bytes.emplace(run_of(row), *row.seconds * *row.storage_Bps);
    }
  }
  return bytes;
}

double bytes_of(const CheckpointRow& row, const BytesOfRuns& told) {
  constexpr double kOfRate = 1e9;  // a rate is judged by the time of so many
  if (row.event == CheckpointEvent::save_rate) return kOfRate;
  if (row.bytes) return *row.bytes;
  const auto found = told.find(run_of(row));
  if (found == told.end()) throw Error("the bytes of the checkpoint are not stated");
  return found->second;
}

std::string place_name(const CheckpointRow& row) {
  return in_memory(row) ? "memory" : on_drives(row) ? "drives" : "storage";
}

ValidationRow predict(const CheckpointRow& row, const BytesOfRuns& told) {
  const double bytes = bytes_of(row, told);
  const SnapshotTier tier = tier_of(row);
  const Machine machine = machine_of(row);
  Layout layout;
  layout.dp = row.gpus;
  const SavedState state{bytes / row.gpus, bytes};
  const bool load = row.event == CheckpointEvent::load;
  const bool rate = row.event == CheckpointEvent::save_rate;
  ValidationRow result;
  result.id = row.id;
  result.family = fmt::format("{}, {}", row.source, place_name(row));
  result.metric = load ? "load_s" : "save_s";
  result.measured = rate ? bytes / *row.storage_Bps : *row.seconds;
  result.predicted =
      (load ? restore_s : save_s)(tier, state, layout, machine.cluster, machine.calibration);
  result.low = result.high = result.predicted;
  result.origin = tier.writer.origin;
  result.baselines = {{"bytes / bandwidth", bytes / machine.stated_Bps}};
  result.label =
      fmt::format("{:.3g} GB, {} GPUs, {}, {}", bytes / 1e9, row.gpus, row.method, row.storage);
  result.note = row.note;
  return result;
}

// Of a save that goes on beside training, which waits for the copy to the host alone.
bool goes_on_behind(const CheckpointRow& row) {
  return row.event == CheckpointEvent::save && row.blocking_s && *row.blocking_s < *row.seconds;
}
ValidationRow predict_stall(CheckpointRow row, const BytesOfRuns& told) {
  row.seconds = row.blocking_s;
  row.storage += ", in memory";
  ValidationRow result = predict(row, told);
  result.metric = "stall_s";
  return result;
}

}  // namespace

ValidationReport validate_checkpoints(const std::vector<CheckpointRows>& files,
                                      const CheckpointOptions& options) {
  ValidationReport report;
  for (const CheckpointRows& file : files) {
    if (options.where) options.where->check(file.table);
    for (const UnusableRow& row : file.unusable) report.skipped.push_back({row.id, row.reason});
  }
  const BytesOfRuns told = told_bytes(files);
  std::map<std::string, std::string> notes;
  for (const CheckpointRows& file : files) {
    for (const CheckpointRow& row : file.runs) {
      if (options.where && !options.where->matches(file.table, row.table_row)) continue;
      try {
        ValidationRow result = predict(row, told);
        if (!row.bytes && row.event != CheckpointEvent::save_rate) {
          notes[result.family] = "bytes as its saves over slow storage tell them, which are fitted";
        }
        const bool fitted = is_fitted_on(row) || tells_bytes(row);
        (fitted ? report.fitted : report.rows).push_back(std::move(result));
        if (goes_on_behind(row)) report.rows.push_back(predict_stall(row, told));
      } catch (const Error& error) {
        report.skipped.push_back(skipped_row(row.id, error));
      }
    }
  }
  add_left_out_intervals(report);
  summarise_families(report, notes);
  return report;
}

}  // namespace windtunnel
