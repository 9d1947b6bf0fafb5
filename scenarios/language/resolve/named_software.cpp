#include "scenarios/language/resolve/named_software.hpp"

#include <algorithm>
#include <optional>

#include "scenarios/language/library/facts/training_software.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

using Kind = DocumentNode::Kind;

// True if the key, a value or list that contains it, or a key below it is stated.
bool is_stated(const Values& values, std::string_view key) {
  if (values.stated(key) || values.length(key) > 0) return true;
  for (std::size_t dot = key.rfind('.'); dot != key.npos; dot = key.rfind('.')) {
    key = key.substr(0, dot);
    const Value* value = values.find(key);
    if ((value != nullptr && value->stated) || values.length(key) > 0) return true;
  }
  return false;
}

// A software cannot set dimensions of a transformer for a table of layers.
bool has_layer_table(const Values& values) {
  if (!values.has("model.base")) return false;
  const std::string& name = values.text("model.base");
  return name.ends_with(".yaml") ||
         std::ranges::count(library_networks(), name, &LayerTable::name) > 0;
}

// The value at the path, created if missing; a name on the way becomes the map that it is shorthand
// for. nullptr if another value is in the way.
DocumentNode* node_at(DocumentNode& scenario, const std::string& key, const Location& where) {
  DocumentNode* node = &scenario;
  std::string path;
  for (const std::string& part : split_path(key)) {
    if (node->kind == Kind::scalar) {
      const Field* field = find_field(path);
      if (field == nullptr || field->shorthand.empty()) return nullptr;
      DocumentNode map = document_node(Kind::map, "", node->where);
      map.entries.push_back({std::string(field->shorthand), node->where, *node});
      *node = std::move(map);
    }
    if (node->kind == Kind::null) *node = document_node(Kind::map, "", where);
    if (node->kind != Kind::map) return nullptr;
    path = join_path(path, part);
    DocumentEntry* entry = node->find(part);
    if (entry == nullptr) {
      node->entries.push_back({part, where, document_node(Kind::null, "", where)});
      entry = &node->entries.back();
    }
    node = &entry->value;
  }
  return node;
}

// Sets the key at its place in the scenario, marked as set by this entry of software.yaml.
void state(const std::string& key, const std::string& value, const std::string& entry,
           const Location& where, DocumentNode& scenario) {
  DocumentNode* node = node_at(scenario, key, where);
  CHECK(node != nullptr, "{} sets {}, which stands in a value", entry, key);
  *node = document_node(Kind::scalar, value, where);
  node->scheme = entry;
}

}  // namespace

bool states_choice(std::string_view key, const std::function<bool(std::string_view)>& stated) {
  // Keys below "recompute" are one choice: the user who states one of them states all.
  if (key.starts_with("recompute.")) key = "recompute";
  if (key.starts_with("communication.bucket_elements") && stated("communication.bucket"))
    return true;
  if (key == "model.attention" && stated("attention")) return true;
  return stated(key);
}

bool is_of_transformer(std::string_view key) {
  return key.starts_with("model.") || key.starts_with("train.") || key.starts_with("recompute");
}

Values with_named_software(DocumentNode& scenario,
                           const std::function<Values(const DocumentNode&)>& check,
                           const std::function<Job(const Values&)>& resolve) {
  const Values own = check(scenario);
  // Fused jobs use the one software that can fuse jobs.
  const bool fused = !own.has("software.base") && own.stated("fuse");
  if (!own.has("software.base") && !fused) return own;
  const char* key_at = fused ? "fuse" : "software.base";
  const Framework& software = find_framework(fused ? "hfta" : own.text("software.base"));
  const Location where = own.where(key_at);
  const bool table = has_layer_table(own);
  const StatedKeys stated = [&](std::string_view key) {
    return (table && is_of_transformer(key)) ||
           states_choice(key, [&](std::string_view each) { return is_stated(own, each); });
  };
  Job job;
  if (std::ranges::any_of(software.choices, &SoftwareChoice::conditional)) {
    DocumentNode draft = scenario;
    for (const auto& [key, value] : software.set) {
      if (!stated(key)) state(key, value, software.name, where, draft);
    }
    job = resolve(check(draft));
  }
  for (const ChosenKey& each : choose(software.choices, stated, job)) {
    state(each.key, each.value, each.choice->entry, where, scenario);
  }
  return check(scenario);
}

}  // namespace windtunnel
