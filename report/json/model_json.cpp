#include "report/json/model_json.hpp"

#include <string>
#include <string_view>

#include "models/workload/layer_table.hpp"
#include "models/workload/tower.hpp"
#include "scenarios/language/text/choices.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {
namespace {

// The numbers, or the flags, that an entry of the library can state.
template <class Spec>
void place(Json& json, ScalarType scalar, std::string_view path, const Spec& spec) {
  for (const BoundRow& row : bound_rows<Spec>(path)) {
    if (row.field->in_entry == InEntry::never || row.field->scalar != scalar) continue;
    json[std::string(row.key)] = plain_json(*value_in(spec, *row.field));
  }
}

template <class Spec>
Json sizes_of(bool has, std::string_view path, const Spec& spec) {
  Json json;
  if (has) place(json, ScalarType::integer, path, spec);
  return json;
}

}  // namespace

Json plain_json(const Value& value) {
  if (value.field->scalar == ScalarType::boolean) return value.number != 0;
  if (value.field->scalar == ScalarType::integer) return static_cast<int>(value.number);
  return value.number;
}

Json model_json(const TransformerSpec& model) {
  Json json = {{"name", model.name},
               {"parameters", model.parameters()},
               {"active_parameters", model.active_parameters()}};
  place(json, ScalarType::integer, "model", model);
  for (const char* key : {"projected_keys", "source_tokens"}) {  // few models have these
    if (json[key] == 0) json.erase(key);
  }
  json["ffn_hidden"] = model.ffn_hidden;  // a second name, older than "ffn"
  json["activation"] = name_of(model.activation);
  json["normalisation"] = name_of(model.normalisation);
  json["position"] = name_of(model.position);
  json["attention"] = name_of(model.attention);
  place(json, ScalarType::boolean, "model", model);
  json["moe"] = sizes_of(model.moe.experts > 0, "model.moe", model.moe);
  json["latent"] = sizes_of(model.latent.kv_rank > 0, "model.latent", model.latent);
  json["hybrid_override_pattern"] = nullptr;
  if (!model.pattern.empty()) json["hybrid_override_pattern"] = model.pattern;
  json["mamba"] = sizes_of(model.mamba.state > 0, "model.mamba", model.mamba);
  if (model.mamba.state > 0) json["mamba"]["kind"] = name_of(model.mamba.kind);
  json["sparse"] = sizes_of(model.sparse.heads > 0, "model.sparse", model.sparse);
  if (model.tower) {
    const Tower& tower = *model.tower;
    Json& own = json["tower"];
    for (const BoundRow& row : bound_rows<Tower>("model.tower")) {
      const Value value = *value_in(tower, *row.field);
      own[std::string(row.key)] =
          row.field->scalar == ScalarType::name ? Json(value.text) : plain_json(value);
    }
    own["projector"] = tower.projector;
    own["parameters"] = tower.parameters();
  }
  if (!model.left_out.empty()) json["left_out"] = model.left_out;
  json["source"] = model.source;
  return json;
}

Json model_json(const LayerTable& network) {
  return {{"name", network.name},
          {"parameters", network.parameters()},
          {"layers", network.layers.size()},
          {"forward_macs", network.forward_macs()},
          {"kept_elements", network.kept_elements()},
          {"source", network.source}};
}

Json model_json(const Job& job) {
  return job.network ? model_json(*job.network) : model_json(job.model);
}

}  // namespace windtunnel
