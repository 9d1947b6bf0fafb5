#include "report/listing/listing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "models/base/units.hpp"
#include "models/reliability/snapshot_place.hpp"
#include "policies/protection/snapshot_tiers.hpp"
#include "policies/schedules/schedules.hpp"
#include "report/figures/figures.hpp"
#include "report/json/json.hpp"
#include "report/json/model_json.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/resolve/schemes.hpp"

namespace windtunnel {
namespace {

// Keys of documents name the base unit: "memory_bandwidth" of a scenario is memory_Bps here.
std::string unit_key(std::string_view key, Dimension dimension) {
  constexpr std::string_view kBandwidth = "_bandwidth";
  if (key.ends_with(kBandwidth)) key.remove_suffix(kBandwidth.size());
  const char* unit = dimension == Dimension::bytes         ? "_bytes"
                     : dimension == Dimension::bytes_per_s ? "_Bps"
                     : dimension == Dimension::flops_per_s ? "_flops"
                     : dimension == Dimension::seconds     ? "_s"
                                                           : "";
  return std::string(key) + unit;
}

// Adds the numbers with evidence that the rows are bound to.
template <class Spec>
void add_parameters(Json& json, const std::vector<BoundRow>& rows, const Spec& spec) {
  for (const BoundRow& row : rows) {
    const Parameter* parameter = parameter_of(*row.field, spec);
    if (parameter == nullptr) continue;
    json[unit_key(row.key, row.field->dimension)] = parameter_json(*parameter);
  }
}

std::string tflops_text(const Parameter& flops) {
  return flops.value > 0 ? value_text(Unit::tflops, flops.value / 1e12) : "-";
}

TextTable gpu_table() {
  return table_of(
      "gpu | fp16 TFLOP/s > | bf16 > | fp8 > | fp4 > | memory > | bandwidth > | "
      "SMs > | origin | source",
      library_gpus(), [](const GpuSpec& gpu) -> TableRow {
        return {gpu.name,
                tflops_text(gpu.fp16_flops),
                tflops_text(gpu.bf16_flops),
                tflops_text(gpu.fp8_flops),
                tflops_text(gpu.fp4_flops),
                format_bytes(gpu.memory_bytes.value),
                format_bandwidth(gpu.memory_Bps.value),
                fmt::format("{:.0f}", gpu.sms.value),
                to_string(gpu.memory_Bps.origin),
                gpu.memory_Bps.source};
      });
}

Json gpu_document() {
  return {{"gpus", list_json(library_gpus(), [](const GpuSpec& gpu) {
             Json json = {{"name", gpu.name}};
             add_parameters(json, bound_rows<GpuSpec>("cluster.node.gpu"), gpu);
             return json;
           })}};
}

TextTable node_table() {
  return table_of(
      "node | gpus | NVLink per GPU > | NICs | PCIe per GPU > | host memory > | "
      "cores > | origin | source",
      library_nodes(), [](const NodeSpec& node) -> TableRow {
        return {node.name,
                fmt::format("{} x {}", node.gpus, node.gpu.name),
                format_bandwidth(node.nvlink_Bps.value),
                fmt::format("{} x {}", node.nics, format_bandwidth(node.nic_Bps.value)),
                format_bandwidth(node.pcie_Bps.value),
                format_bytes(node.host_memory_bytes.value),
                fmt::format("{:.0f}", node.cpu_cores.value),
                to_string(node.nic_Bps.origin),
                node.nic_Bps.source};
      });
}

Json node_document() {
  return {{"nodes", list_json(library_nodes(), [](const NodeSpec& node) {
             Json json = {{"name", node.name},
                          {"gpu", node.gpu.name},
                          {"gpus", node.gpus},
                          {"gpu_path", name_of(node.gpu_path)},
                          {"package_gpus", node.package_gpus},
                          {"nics", node.nics}};
             add_parameters(json, bound_rows<NodeSpec>("cluster.node"), node);
             return json;
           })}};
}

TextTable model_table() {
  TextTable table = titled_table(
      "model | parameters > | active > | layers > | hidden > | heads > | kv heads > | "
      "ffn > | vocabulary > | sequence > | source");
  for (const TransformerSpec& model : library_models()) {
    table.rows.push_back(
        {model.name, format_count(model.parameters()), format_count(model.active_parameters()),
         std::to_string(model.layers), std::to_string(model.hidden), std::to_string(model.heads),
         std::to_string(model.kv_heads), std::to_string(model.ffn_hidden),
         std::to_string(model.vocabulary), std::to_string(model.sequence), model.source});
  }
  // Tables of layers are listed with the transformers.
  for (const LayerTable& network : library_networks()) {
    table.rows.push_back({network.name, format_count(network.parameters()),
                          format_count(network.parameters()), std::to_string(network.layers.size()),
                          "-", "-", "-", "-", "-", "-", network.source});
  }
  return table;
}

Json model_document() {
  Json array = Json::array();
  for (const TransformerSpec& model : library_models()) array.push_back(model_json(model));
  for (const LayerTable& network : library_networks()) array.push_back(model_json(network));
  return {{"models", array}};
}

// This is the structure of a fabric in words: "pods of 384 nodes, 1:7 above".
std::string form_text(const FabricSpec& fabric) {
  switch (fabric.topology) {
    case Topology::torus:
      return fmt::format("{}, {} a cable", fmt::join(fabric.dimensions, " x "),
                         format_bandwidth(fabric.link_Bps.value));
    case Topology::dragonfly:
      return fmt::format("groups of {} routers of {} nodes, {} local, {} global",
                         fabric.routers_per_group, fabric.nodes_per_router,
                         format_bandwidth(fabric.local_Bps.value),
                         format_bandwidth(fabric.global_Bps.value));
    case Topology::clos:
    case Topology::rail_fat_tree:
    case Topology::fat_tree:
    case Topology::rail_only:
      break;
    case Topology::sites:
    case Topology::graph:
      return "of a scenario";
  }
  std::string text;
  if (fabric.topology == Topology::clos) {
    text = fmt::format("leaves of {} nodes, {:g}:1 above, ", fabric.nodes_per_leaf,
                       fabric.leaf_oversubscription);
  }
  if (fabric.nodes_per_pod == 0) return text + "one pod";
  return text + fmt::format("pods of {} nodes, {:g}:1 above", fabric.nodes_per_pod,
                            fabric.pod_oversubscription);
}

TextTable fabric_table() {
  return table_of("fabric | topology | transport | form | hop latency > | origin | source",
                  library_fabrics(), [](const NamedFabric& named) -> TableRow {
                    const FabricSpec& fabric = named.fabric;
                    return {named.name,
                            std::string(name_of(fabric.topology)),
                            std::string(name_of(fabric.transport)),
                            form_text(fabric),
                            format_seconds(fabric.hop_latency_s.value),
                            to_string(named.origin),
                            named.source};
                  });
}

Json fabric_document() {
  return {{"fabrics", list_json(library_fabrics(), [](const NamedFabric& named) {
             const FabricSpec& fabric = named.fabric;
             Json json = {{"name", named.name},
                          {"topology", name_of(fabric.topology)},
                          {"transport", name_of(fabric.transport)},
                          {"routing", name_of(fabric.routing)},
                          {"origin", to_string(named.origin)},
                          {"source", named.source}};
             std::vector<BoundRow> rows = fabric_members();
             std::erase_if(rows, [&](const BoundRow& row) {
               const bool of_routing = row.key == "parts" || row.key == "uplinks";
               return of_routing || row.field->in_entry == InEntry::never ||
                      !belongs_to(row.key, fabric.topology);
             });
             add_parameters(json, rows, fabric);
             for (const ScalarType scalar : {ScalarType::integer, ScalarType::quantity}) {
               for (const BoundRow& row : rows) {
                 if (row.field->scalar != scalar || row.field->binding.parameter != nullptr)
                   continue;
                 json[std::string(row.key)] = plain_json(*value_in(fabric, *row.field));
               }
             }
             if (belongs_to("dimensions", fabric.topology)) json["dimensions"] = fabric.dimensions;
             return json;
           })}};
}

TextTable schedule_table() {
  return table_of(
      "schedule | what it is | source", schedule_kinds(), [](const ScheduleKind& kind) -> TableRow {
        return {std::string(kind.name), std::string(kind.help), std::string(kind.source)};
      });
}

Json schedule_document() {
  return {{"schedules", list_json(schedule_kinds(), [](const ScheduleKind& kind) -> Json {
             return MEMBERS_JSON(kind, name, help, source);
           })}};
}

std::array<int, kOrigins> parameters_by_origin(const Calibration& calibration) {
  std::array<int, kOrigins> counts{};
  for (const CalibrationField& field : calibration_fields()) {
    ++counts[static_cast<size_t>((calibration.*field.member).origin)];
  }
  return counts;
}

TextTable calibration_table() {
  TextTable table = titled_table("calibration | gpu");
  for (int i = 0; i < kOrigins; ++i) {
    table.columns.push_back({to_string(static_cast<Origin>(i)), Align::right});
  }
  for (const Calibration& calibration : library_calibrations()) {
    std::vector<std::string> row = {calibration.name,
                                    calibration.gpu.empty() ? "any" : calibration.gpu};
    for (const int count : parameters_by_origin(calibration)) row.push_back(std::to_string(count));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json calibration_document() {
  return {
      {"calibrations",
       list_json(library_calibrations(), [](const Calibration& calibration) -> Json {
         Json parameters = Json::object();
         for (const CalibrationField& field : calibration_fields()) {
           Json& parameter = parameters[std::string(field.name)];
           parameter = parameter_json(calibration.*field.member);
           parameter["unit"] = field.unit;
         }
         return {{"name", calibration.name}, {"gpu", calibration.gpu}, {"parameters", parameters}};
       })}};
}

// Every kind of tier that a scenario can name, in each variant that survives different failures.
struct TierKind {
  SnapshotTier tier;
  std::string text;
  std::string help;
};

TierKind tier_kind(const PlaceTraits& place, bool kept) {
  TierKind kind{{.place = place.place, .keeper_process = kept}, {}, std::string(place.help)};
  kind.text = fmt::format("{{tier: {}{}", name_of(place.place), kept ? ", keeper: process" : "");
  if (place.code == PlaceCode::always) {
    kind.tier.code = {.name = CodeName::copies, .parity = 1};
    kind.text += ", code: copies";
  } else if (place.of_process) {
    kind.help += kept ? ", held by a separate process" : ", held by the trainer";
  }
  kind.text += "}";
  return kind;
}

std::vector<TierKind> tier_kinds() {
  std::vector<TierKind> kinds;
  for (const PlaceTraits& place : kSnapshotPlaces) {
    const bool of_process_alone = place.of_process && place.code == PlaceCode::always;
    if (!of_process_alone) kinds.push_back(tier_kind(place, false));
    if (place.of_process) kinds.push_back(tier_kind(place, true));
  }
  return kinds;
}

// The job assumed by the listing, large enough for every scheme: eight GPUs per node, four nodes
// with each shard.
constexpr int kListedGpus = 8;
TierProtection listed_protection(const SnapshotTier& tier) {
  constexpr int kNodes = 64;
  return protection_of(tier, kNodes, {.nodes = kNodes, .size = 4, .stride = 16});
}

}  // namespace

std::string survived_text(const SnapshotTier& tier, const TierProtection& protection) {
  if (protection.everything) return "everything";
  std::vector<std::string> survived;
  if (protection.trainer) survived.emplace_back("process crash");
  if (protection.keeper && tier.keeper_process) survived.emplace_back("keeper crash");
  if (protection.stop) survived.emplace_back("planned stop");
  if (!protection.node) survived.emplace_back("node loss");
  if (!traits_of(tier).copied) {
    survived.emplace_back("loss of a node while another one holds the shard");
  } else if (protection.tolerated > 0) {
    survived.push_back(
        fmt::format("loss of {} of {} nodes", protection.tolerated, protection.groups.size));
  }
  return survived.empty() ? "nothing" : fmt::format("{}", fmt::join(survived, ", "));
}

Json survived_json(const SnapshotTier& tier, const TierProtection& protection) {
  Json json = {{"everything", protection.everything},
               {"process", protection.trainer},
               {"keeper", protection.keeper},
               {"planned", protection.stop}};
  if (traits_of(tier).copied) {
    // If no copy is on the nodes, losing them loses nothing.
    const bool elsewhere = !protection.node && !protection.everything;
    json["nodes"] = elsewhere ? protection.groups.size : protection.tolerated;
    json["of_nodes"] = protection.groups.size;
  }
  return json;
}

namespace {

std::string survived_text(const SnapshotTier& tier) {
  return survived_text(tier, listed_protection(tier));
}

Json survived_json(const SnapshotTier& tier) {
  return survived_json(tier, listed_protection(tier));
}

TextTable snapshot_table() {
  TextTable table = titled_table("snapshots | tier | survives | what it is | origin | source");
  for (const TierKind& kind : tier_kinds()) {
    table.rows.push_back({"-", kind.text, survived_text(kind.tier), kind.help, "-", "-"});
  }
  for (const Scheme& scheme : snapshot_schemes()) {
    const Evidence evidence = scheme.evidence.of("snapshots");
    const std::vector<SnapshotTier> tiers = tiers_of(scheme, kListedGpus);
    const bool none = tiers.empty();
    table.rows.push_back({scheme.name, none ? "[]" : flow_text(scheme.body.items[0]),
                          none ? "nothing" : survived_text(tiers[0]), scheme.help,
                          to_string(evidence.origin), evidence.source});
    for (size_t i = 1; i < tiers.size(); ++i) {
      table.rows.push_back(
          {"", flow_text(scheme.body.items[i]), survived_text(tiers[i]), "", "", ""});
    }
  }
  return table;
}

Json snapshot_document() {
  const Json kinds = list_json(tier_kinds(), [](const TierKind& kind) -> Json {
    return {{"tier", kind.text}, {"survives", survived_json(kind.tier)}, {"help", kind.help}};
  });
  const Json schemes = list_json(snapshot_schemes(), [](const Scheme& scheme) -> Json {
    size_t i = 0;
    const auto tier_json = [&](const SnapshotTier& tier) -> Json {
      return {{"tier", flow_text(scheme.body.items[i++])}, {"survives", survived_json(tier)}};
    };
    const Evidence evidence = scheme.evidence.of("snapshots");
    return {{"name", scheme.name},
            {"help", scheme.help},
            {"tiers", list_json(tiers_of(scheme, kListedGpus), tier_json)},
            {"origin", to_string(evidence.origin)},
            {"source", evidence.source}};
  });
  return {{"tiers", kinds}, {"snapshots", schemes}};
}

TextTable recovery_table() {
  return table_of("recovery | what it sets | what it is | origin | source", recovery_schemes(),
                  [](const Scheme& scheme) -> TableRow {
                    const Evidence evidence = scheme.evidence.of("recovery");
                    return {scheme.name, flow_text(scheme.body), scheme.help,
                            to_string(evidence.origin), evidence.source};
                  });
}

Json recovery_document() {
  return {{"recoveries", list_json(recovery_schemes(), [](const Scheme& scheme) -> Json {
             const Evidence evidence = scheme.evidence.of("recovery");
             return {{"name", scheme.name},
                     {"help", scheme.help},
                     {"recovery", flow_text(scheme.body)},
                     {"origin", to_string(evidence.origin)},
                     {"source", evidence.source}};
           })}};
}

}  // namespace

const std::vector<Listing>& listings() {
  static const std::vector<Listing> table = {
      {"gpus", "GPUs of the library", gpu_table, gpu_document},
      {"nodes", "nodes of the library", node_table, node_document},
      {"models", "transformers and networks of the library", model_table, model_document},
      {"fabrics", "networks of the library", fabric_table, fabric_document},
      {"schedules", "pipeline schedules", schedule_table, schedule_document},
      {"compressors", "compressors of the gradients", compressor_table, compressor_document},
      {"calibrations", "fitted cost models, parameters by origin", calibration_table,
       calibration_document},
      {"attention", "attention kernels by name: causal heads of 128, 16,384 tokens",
       attention_table, attention_document},
      {"snapshots", "snapshot tiers, and published stacks of them", snapshot_table,
       snapshot_document},
      {"writers", "software that writes snapshots: speed of a process", snapshot_writer_table,
       snapshot_writer_document},
      {"recoveries", "published ways to continue after a failure", recovery_table,
       recovery_document}};
  return table;
}

}  // namespace windtunnel
