#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "models/cost/offload/offload.hpp"
#include "models/workload/axes.hpp"
#include "models/workload/training.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/overrides.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/text/choices.hpp"
#include "scenarios/language/text/fields.hpp"
#include "scenarios/language/text/values.hpp"
#include "validate/accuracy/runs/run_source.hpp"
#include "validate/accuracy/runs/runs.hpp"

namespace windtunnel {
namespace {

class RowScenario {
 public:
  RowScenario(const TrainingRun& run, const RunJob& row) : run_(run), job_(row.job) {
    state_model();
    state_cluster();
    state_members(job_.layout);
    for (const Axis& axis : kAxes) {  // the row's schedule may not be the usual one
      if (axis.of_schedule && job_.layout.pp > 1)
        set(std::string(axis.key), job_.layout.*axis.size);
    }
    if (!job_.layout.stage_layers.empty()) {
      set("layout.stages", fmt::format("[{}]", fmt::join(job_.layout.stage_layers, ", ")));
    }
    state_members(job_.batch);
    set("precision", name_of(job_.precision));
    set("recompute", to_string(job_.recompute));
    state_members(job_.schedule);
    state_members(job_.software);
    state_members(job_.communication);
    if (job_.offload != nullptr) {
      const Offload usual;
      state_members(*job_.offload, &usual);
    }
    state_training();
    set("calibration", library_calibration());
  }

  const DocumentNode& tree() const { return tree_; }

  std::string text() const {
    std::string text =
        fmt::format("# {} of {}: {}\n", run_.id, run_.source, source_of(run_).software->help);
    if (run_.memory_gib) text += memory_note();
    text += fmt::format("name: {}\n", quoted(run_.id));
    for (const DocumentEntry& entry : tree_.entries) {
      text += fmt::format("{}: {}\n", entry.key, flow_text(entry.value));
    }
    return text;
  }

 private:
  // Names the figure of `run --json` that corresponds to the row's memory.
  std::string memory_note() const {
    const MemoryFigure figure = memory_figure_of(run_);
    const char* key = figure.what == MemoryFigure::What::device      ? "per_stage"
                      : figure.what == MemoryFigure::What::allocated ? "allocated_per_stage"
                                                                     : "reserved_per_stage";
    const char* rank = figure.rank == MemoryFigure::Rank::first  ? "the first"
                       : figure.rank == MemoryFigure::Rank::last ? "the last"
                                                                 : "the largest";
    return fmt::format("# measured memory: {:g} B, which is {} of iteration.memory_bytes.{}\n",
                       *run_.memory_gib * figure.unit_bytes, rank, key);
  }

  static std::string quoted(const std::string& text) { return fmt::format("\"{}\"", text); }

  template <class Value>
  void set(const std::string& key, const Value& value) {
    apply_override(tree_, key, fmt::format("{}", value));
  }

  // States members that have a key, unless their value is the default in the table of keys or the
  // value in `usual`.
  template <class Struct>
  void state_members(const Struct& part, const Struct* usual = nullptr) {
    for (const Field& field : field_table()) {
      if (field.binding.target != &kTypeTag<Struct> || field.path.find('*') != field.path.npos) {
        continue;
      }
      const std::optional<Value> value = value_in(part, field);
      if (!value) continue;
      const bool number =
          field.scalar == ScalarType::quantity || field.scalar == ScalarType::integer;
      const bool none = field.in_entry != InEntry::never && value->number == 0;
      if (number && (none || !field.admits(value->number))) continue;  // a value that is left open
      const std::string text = text_of(*value);
      if (text == field.default_text) continue;
      const std::optional<Value> plain = usual == nullptr ? std::nullopt : value_in(*usual, field);
      if (plain && text == text_of(*plain)) continue;
      set(std::string(field.path), field.scalar == ScalarType::text ? quoted(text) : text);
    }
  }

  void state_model() {
    const TransformerSpec& model = job_.model;
    state_members(model);
    if (model.moe.experts > 0) state_members(model.moe);
    if (model.latent.kv_rank > 0) state_members(model.latent);
    if (model.sparse.heads > 0) state_members(model.sparse);
    if (model.mamba.state > 0) state_members(model.mamba);
  }

  void state_cluster() {
    const Cluster& cluster = job_.cluster;
    const NodeSpec& known = find_node(cluster.node.name);
    set("cluster.nodes", cluster.nodes);
    set("cluster.node.base", cluster.node.name);
    set("cluster.node.gpus", cluster.node.gpus);
    set("cluster.node.nics", cluster.node.nics);
    if (cluster.node.power_limit_W > 0) {
      set("cluster.node.power_limit", cluster.node.power_limit_W);
    }
    if (cluster.node.nic_Bps.value != known.nic_Bps.value) {
      set("cluster.node.nic", fmt::format("{} B/s", cluster.node.nic_Bps.value));
    }
    const FabricSpec& usual = find_fabric("full-bisection").fabric;
    set("cluster.fabric.base", "full-bisection");
    if (cluster.fabric.transport != usual.transport) {
      set("cluster.fabric.transport", name_of(cluster.fabric.transport));
    }
    if (cluster.fabric.hop_latency_s.value != usual.hop_latency_s.value) {
      set("cluster.fabric.hop_latency", fmt::format("{} s", cluster.fabric.hop_latency_s.value));
    }
    const MeasuredBus& bus = cluster.fabric.measured;
    for (const auto& [key, rate] :
         {std::pair{"all_reduce", bus.all_reduce_Bps}, std::pair{"all_gather", bus.all_gather_Bps},
          std::pair{"reduce_scatter", bus.reduce_scatter_Bps}}) {
      if (rate > 0)
        set(fmt::format("cluster.fabric.measured.{}", key), fmt::format("{} B/s", rate));
    }
  }

  void state_list(const char* key, const std::vector<std::string>& items) {
    if (!items.empty()) set(key, fmt::format("[{}]", fmt::join(items, ", ")));
  }

  void state_training() {
    if (job_.training == nullptr) return;
    const Training usual;
    state_members(*job_.training, &usual);
    state_list("train.frozen", frozen_parts(*job_.training, job_.model.tower != nullptr));
    const Adapter& adapter = job_.training->adapter;
    if (adapter.kind != AdapterKind::none)
      state_list("train.adapter.on", adapter_matrices(adapter));
  }

  std::string library_calibration() const {
    const std::string& name = job_.calibration.name;
    const auto& all = library_calibrations();
    if (std::ranges::count(all, name, &Calibration::name) > 0) return name;
    throw Error(fmt::format(
        "{}: calibration '{}' is not in the library, so no scenario can name it", run_.id, name));
  }

  const TrainingRun& run_;
  const Job& job_;
  DocumentNode tree_ = document_node(DocumentNode::Kind::map, "", {});
};

void add_leaves(const DocumentNode& node, const std::string& path,
                std::map<std::string, std::string>& keys) {
  if (node.kind != DocumentNode::Kind::map) keys[path] = flow_text(node);
  for (const DocumentEntry& entry : node.entries) {
    add_leaves(entry.value, join_path(path, entry.key), keys);
  }
}

}  // namespace

std::string row_scenario(const TrainingRun& run, const RunJob& row) {
  return RowScenario(run, row).text();
}

std::map<std::string, std::string> row_keys(const TrainingRun& run, const RunJob& row) {
  std::map<std::string, std::string> keys;
  add_leaves(RowScenario(run, row).tree(), "", keys);
  return keys;
}

}  // namespace windtunnel
