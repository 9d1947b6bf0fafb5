#include "scenarios/language/library/library.hpp"

#include <map>
#include <mutex>

#include "models/base/find_named.hpp"
#include "scenarios/language/library/calibration_heads.hpp"
#include "scenarios/language/library/layer_table_reader.hpp"
#include "scenarios/language/library/library_reader.hpp"

namespace windtunnel {
namespace {

DocumentNode document_of(const LibraryFile& file) {
  return parse_document(std::string(file.text), "library/" + std::string(file.path));
}

}  // namespace

DocumentNode library_document(std::string_view path) {
  for (const LibraryFile& file : library_files()) {
    if (file.path == path) return document_of(file);
  }
  fail_check("file is embedded", __FILE__, __LINE__, std::string(path));
}

const std::vector<GpuSpec>& library_gpus() {
  static const std::vector<GpuSpec> gpus = read_gpus(library_document("gpus.yaml"));
  return gpus;
}

const std::vector<NodeSpec>& library_nodes() {
  static const std::vector<NodeSpec> nodes =
      read_nodes(library_document("nodes.yaml"), library_gpus());
  return nodes;
}

const std::vector<TransformerSpec>& library_models() {
  static const std::vector<TransformerSpec> models = read_models(library_document("models.yaml"));
  return models;
}

const std::vector<LayerTable>& library_networks() {
  static const std::vector<LayerTable> networks =
      read_layer_tables(library_document("layer_tables.yaml"));
  return networks;
}

const std::vector<NamedFabric>& library_fabrics() {
  static const std::vector<NamedFabric> fabrics = read_fabrics(library_document("fabrics.yaml"));
  return fabrics;
}

const std::vector<Calibration>& library_calibrations() {
  static const std::vector<Calibration> calibrations = [] {
    std::vector<Calibration> found;
    for (const CalibrationHead& head : library_calibration_heads()) {
      found.push_back(find_calibration(head.name));
    }
    return found;
  }();
  return calibrations;
}

const GpuSpec& find_gpu(std::string_view name) {
  return find_named(library_gpus(), "gpu", name);
}

const NodeSpec& find_node(std::string_view name) {
  return find_named(library_nodes(), "node", name);
}

const TransformerSpec& find_model(std::string_view name) {
  return find_named(library_models(), "model", name);
}

const NamedFabric& find_fabric(std::string_view name) {
  return find_named(library_fabrics(), "fabric", name);
}

const Calibration& find_calibration(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string_view, Calibration> known;  // each is read when it is asked for
  const CalibrationHead& head = find_named(library_calibration_heads(), "calibration", name);
  const std::scoped_lock lock(mutex);
  const auto found = known.find(head.name);
  if (found != known.end()) return found->second;
  return known.emplace(head.name, read_calibration(document_of(head.file))).first->second;
}

Calibration calibration_of(const std::string& name_or_path) {
  if (!name_or_path.ends_with(".yaml")) return find_calibration(name_or_path);
  return read_calibration(parse_document(read_text_file(name_or_path), name_or_path));
}

}  // namespace windtunnel
