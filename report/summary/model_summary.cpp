#include "report/summary/model_summary.hpp"

#include <fmt/format.h>

#include <string>

#include "models/base/units.hpp"
#include "models/workload/layer_table.hpp"
#include "report/figures/figures.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

std::string heads_text(const TransformerSpec& model) {
  std::string text = fmt::format("{} heads of {}", model.heads, model.head_dim());
  if (model.latent.kv_rank > 0) {
    return text + fmt::format(" with latents of {} for keys and values", model.latent.kv_rank);
  }
  if (model.kv_heads != model.heads) {
    text += fmt::format(" ({} of keys and values)", model.kv_heads);
  }
  return text;
}

std::string experts_text(const TransformerSpec& model) {
  const MixtureOfExperts& moe = model.moe;
  std::string text = fmt::format("{} experts of {}, {} a token", moe.experts,
                                 with_separators(moe.ffn_hidden), moe.per_token);
  if (moe.shared_ffn > 0) {
    text += fmt::format(", shared ones of {}", with_separators(moe.shared_ffn));
  }
  if (moe.dense_layers > 0) {
    text +=
        fmt::format("; {} dense layers of {}", moe.dense_layers, with_separators(model.ffn_hidden));
  }
  return text;
}

std::string shape_text(const Job& job) {
  const TransformerSpec& model = job.model;
  return fmt::format("{} layers, hidden {}, {}, {}, vocabulary {}, sequence {}", model.layers,
                     with_separators(model.hidden), heads_text(model),
                     model.moe_layers() > 0
                         ? experts_text(model)
                         : fmt::format("feed-forward {}", with_separators(model.ffn_hidden)),
                     with_separators(model.vocabulary), with_separators(job.batch.sequence));
}

std::string window_text(const TransformerSpec& model) {
  if (model.window == 0) return "";
  std::string text = fmt::format(", windows of {}", with_separators(model.window));
  if (model.global_every > 0) text += fmt::format(" but in one layer of {}", model.global_every);
  return text;
}

std::string forms_text(const TransformerSpec& model) {
  return fmt::format("{}, {}, {} positions, {} attention{}{}, biases {}, tied embeddings {}",
                     name_of(model.activation), name_of(model.normalisation),
                     name_of(model.position), name_of(model.attention),
                     model.masked() ? "" : " without a mask", window_text(model),
                     model.biases ? "yes" : "no", model.tied_embeddings ? "yes" : "no");
}

}  // namespace

SummarySection model_section(const Job& job) {
  SummarySection section{fmt::format("Model {}", job.model.name), {}};
  if (job.network) {
    section.rows = {{"layers", std::to_string(job.network->layers.size())},
                    {"parameters", format_count(job.network->parameters())}};
    return section;
  }
  const TransformerSpec& model = job.model;
  std::string parameters = format_count(model.parameters());
  if (model.moe_layers() > 0) {
    parameters += fmt::format(", {} of them for a token", format_count(model.active_parameters()));
  }
  section.rows = {
      {"shape", shape_text(job)}, {"forms", forms_text(model)}, {"parameters", parameters}};
  return section;
}

}  // namespace windtunnel
