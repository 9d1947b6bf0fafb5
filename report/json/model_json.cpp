#include "report/json/model_json.hpp"

#include <span>
#include <string>

#include "models/workload/layer_table.hpp"
#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

template <class Spec>
void place_sizes(Json& json, std::span<const SizeField<Spec>> fields, const Spec& spec) {
  for (const SizeField<Spec>& field : fields) json[std::string(field.key)] = spec.*field.member;
}

}  // namespace

Json model_json(const TransformerSpec& model) {
  Json json = {{"name", model.name},
               {"parameters", model.parameters()},
               {"active_parameters", model.active_parameters()}};
  place_sizes(json, model_sizes(), model);
  json["ffn_hidden"] = model.ffn_hidden;  // by the name that it had before "ffn", too
  json["activation"] = name_of(model.activation);
  json["normalisation"] = name_of(model.normalisation);
  json["position"] = name_of(model.position);
  json["attention"] = name_of(model.attention);
  for (const ModelFlag& flag : model_flags()) json[std::string(flag.key)] = model.*flag.member;
  json["moe"] = nullptr;
  if (model.moe.experts > 0) place_sizes(json["moe"], moe_sizes(), model.moe);
  json["latent"] = nullptr;
  if (model.latent.kv_rank > 0) place_sizes(json["latent"], latent_sizes(), model.latent);
  json["hybrid_override_pattern"] = nullptr;
  if (!model.pattern.empty()) json["hybrid_override_pattern"] = model.pattern;
  json["mamba"] = nullptr;
  if (model.mamba.state > 0) place_sizes(json["mamba"], mamba_sizes(), model.mamba);
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
