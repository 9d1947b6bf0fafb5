#include "tests/scenarios/imports/expected_rows.hpp"

#include <ostream>
#include <utility>

#include "scenarios/language/text/document.hpp"

namespace windtunnel {

const std::string kImportTests = WINDTUNNEL_SOURCE_DIR "/tests/scenarios/imports/";

namespace {

std::vector<std::string> names_at(const DocumentNode& row, const std::string& key) {
  std::vector<std::string> names;
  if (const DocumentNode* list = row.value_of(key)) {
    for (const DocumentNode& item : list->items) names.push_back(item.text);
  }
  return names;
}

std::string text_at(const DocumentNode& row, const std::string& key) {
  const DocumentNode* node = row.value_of(key);
  return node == nullptr ? "" : node->text;
}

// Parses a text such as "16 x dgx-h100", or only the node's name.
Overrides machine_of(const std::string& cluster) {
  if (cluster.empty()) return {};
  const std::size_t times = cluster.find(" x ");
  if (times == std::string::npos) return {{"cluster.node", cluster}};
  return {{"cluster.node", cluster.substr(times + 3)}, {"cluster.nodes", cluster.substr(0, times)}};
}

}  // namespace

std::vector<ImportRow> import_rows() {
  const std::string path = kImportTests + "expected.yaml";
  std::vector<ImportRow> rows;
  for (const DocumentNode& node : parse_document(read_text_file(path), path).items) {
    ImportRow row{.name = text_at(node, "name"),
                  .files = names_at(node, "files"),
                  .set = machine_of(text_at(node, "cluster")),
                  .keys = {},
                  .assumed = names_at(node, "assumed"),
                  .left_out = names_at(node, "left_out"),
                  .step = {}};
    if (const DocumentNode* step = node.value_of("step_s")) {
      row.step = {std::stod(text_at(*step, "is")), text_at(*step, "family")};
    }
    if (const std::string model = text_at(node, "model"); !model.empty()) {
      row.set.emplace_back("model", model);
    }
    if (const DocumentNode* set = node.value_of("set")) {
      for (const DocumentEntry& entry : set->entries)
        row.set.emplace_back(entry.key, entry.value.text);
    }
    for (const DocumentEntry& entry : node.value_of("keys")->entries) {
      row.keys[entry.key] = entry.value.text;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

ImportRequest request_of(const ImportRow& row, const std::string& folder) {
  ImportRequest request{.files = {}, .kind = "", .set = row.set};
  for (const std::string& file : row.files) request.files.push_back(folder + file);
  return request;
}

void PrintTo(const ImportRow& row, std::ostream* out) {
  *out << row.name;
}

}  // namespace windtunnel
