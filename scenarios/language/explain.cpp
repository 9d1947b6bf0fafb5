#include "scenarios/language/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/resolve/schemes.hpp"

namespace windtunnel {
namespace {

class Explanation {
 public:
  Explanation(const Values& values, const EvidenceList& evidence, const Job& job)
      : values_(values), evidence_(evidence), job_(job) {}

  std::vector<ResolvedValue> rows() {
    add_scenario();
    add_model();
    add_node();
    add_fabric();
    add_calibration();
    add_derived();
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.rank < b.rank; });
    std::vector<ResolvedValue> sorted;
    for (Row& row : rows_) sorted.push_back(std::move(row.value));
    return sorted;
  }

 private:
  // Row of the table, but the items of a list follow each other: (list, item, row).
  using Rank = std::array<int, 3>;
  struct Row {
    Rank rank;
    ResolvedValue value;
  };

  static int index_of(std::string_view path) {
    const Field* field = find_field(path);
    CHECK(field != nullptr, "'{}' is not in the field table", path);
    return static_cast<int>(field - field_table().data());
  }

  static Rank rank_of(std::string_view key) {
    const std::string pattern = pattern_of(key);
    const int own = index_of(pattern);
    const size_t star = pattern.find(".*");
    if (star == std::string::npos) return {own, 0, 0};
    return {index_of(pattern.substr(0, star)), std::stoi(std::string(key.substr(star + 1))), own};
  }

  void add_scenario() {
    for (const auto& [key, value] : values_.all()) {
      Evidence evidence = {Origin::assumed, "default"};
      if (value.stated) evidence = {Origin::assumed, "chosen by the scenario"};
      if (value.stated && (value.field->fact || !value.scheme.empty())) {
        evidence = windtunnel::evidence_of(value, evidence_);
      }
      ResolvedValue resolved{.key = key,
                             .value = text_of(value),
                             .is_default = !value.stated,
                             .origin = evidence.origin,
                             .source = evidence.source,
                             .dimension = value.dimension,
                             .scope = value.field->scope};
      if (value.text.empty()) resolved.number = value.number;
      if (key == "schedule.name" && job_.schedule.imported) {  // what runs, not the default
        resolved.value = job_.schedule.name;
        resolved.source = "schedule.file";
      }
      rows_.push_back({rank_of(key), std::move(resolved)});
    }
  }

  // What the scenario leaves open; `place` is the row of the table that it belongs to.
  void add_open(const std::string& key, const std::string& text, const Evidence& evidence,
                std::string_view place) {
    if (values_.has(key)) return;
    rows_.push_back({rank_of(place),
                     {.key = key,
                      .value = text,
                      .is_default = true,
                      .origin = evidence.origin,
                      .source = evidence.source,
                      .scope = find_field(place)->scope}});
  }
  void add_open(const std::string& key, const std::string& text, const Evidence& evidence) {
    add_open(key, text, evidence, key);
  }
  void add_open(const std::string& key, double number, Dimension dimension,
                const Evidence& evidence, std::string_view place) {
    if (values_.has(key)) return;
    add_open(key, format_quantity(number, dimension), evidence, place);
    rows_.back().value.number = number;
    rows_.back().value.dimension = dimension;
  }
  static Evidence evidence_of(const Parameter& parameter) {
    return {parameter.origin, parameter.source};
  }

  template <class Spec>
  void add_sizes(std::span<const SizeField<Spec>> fields, std::string_view path, const Spec& spec,
                 const Evidence& evidence) {
    for (const SizeField<Spec>& field : fields) {
      if (!field.required && spec.*field.member == 0) continue;
      add_open(join_path(path, field.key), std::to_string(spec.*field.member), evidence);
    }
  }

  void add_model() {
    if (job_.network) return;  // nothing of it can be changed
    const TransformerSpec& model = job_.model;
    const Evidence evidence = {values_.has("model.base") ? Origin::published : Origin::assumed,
                               values_.has("model.base") ? model.source : "default"};
    TransformerSpec resolved = model;
    resolved.head_width = model.head_dim();
    add_sizes(model_sizes(), "model", resolved, evidence);
    if (model.moe.experts > 0) {
      add_sizes(moe_sizes(), "model.moe", model.moe, evidence);
      add_open("model.moe.imbalance", model.moe.imbalance, Dimension::number,
               {Origin::assumed, "default"}, "model.moe.imbalance");
    }
    if (model.latent.kv_rank > 0) {
      add_sizes(latent_sizes(), "model.latent", model.latent, evidence);
    }
    for (const ModelFlag& field : model_flags()) {
      if (!field.required && !(model.*field.member)) continue;
      add_open(join_path("model", field.key), model.*field.member ? "true" : "false", evidence);
    }
    const auto add_name = [&](const char* key, std::string_view name) {
      add_open(key, std::string(name), evidence);
    };
    add_name("model.activation", name_of(model.activation));
    add_name("model.normalisation", name_of(model.normalisation));
    add_name("model.position", name_of(model.position));
    add_name("model.attention", name_of(model.attention));
  }

  void add_node() {
    const NodeSpec& node = job_.cluster.node;
    const std::string path = "cluster.node";
    add_open(path + ".gpu", node.gpu.name, evidence_of(node.nvlink_Bps));
    add_open(path + ".gpus", std::to_string(node.gpus), evidence_of(node.nvlink_Bps));
    if (node.package_gpus > 1) {
      add_open(path + ".package_gpus", std::to_string(node.package_gpus),
               evidence_of(node.package_Bps));
    }
    add_open(path + ".nics", std::to_string(node.nics), evidence_of(node.nic_Bps));
    add_open(path + ".gpu_path", std::string(name_of(node.gpu_path)), evidence_of(node.nvlink_Bps));
    for (const ParameterField<NodeSpec>& field : node_fields()) {
      const Parameter& parameter = node.*field.member;
      if (!field.required && parameter.source.empty()) continue;  // it has none
      const std::string key = join_path(path, field.key);
      add_open(key, parameter.value, field.dimension, evidence_of(parameter), key);
    }
    for (const ParameterField<GpuSpec>& field : gpu_fields()) {
      const Parameter& parameter = node.gpu.*field.member;
      add_open(join_path(path + ".gpu", field.key), parameter.value, field.dimension,
               evidence_of(parameter), path + ".gpu");
    }
  }

  void add_fabric() {
    const FabricSpec& fabric = job_.cluster.fabric;
    const std::string path = "cluster.fabric";
    const NamedFabric& base = find_fabric(values_.text(path + ".base"));
    const Evidence evidence = {base.origin, base.source};
    const auto add_name = [&](const char* key, std::string_view name) {
      add_open(path + key, std::string(name), evidence);
    };
    add_name(".topology", name_of(fabric.topology));
    add_name(".transport", name_of(fabric.transport));
    add_name(".routing", name_of(fabric.routing));
    for (const SizeField<FabricSpec>& field : fabric_sizes()) {
      if (!used_by(fabric, field.key)) continue;
      add_open(join_path(path, field.key), std::to_string(fabric.*field.member), evidence);
    }
    for (const FabricRatio& ratio : fabric_ratios()) {
      if (!used_by(fabric, ratio.key)) continue;
      const std::string key = join_path(path, ratio.key);
      add_open(key, fabric.*ratio.member, Dimension::number, evidence, key);
    }
    if (fabric.topology == Topology::torus && !values_.stated(path + ".dimensions")) {
      add_open(path + ".dimensions", fmt::format("[{}]", fmt::join(fabric.dimensions, ", ")),
               evidence);
    }
    for (const ParameterField<FabricSpec>& field : fabric_parameters()) {
      const Parameter& parameter = fabric.*field.member;
      if (!used_by(fabric, field.key) || parameter.source.empty()) continue;
      const std::string key = join_path(path, field.key);
      add_open(key, parameter.value, field.dimension, evidence_of(parameter), key);
    }
  }

  // What another form or routing has says nothing here; nor does what follows from other values.
  static bool used_by(const FabricSpec& fabric, std::string_view key) {
    if (key == "uplinks") return fabric.uplinks > 0 && belongs_to(key, fabric.topology);
    if (key == "parts") return fabric.routing == Routing::split_single_path;
    return belongs_to(key, fabric.topology);
  }

  void add_calibration() {
    const auto add = [&](const std::string& key, std::string_view unit, const Parameter& from) {
      const Dimension dimension = unit == "s"   ? Dimension::seconds
                                  : unit == "B" ? Dimension::bytes
                                                : Dimension::number;
      add_open(key, from.value, dimension, evidence_of(from), "calibration");
    };
    for (const CalibrationField& field : calibration_fields()) {
      add(fmt::format("calibration.{}", field.name), field.unit, job_.calibration.*field.member);
    }
    for (const KernelShare& kernel : job_.calibration.kernels) {
      add(fmt::format("calibration.kernels.{}", kernel.name), "", kernel.share);
    }
    for (const KernelStarts& kernel : job_.calibration.kernel_starts) {
      add(fmt::format("calibration.kernel_starts.{}", kernel.name), "", kernel.starts);
    }
    for (const KernelLaw& law : job_.calibration.kernel_laws.laws) {
      add_open(fmt::format("calibration.kernel_laws.{}", law.key), law_text(law),
               {Origin::measured, "a law of its own"}, "calibration");
    }
    const InterconnectLaw& law = job_.calibration.network;
    if (!law.stated) return;
    for (const InterconnectLawField& field : interconnect_law_fields()) {
      add(fmt::format("calibration.network.{}", field.name), field.unit, law.*field.member);
    }
  }

  static std::string law_text(const KernelLaw& law) {
    if (law.curve.sizes.empty()) {
      return fmt::format(
          "{:.4g} s + {:.4g} s a FLOP + {:.4g} s a byte{}", law.fixed_s, law.flop_s, law.byte_s,
          law.shapes.empty() ? "" : fmt::format(", corrected near {} shapes", law.shapes.size()));
    }
    return fmt::format("{:.4g} s to {:.4g} s for {} to {}", law.curve.seconds.front(),
                       law.curve.seconds.back(), format_bytes(law.curve.sizes.front()),
                       format_bytes(law.curve.sizes.back()));
  }

  // Defaults that follow from other values.
  void add_derived() {
    add_open("layout.dp", std::to_string(job_.layout.dp),
             {Origin::assumed, "GPUs / (tp x cp x pp)"});
    const Layout& layout = job_.layout;
    add_open("layout.vpp", std::to_string(layout.vpp), {Origin::assumed, "the schedule's usual"});
    if (layout.sharding != Sharding::none) {
      add_open("layout.shard_ranks", std::to_string(layout.dp * layout.cp),
               {Origin::assumed, "dp x cp"});
    }
    for (size_t i = 0; i < job_.failures.size(); ++i) {
      const FailureClass& failure = job_.failures[i];
      const std::string repair = fmt::format("failures.{}.repair", i);
      if (failure.kind != FailureKind::node && failure.kind != FailureKind::slow_node) continue;
      if (values_.stated(repair)) continue;
      add_open(repair, failure.repair.fixed_s, Dimension::seconds, {Origin::assumed, "default"},
               repair);
    }
    for (size_t i = 0; i < job_.snapshots.size(); ++i) {
      const ErasureCode& code = job_.snapshots[i].code;
      if (code.name == CodeName::none) continue;
      const std::string path = fmt::format("snapshots.{}.code", i);
      const Evidence name = {Origin::assumed, "follows from the code's name"};
      add_open(path + ".data", std::to_string(code.data), name);
      add_open(path + ".parity", std::to_string(code.parity), name);
      add_open(path + ".scope", code.in_node ? "node" : "nodes",
               {Origin::assumed, "follows from the tier"});
    }
    if (job_.steps > 0) {
      add_open("job.steps", job_.steps, Dimension::count,
               {Origin::assumed, "the curve of job.quality"}, "job.steps");
    }
    add_open("batch.sequence", std::to_string(job_.batch.sequence),
             {Origin::assumed, "the model's sequence"});
  }

  const Values& values_;
  const EvidenceList& evidence_;
  const Job& job_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<ResolvedValue> explain_values(const Values& values, const EvidenceList& evidence,
                                          const Job& job) {
  return Explanation(values, evidence, job).rows();
}

}  // namespace windtunnel
