#include "validate/accuracy/kinds/checkpoint_accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/find_named.hpp"
#include "models/base/printable.hpp"
#include "models/cost/snapshot/restore_cost.hpp"
#include "models/cost/snapshot/snapshot_writer.hpp"
#include "scenarios/language/library/facts/gpu_names.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/kinds/kinds.hpp"

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

// An entry of a list in checkpoint_rows.yaml, which applies to rows that contain its words.
struct WordsOfRow {
  std::string writer;
  WritingRanks ranks = WritingRanks::all;
  std::vector<std::string> method, storage;  // empty: any
};
struct CheckpointWords {
  std::vector<WordsOfRow> writers, ranks;
  std::vector<FittedOn> fitted_on;
};

std::vector<WordsOfRow> read_words(const DocumentNode& list) {
  std::vector<WordsOfRow> all;
  for (const DocumentNode& item : list.items) {
    check_keys(item, {"writer", "ranks", "method", "storage"});
    WordsOfRow words;
    if (const DocumentNode* list = item.value_of("method")) words.method = texts_of(*list);
    if (const DocumentNode* list = item.value_of("storage")) words.storage = texts_of(*list);
    if (const DocumentNode* writer = item.value_of("writer")) {
      words.writer = find_named(snapshot_writers(), "writer", writer->text, writer->where).name;
    }
    if (const DocumentNode* ranks = item.value_of("ranks")) {
      words.ranks = choice_of<WritingRanks>(*ranks, "ranks");
    }
    all.push_back(std::move(words));
  }
  return all;
}

const CheckpointWords& checkpoint_words() {
  static const CheckpointWords words = [] {
    const DocumentNode document = library_document("checkpoint_rows.yaml");
    return CheckpointWords{read_words(require(document, "writers")),
                           read_words(require(document, "ranks")),
                           read_fitted_on(require(document, "fitted_on"))};
  }();
  return words;
}

template <class Words>
bool has_any(const std::string& text, const Words& words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return contains_text(text, word); });
}

bool in_memory(const CheckpointRow& row) {
  return contains_text(row.storage, "memory");
}
bool on_drives(const CheckpointRow& row) {
  return has_any(row.storage, std::array<std::string_view, 3>{"NVMe", "SSD", "disk"});
}

// Returns the first entry whose words the row contains and whose writer matches; null if there is
// none.
const WordsOfRow* words_of(const CheckpointRow& row, const std::vector<WordsOfRow>& entries,
                           std::string_view writer) {
  const auto has = [](const std::string& text, const std::vector<std::string>& words) {
    return words.empty() || has_any(text, words);
  };
  const auto found = std::ranges::find_if(entries, [&](const WordsOfRow& entry) {
    const bool of_writer = writer.empty() || entry.writer.empty() || entry.writer == writer;
    return of_writer && has(row.method, entry.method) && has(row.storage, entry.storage);
  });
  return found == entries.end() ? nullptr : &*found;
}

SnapshotWriter writer_of(const CheckpointRow& row) {
  const WordsOfRow* named = words_of(row, checkpoint_words().writers, "");
  if (named == nullptr) {
    throw Error(fmt::format("method '{}': the library has no such software", row.method));
  }
  SnapshotWriter writer = usual_writer(find_named(snapshot_writers(), "writer", named->writer));
  const WordsOfRow* ranks = words_of(row, checkpoint_words().ranks, named->writer);
  if (ranks != nullptr) writer.ranks = ranks->ranks;
  return writer;
}

// Finds the library's aws-p4d for "p4d.24xlarge" in a system's name; null if no instance is named.
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
  double stated_Bps = 0;  // total bandwidth of the storage
};

// Write rate of a data-centre drive according to data sheets, as for NodeSpec::local_disk_Bps.
constexpr double kDrive_Bps = 3.5e9;

std::string not_stated(const CheckpointRow& row) {
  return fmt::format("the bandwidth of '{}' is not stated", row.storage);
}

// Returns the combined rate of the drives of one node.
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

// Whether one process of torch.save writes for all ranks. Pickling is then slower than any storage,
// so the storage need not be stated.
bool writes_alone(const CheckpointRow& row) {
  return contains_text(row.storage, "not stated") && contains_text(row.method, "torch.save");
}

Machine machine_of(const CheckpointRow& row) {
  const NodeSpec* instance = named_instance(row.system);
  // The GPU does not affect pickling.
  const bool any = row.gpu_type == "not stated" && writes_alone(row);
  const GpuName& gpu = gpu_named(any ? "A100-80GB" : row.gpu_type, false);
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
  } else if (writes_alone(row)) {
    constexpr double kAny_Bps = 10e9;  // more than one process of torch.save ever reaches
    cluster.storage.write_Bps.value = cluster.storage.read_Bps.value = kAny_Bps;
    machine.stated_Bps = kAny_Bps;
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

// Whether the storage is slower than a process of any software. The time of a save then gives its
// bytes.
bool tells_bytes(const CheckpointRow& row) {
  if (row.bytes || row.event != CheckpointEvent::save || !row.storage_Bps) return false;
  double slowest_Bps = std::numeric_limits<double>::infinity();
  for (const NamedWriter& writer : snapshot_writers()) {
    slowest_Bps = std::min(slowest_Bps, writer.write_Bps.low);
  }
  return !in_memory(row) && *row.storage_Bps < slowest_Bps;
}

// Rows of one run agree in these texts; the words of the method after a comma describe the storage.
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

// Parses "7B"; none: not stated.
std::optional<double> parameters_of(const CheckpointRow& row) {
  char* end = nullptr;
  const double number = std::strtod(row.parameters.c_str(), &end);
  if (!(number > 0)) return {};
  if (*end == 'B') return number * 1e9;
  if (*end == 'M') return number * 1e6;
  return number > 1e6 ? std::optional(number) : std::nullopt;
}

// FSDP stores weights in fp32, and two moments if the row says that the optimizer is saved.
double bytes_per_parameter(const CheckpointRow& row) {
  return contains_text(row.model, "optimizer") ? 12 : 4;
}

double bytes_of(const CheckpointRow& row, const BytesOfRuns& told) {
  constexpr double kOfRate = 1e9;  // bytes whose time represents a rate in the comparison
  if (row.event == CheckpointEvent::save_rate) return kOfRate;
  if (row.bytes) return *row.bytes;
  const auto found = told.find(run_of(row));
  if (found != told.end()) return found->second;
  const std::optional<double> parameters = parameters_of(row);
  if (!parameters) throw Error("the bytes of the checkpoint are not stated");
  return *parameters * bytes_per_parameter(row);
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
  result.family = fmt::format("{}, {}", row.source, place_name(row));
  result.metric = load ? "load_s" : "save_s";
  result.measured = rate ? bytes / *row.storage_Bps : *row.seconds;
  result.predicted =
      (load ? restore_s : save_s)(tier, state, layout, machine.cluster, machine.calibration);
  result.origin = tier.writer.origin;
  result.baselines = {{"bytes / bandwidth", bytes / machine.stated_Bps}};
  result.label =
      fmt::format("{:.3g} GB, {} GPUs, {}, {}", bytes / 1e9, row.gpus, row.method, row.storage);
  result.note = row.note;
  return result;
}

// Training continues during such a save, and only waits for the copy to the host.
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

CheckpointRows parse_checkpoint_rows(std::string_view text, const std::string& file) {
  return parse_fields<CheckpointRow>(text, file, kCheckpointFields, check_event);
}

CheckpointRows read_checkpoint_rows(const std::string& path) {
  return parse_checkpoint_rows(read_file(path), path);
}

ValidationReport validate_checkpoints(const std::vector<CheckpointRows>& files,
                                      const std::optional<RowFilter>& where) {
  const BytesOfRuns told = told_bytes(files);
  const auto predict_row = [&](const CheckpointRow& row) {
    PredictedRow whole{.row = predict(row, told), .fitted = tells_bytes(row)};
    if (!row.bytes && row.event != CheckpointEvent::save_rate) {
      whole.family_note =
          "bytes are fitted on saves of the run over slow storage; otherwise 4 per parameter, 12 "
          "with an optimizer";
    }
    if (writes_alone(row)) whole.assumed = {"storage that is faster than a single writing process"};
    std::vector<PredictedRow> figures = {std::move(whole)};
    if (goes_on_behind(row)) figures.push_back({.row = predict_stall(row, told)});
    return figures;
  };
  return judge_rows(files, where, predict_row, checkpoint_words().fitted_on);
}

MeasuredKind checkpoint_kind() {
  return {.name = "checkpoints",
          .title = "checkpoints",
          .help = "compare times of saving and loading checkpoints, by software and place",
          .columns = {"checkpoint_bytes", "method", "event", "seconds"},
          .where = "gpus>8 && method~\"torch.save\"",
          .judge = [](const KindOptions& options) {
            std::vector<CheckpointRows> files;
            for (const std::string& path : options.files) {
              files.push_back(read_checkpoint_rows(path));
            }
            return validate_checkpoints(files, options.where);
          }};
}

}  // namespace windtunnel
