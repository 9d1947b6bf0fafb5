// The machine and the model of a job, from checked values: nodes, storage, slow nodes, calibration,
// transformer or table of layers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/machine/fabrics/job_places.hpp"
#include "scenarios/language/configs/hugging_face.hpp"
#include "scenarios/language/configs/megatron_arguments.hpp"
#include "scenarios/language/library/calibration_heads.hpp"
#include "scenarios/language/library/facts/attention_kernels.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "scenarios/language/library/layer_table_reader.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/resolve/placement.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {
namespace {

void check_packages(const NodeSpec& node, const std::string& path, const Values& values) {
  const std::string key = path + ".package_gpus";
  if (node.package_gpus == 1) {
    if (values.has(key) || !values.has(path + ".package")) return;
    values.fail(path + ".package", "a package has only one GPU; add package_gpus");
  }
  if (node.package_Bps.value == 0) {
    values.fail(key, "the bandwidth between GPUs of a package is missing; add package");
  }
  if (node.gpus % node.package_gpus != 0) {
    throw Error(values.fault_at(path),
                fmt::format("{}: {} GPUs are no multiple of a package of {}; set package_gpus: 1, "
                            "or another number of gpus",
                            path, node.gpus, node.package_gpus));
  }
  if (node.gpu_path == GpuPath::pcie) {
    throw Error(values.fault_at(path),
                fmt::format("{}: GPUs of a package need no PCIe; set package_gpus: 1, or gpu_path: "
                            "nvlink",
                            path));
  }
}

}  // namespace

NodeSpec resolve_node(const Values& values, const EvidenceList& evidence, const std::string& path) {
  NodeSpec node = find_node(values.text(path + ".base"));
  const std::string gpu = path + ".gpu";
  if (values.has(gpu + ".base")) node.gpu = find_gpu(values.text(gpu + ".base"));
  override_members(gpu, values, evidence, node.gpu);
  override_members(path, values, evidence, node);
  if (values.has(path + ".host_bridge") && node.gpu_path == GpuPath::nvlink) {
    values.fail(path + ".host_bridge", "its GPUs reach each other over NVLink; add gpu_path: pcie");
  }
  check_packages(node, path, values);
  if (node.gpus % node.nics != 0 && node.nics % node.gpus != 0) {
    throw Error(values.fault_at(path),
                fmt::format("{}: {} GPUs cannot share {} NICs evenly", path, node.gpus, node.nics));
  }
  return node;
}

namespace {

StorageSpec resolve_storage(const Values& values, const EvidenceList& evidence) {
  StorageSpec storage;
  if (!values.stated("cluster.storage")) return storage;
  override_members("cluster.storage", values, evidence, storage);
  if (values.stated("cluster.storage.storm")) {
    values.fill("cluster.storage.storm", storage.storm);
  }
  if (!values.stated("cluster.storage.latency")) {
    storage.latency_s.source = StorageSpec{}.latency_s.source;
  }
  return storage;
}

// The number at `key` counts from 0 and must be below `count`.
int resolve_index(const Values& values, const std::string& key, int count, std::string_view noun) {
  const int index = values.integer(key);
  if (index >= count) {
    throw Error(values.where(key),
                fmt::format("{}: there is no {} {}; there are {}, counted from 0", key, noun, index,
                            count));
  }
  return index;
}

[[noreturn]] void fail_twice(const Values& values, std::string_view list, int first, int second,
                             const std::string& what) {
  const std::string path = fmt::format("{}.{}", list, second);
  throw Error(values.where(path), fmt::format("{} and {}.{} both describe {}; keep one of them",
                                              path, list, first, what));
}

void resolve_slow_nodes(const Values& values, Cluster& cluster) {
  const std::string list = "cluster.slow_nodes";
  std::map<int, int> entry_of;
  for (int i = 0; i < values.length(list); ++i) {
    const std::string path = fmt::format("{}.{}", list, i);
    const int node = resolve_index(values, path + ".node", cluster.fabric_nodes(), "node");
    const auto [other, added] = entry_of.try_emplace(node, i);
    if (!added) fail_twice(values, list, other->second, i, fmt::format("node {}", node));
    values.fill(path, cluster.slow_nodes.emplace_back());
  }
}

void resolve_degraded_nics(const Values& values, Cluster& cluster) {
  const std::string list = "cluster.degraded_nics";
  std::map<std::pair<int, int>, int> entry_of;
  for (int i = 0; i < values.length(list); ++i) {
    const std::string path = fmt::format("{}.{}", list, i);
    const int node = resolve_index(values, path + ".node", cluster.fabric_nodes(), "node");
    const int nic = resolve_index(values, path + ".nic",
                                  cluster.node_of_pool(cluster.pool_of_place(node)).nics, "NIC");
    const auto [other, added] = entry_of.try_emplace({node, nic}, i);
    if (!added) {
      fail_twice(values, list, other->second, i, fmt::format("NIC {} of node {}", nic, node));
    }
    values.fill(path, cluster.degraded_nics.emplace_back());
  }
}

void resolve_jitter(const Values& values, Cluster& cluster) {
  const std::string path = "cluster.jitter";
  if (!values.stated(path)) return;
  values.fill(path, cluster.jitter);
  std::string law;
  for (const char* name : {"sigma", "exponential", "pareto", "gilbert_elliott", "share"}) {
    const std::string key = join_path(path, name);
    if (!values.stated(key)) continue;
    if (!law.empty()) {
      values.fail(
          key, fmt::format("{} already sets the law of these factors; keep one of the two", law));
    }
    law = key;
  }
  const std::string share = path + ".share";
  const std::string slowdown = path + ".slowdown";
  if (values.has(slowdown) && !values.has(share)) {
    values.fail(slowdown, "the share of slow steps is missing; add share");
  }
  if (values.has(share) && !values.has(slowdown)) {
    values.fail(share, "the slowdown of slow steps is missing; add slowdown");
  }
  if (law.empty()) {
    values.fail(path,
                "no law is stated; add sigma, exponential, pareto, gilbert_elliott, or share "
                "with slowdown");
  }
  const std::string memory = path + ".memory";
  if (values.stated(memory) && (law.ends_with("share") || law.ends_with("gilbert_elliott"))) {
    values.fail(memory,
                "applies to sigma, exponential and pareto; for bursts take gilbert_elliott");
  }
}

// A model without a base: dimensions that follow from others are filled in.
TransformerSpec inline_model(const Values& values) {
  for (const std::string key : {"layers", "hidden", "heads", "vocabulary"}) {
    if (values.has("model." + key)) continue;
    if (key == "layers" && values.has("model.hybrid_override_pattern")) continue;
    throw Error(values.where("model"),
                fmt::format("model has no '{}'; add it, or a 'base' to start from", key));
  }
  TransformerSpec model = model_family(values).forms;
  model.name = "inline";
  model.source = "stated by the scenario";
  return model;
}

// Refuses stated keys below `part` if `key`, without which the model does not have the part, is
// missing.
void check_part(const Values& values, const std::string& part, const std::string& key, int value) {
  if (value > 0 || !values.stated(part) || values.has(join_path(part, key))) return;
  throw Error(values.fault_at(part),
              fmt::format("neither {} nor the model that it starts from has '{}'", part, key));
}

// Returns speeds of the named kernel; null: the calibration's own kernel, or unfused attention.
std::shared_ptr<const AttentionSpeeds> named_attention(const Values& values, const GpuSpec& gpu) {
  const std::string& name = values.text("attention");
  if (name == "auto" || name == "eager") return nullptr;
  if (auto speeds = attention_speeds(name, gpu.name)) return speeds;
  const std::vector<std::string> own = attention_kernels_on(gpu.name);
  values.fail("attention",
              fmt::format("{} is not known on gpu '{}'; {}take auto or eager", name, gpu.name,
                          own.empty() ? "no named kernel is known there: "
                                      : fmt::format("known there are {}: take one of them, or ",
                                                    fmt::join(own, ", "))));
}

// Makes the model's attention fused or not, as the kernel named by `attention` is.
void name_attention(const Values& values, TransformerSpec& model) {
  const std::string& name = values.text("attention");
  if (name == "auto") return;
  const AttentionKernel wanted =
      name == "eager" ? AttentionKernel::unfused : AttentionKernel::flash;
  const bool other = values.stated("model.attention") && model.attention != wanted;
  if (other || model.attention == AttentionKernel::linear) {
    values.fail("attention",
                fmt::format("{} computes attention as model.attention: {}, but model '{}' has {}; "
                            "leave one of them out",
                            name, name_of(wanted), model.name, name_of(model.attention)));
  }
  model.attention = wanted;
}

Calibration named_calibration(const Values& values, const std::string& key, const GpuSpec& gpu,
                              NamedFiles& files) {
  const std::string& name = values.text(key);
  if (name.ends_with(".yaml")) {
    return values.about(
        key, [&] { return read_calibration(parse_document(files.text(name), files.path(name))); });
  }
  if (name != "auto") return find_calibration(name);
  for (const CalibrationHead& head : library_calibration_heads()) {
    Calibration alike;
    alike.gpu = head.gpu;
    if (is_of(alike, gpu.name)) return find_calibration(head.name);
  }
  return find_calibration("generic");
}

std::optional<LayerTable> network_of(const Values& values, NamedFiles& files) {
  const std::string& name = values.text("model.base");
  if (!name.ends_with(".yaml")) {
    const auto& networks = library_networks();
    const auto found = std::ranges::find(networks, name, &LayerTable::name);
    return found == networks.end() ? std::nullopt : std::optional(*found);
  }
  try {
    return parse_network_file(files.text(name), files.path(name));
  } catch (const Error& error) {
    throw Error(values.where("model.base"), fmt::format("model: {}", error.what()));
  }
}

// A table of layers, which the scenario cannot change; null if the model is a transformer.
std::shared_ptr<const LayerTable> named_network(const Values& values, NamedFiles& files) {
  if (!values.has("model.base")) return nullptr;
  const std::string& name = values.text("model.base");
  std::optional<LayerTable> found = network_of(values, files);
  if (!found) return nullptr;
  for (const auto& [key, value] : values.all()) {
    if (!key.starts_with("model.") || key == "model.base") continue;
    throw Error(
        value.where,
        fmt::format("{}: '{}' is a table of layers, which has no such dimension", key, name));
  }
  return std::make_shared<const LayerTable>(*std::move(found));
}

// Reads a model of the library, a Hugging Face config.json or Megatron-LM's arguments.
TransformerSpec base_model(const Values& values, NamedFiles& files) {
  const std::string& name = values.text("model.base");
  const bool json = name.ends_with(".json");
  if (!json && !name.ends_with(".args")) return find_model(name);
  try {
    const std::string text = files.text(name);
    const std::string path = files.path(name);
    return json ? model_of_hugging_face(text, path) : model_of_megatron_arguments(text, path);
  } catch (const Error& error) {
    throw Error(values.where("model.base"), fmt::format("model: {}", error.what()));
  }
}

TransformerSpec resolve_transformer(const Values& values, NamedFiles& files) {
  TransformerSpec model =
      values.has("model.base") ? base_model(values, files) : inline_model(values);
  values.fill("model", model);
  values.fill("model.moe", model.moe);
  values.fill("model.latent", model.latent);
  values.fill("model.sparse", model.sparse);
  values.fill("model.mamba", model.mamba);
  if (values.has("model.hybrid_override_pattern") && !values.has("model.layers")) {
    model.layers = static_cast<int>(model.pattern.size());
  }
  try {
    check_model(model);
  } catch (const Error& error) {
    const std::string key = error.keys().empty() ? "model" : error.keys().front();
    throw Error(values.fault_at(key), error.what());
  }
  check_part(values, "model.moe", "experts", model.moe.experts);
  check_part(values, "model.latent", "kv_rank", model.latent.kv_rank);
  check_part(values, "model.sparse", "heads", model.sparse.heads);
  resolve_tower(values, model);
  return model;
}

}  // namespace

void resolve_model(const Values& values, NamedFiles& files, Job& job) {
  job.network = named_network(values, files);
  job.model = job.network ? network_model(*job.network) : resolve_transformer(values, files);
  if (!job.network) name_attention(values, job.model);
}

Cluster resolve_cluster(const Values& values, const EvidenceList& evidence, NamedFiles& files) {
  Cluster cluster;
  values.fill("cluster", cluster);
  if (values.length("cluster.pools") > 0) {
    resolve_pools(values, evidence, cluster);
  } else {
    for (const auto& [key, example] : {std::pair{"nodes", "2048"}, {"node", "dgx-h100"}}) {
      if (values.stated(join_path("cluster", key))) continue;
      throw Error(values.where("cluster"),
                  fmt::format("cluster has no '{0}'; add e.g. '{0}: {1}'", key, example));
    }
    cluster.node = resolve_node(values, evidence, "cluster.node");
  }
  if (static_cast<double>(cluster.nodes) * cluster.node.gpus > 1e8) {
    throw Error(values.where("cluster.nodes"),
                fmt::format("cluster.nodes: {} nodes of {} GPUs are more than 100 million GPUs",
                            cluster.nodes, cluster.node.gpus));
  }
  if (cluster.fabric_nodes() < cluster.nodes) {
    values.fail("cluster.fabric.nodes",
                fmt::format("is {}, but the job has {} nodes; the fabric must join at least those",
                            cluster.machine_nodes, cluster.nodes));
  }
  cluster.places = resolve_placement(values, files, cluster);
  resolve_fabric(values, evidence, files, cluster);
  cluster.storage = resolve_storage(values, evidence);
  resolve_slow_nodes(values, cluster);
  resolve_jitter(values, cluster);
  resolve_degraded_nics(values, cluster);
  return cluster;
}

Calibration resolve_calibration(const Values& values, const std::string& key, const NodeSpec& node,
                                Transport transport, NamedFiles& files) {
  Calibration calibration = named_calibration(values, key, node.gpu, files);
  calibration.attention = named_attention(values, node.gpu);
  const std::string of = key.substr(0, key.size() - std::string_view("calibration").size());
  values.about((of.empty() ? "cluster." : of) + "node.power_limit",
               [&] { limit_clocks(node, calibration); });
  const std::string& wanted = values.text("communication.law");
  if (wanted == "constants") {
    calibration.network = {};
    calibration.node_network.reset();
  } else if (wanted == "auto") {
    state_network_law(node, transport, calibration);
  } else {
    const std::string why_not = why_no_network_law(node, transport);
    if (!why_not.empty()) values.fail("communication.law", why_not);
    const auto state = [&](InterconnectLaw& law) {
      if (!law.stated) law = specified_interconnect_law(node, transport);
    };
    state(calibration.network);
    if (calibration.node_network) state(*calibration.node_network);
  }
  return calibration;
}

std::vector<Note> network_law_notes(const Values& values, const Job& job) {
  if (values.text("communication.law") != "auto" || job.layout.ranks() == 1) return {};
  const Cluster& cluster = job.cluster;
  const int pools = std::max<int>(1, static_cast<int>(cluster.pools.size()));
  for (int pool = 0; pool < pools; ++pool) {
    const bool alike = cluster.pools.empty();
    Calibration calibration = alike ? job.calibration : job.pool_calibrations[pool];
    const std::string why = state_network_law(alike ? cluster.node : cluster.pools[pool].node,
                                              cluster.fabric.transport, calibration);
    if (!why.empty()) {
      return {
          {"communication.law",
           fmt::format("the cost of collectives follows from the constants of the calibration: {}",
                       why)}};
    }
  }
  return {};
}

Calibration resolve_job_calibration(const Values& values, const Job& job, NamedFiles& files) {
  const Cluster& cluster = job.cluster;
  const std::string key = "calibration";
  if (cluster.pools.empty()) {
    return resolve_calibration(values, key, cluster.node, cluster.fabric.transport, files);
  }
  if (values.text(key) != "auto") {
    values.fail(
        key, "with cluster.pools each pool has its own calibration: cluster.pools.0.calibration");
  }
  const std::vector<bool> used = pools_in_use(cluster);
  int slowest = -1;
  for (int pool = 0; pool < std::ssize(cluster.pools); ++pool) {
    if (used[pool]) slowest = slower_pool(job, slowest, pool);
  }
  return job.pool_calibrations[slowest];
}

}  // namespace windtunnel
