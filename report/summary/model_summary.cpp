#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "models/base/units.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/workload/layer_table.hpp"
#include "models/workload/tower.hpp"
#include "report/figures/figures.hpp"
#include "report/summary/summary.hpp"
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

// These are the kinds of layers in a pattern: "27 of Mamba, 4 of attention".
std::string layers_text(const TransformerSpec& model) {
  std::string text = fmt::format("{} layers", model.layers);
  if (model.pattern.empty()) return text;
  std::vector<std::string> kinds;
  const auto add = [&](Block block, std::string_view name) {
    if (const int count = model.layers_of(block); count > 0) {
      kinds.push_back(fmt::format("{} {}", count, name));
    }
  };
  const std::string_view scans = model.mamba.form().title;
  add(Block::layer, "attention and MLP");
  add(Block::moe_layer, "attention and experts");
  add(Block::mamba_layer, fmt::format("{} and MLP", scans));
  add(Block::mamba_moe_layer, fmt::format("{} and experts", scans));
  add(Block::mamba, scans);
  add(Block::attention, "attention");
  add(Block::mlp, "MLP");
  add(Block::experts, "experts");
  add(Block::double_stream, "of two streams");
  add(Block::last_double_stream, "of two streams, the last with text");
  add(Block::single_stream, "of one stream");
  add(Block::encoder_layer, "of the encoder");
  add(Block::decoder_layer, "of the decoder");
  return text + fmt::format(" ({})", fmt::join(kinds, ", "));
}

// Describes parts that most models lack, each after a comma.
std::string further_text(const TransformerSpec& model) {
  std::string text;
  if (model.attention_gate) text += ", attention with a gate";
  if (model.source_tokens > 0) {
    text += fmt::format(", {} tokens of a sequence for the encoder",
                        with_separators(model.source_tokens));
  }
  if (model.projected_keys > 0) {
    text += fmt::format(", keys projected into {}", with_separators(model.projected_keys));
  }
  if (model.sparse.heads > 0) {
    text += fmt::format(", {} keys chosen by {} heads of {}", with_separators(model.sparse.top_k),
                        model.sparse.heads, model.sparse.width);
  }
  if (model.mtp_layers > 0) {
    text += fmt::format(", {} more for multi-token prediction", model.mtp_layers);
  }
  return text;
}

std::string mixers_text(const TransformerSpec& model) {
  const MambaMixer& mamba = model.mamba;
  std::string text;
  if (model.layers_with(has_mamba) > 0) {
    text = fmt::format("{} {} heads of {} with states of {} in {}", mamba.heads, mamba.form().title,
                       mamba.head_width, mamba.state,
                       mamba.groups == 1 ? "one group" : fmt::format("{} groups", mamba.groups));
  }
  if (model.layers_with(has_attention) == 0) return text;
  return text + (text.empty() ? "" : ", ") + heads_text(model);
}

std::string shape_text(const Job& job) {
  const TransformerSpec& model = job.model;
  std::string feed_forward;
  if (model.layers_with(has_mlp) > 0) {
    feed_forward = fmt::format(", feed-forward {}", with_separators(model.ffn_hidden));
  }
  if (model.moe_layers() > 0)
    feed_forward = (model.pattern.empty() ? "" : feed_forward) + ", " + experts_text(model);
  return fmt::format("{}, hidden {}, {}{}{}, vocabulary {}, sequence {}", layers_text(model),
                     with_separators(model.hidden), mixers_text(model), feed_forward,
                     further_text(model), with_separators(model.vocabulary),
                     with_separators(job.batch.sequence));
}

std::string window_text(const TransformerSpec& model) {
  if (model.window == 0) return "";
  std::string text = fmt::format(", windows of {}", with_separators(model.window));
  if (model.global_every > 0) text += fmt::format(" except in one layer of {}", model.global_every);
  return text;
}

std::string forms_text(const TransformerSpec& model) {
  const bool positions = model.position != PositionEncoding::none;
  return fmt::format("{}, {}, {} positions, {} attention{}{}, biases {}, tied embeddings {}",
                     name_of(model.activation), name_of(model.normalisation),
                     positions ? name_of(model.position) : "no", name_of(model.attention),
                     model.masked() ? "" : " without a mask", window_text(model),
                     model.biases ? "yes" : "no", model.tied_embeddings ? "yes" : "no");
}

// A tower before the decoder, and its share of the operations of a step.
std::string tower_text(const Job& job) {
  const Tower& tower = *job.model.tower;
  const std::string source = tower.source.empty() ? "" : fmt::format(", {}", tower.source);
  const TransformerSpec& layers = tower.layers;
  return fmt::format(
      "{}, hidden {}, {}, feed-forward {}, {}; {} a sequence{}, each {} patches and {} tokens of "
      "the sequence; {} parameters, {:.2g} % of the step's FLOPs",
      layers_text(layers), with_separators(layers.hidden), heads_text(layers),
      with_separators(layers.ffn_hidden), name_of(layers.activation),
      tower.sources == 1 ? "one source" : fmt::format("{} sources", tower.sources), source,
      with_separators(tower.patches()), with_separators(tower.tokens),
      format_count(tower.parameters()), 100 * tower_step_flops(job) / flops_per_step(job));
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
    parameters +=
        fmt::format(", {} of them active per token", format_count(model.active_parameters()));
  }
  section.rows = {
      {"shape", shape_text(job)}, {"forms", forms_text(model)}, {"parameters", parameters}};
  if (model.tower) section.rows.push_back({"tower", tower_text(job)});
  for (const std::string& left_out : model.left_out) section.rows.push_back({"left out", left_out});
  return section;
}

}  // namespace windtunnel
