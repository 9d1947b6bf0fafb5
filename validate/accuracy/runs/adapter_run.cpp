#include "validate/accuracy/runs/adapter_run.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include "models/base/error.hpp"
#include "models/workload/adapter.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

// The number behind `phrase`, commas left out: 4194304 in "trainable parameters 4,194,304".
std::optional<double> number_behind(std::string_view text, std::string_view phrase) {
  std::size_t at = text.find(phrase);
  if (at == std::string_view::npos) return {};
  at += phrase.size();
  std::optional<double> number;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      number = 10 * number.value_or(0) + (c - '0');
    } else if (c != ',' && !(c == ' ' && !number)) {
      break;
    }
  }
  return number;
}

Adapter on_matrices(bool queries, bool keys, bool values, bool projection, bool mlp) {
  Adapter adapter;
  adapter.queries = queries;
  adapter.keys = keys;
  adapter.values = values;
  adapter.projection = projection;
  adapter.up = adapter.down = mlp;
  return adapter;
}

// What the software takes where a row is silent.
struct UsualAdapter {
  std::string_view source;  // has these words
  int rank;
  Adapter on;
  double large_from = 0;  // parameters from which on `large_rank` is usual
  int large_rank = 0;
  int loss_chunks = 1;
};
const std::array kUsual{
    // mlcommons/training, llama2_70b_lora/train.py: qkv and output projections.
    UsualAdapter{"MLPerf", 16, on_matrices(true, true, true, true, false)},
    // lit-gpt finetune/lora.py, 2023.
    UsualAdapter{"LitGPT", 8, on_matrices(true, false, true, false, false)},
    // recipes/configs: 8B_lora_single_device.yaml, 70B_lora.yaml.
    UsualAdapter{"torchtune", 8, on_matrices(true, false, true, true, true), 60e9, 16, 8},
    // NeMo's performance scripts tune linear_qkv.
    UsualAdapter{"", 16, on_matrices(true, true, true, false, false)}};

const UsualAdapter& usual_of(const TrainingRun& run) {
  for (const UsualAdapter& usual : kUsual) {
    if (contains_text(run.source, usual.source)) return usual;
  }
  return kUsual.back();
}

AdapterKind kind_of(const TrainingRun& run) {
  if (contains_text(run.model, "QLoRA") || contains_text(run.precision, "nf4")) {
    return AdapterKind::qlora;
  }
  return contains_text(run.model, "DoRA") ? AdapterKind::dora : AdapterKind::lora;
}

double trained_parameters(const TransformerSpec& model, const Adapter& adapter) {
  const AdapterParameters of_layer =
      adapter_parameters(model, Layout{}, adapter, model.block_of(model.layers - 1));
  return model.layers * of_layer.trained;
}

// Steps of torchtune's optimisation ladder that come before chunks.
bool before_chunks(const TrainingRun& run) {
  for (const char* step : {"step: baseline", "+ packed", "+ compile"}) {
    if (contains_text(run.note, step)) return true;
  }
  return false;
}

// Queries and values, or all matrices: of these the one whose trained parameters are those stated.
Adapter stated_adapter(const TransformerSpec& model, double trained) {
  for (const Adapter& on :
       {on_matrices(true, false, true, false, false), on_matrices(true, true, true, false, false),
        on_matrices(true, true, true, true, false), on_matrices(true, true, true, true, true)}) {
    Adapter adapter = on;
    for (adapter.rank = 1; adapter.rank <= 256; adapter.rank *= 2) {
      if (trained_parameters(model, adapter) == trained) return adapter;
    }
  }
  throw Error(
      fmt::format("{:.0f} trained parameters are those of no low-rank adapter on model '{}'",
                  trained, model.name));
}

}  // namespace

bool trains_adapters(const TrainingRun& run) {
  return contains_text(run.model, "LoRA") || contains_text(run.model, "DoRA") ||
         run.note.starts_with("LoRA") || contains_text(run.note, "LoRA rank");
}

std::shared_ptr<const Training> training_of(const TrainingRun& run, const TransformerSpec& model,
                                            std::vector<std::string>& assumed) {
  if (contains_text(run.model, "Adapter")) {
    throw Error("the run trains prompts of every layer (LLaMA-Adapter), which is not modelled");
  }
  Training training;
  const UsualAdapter& usual = usual_of(run);
  if (!before_chunks(run)) training.loss.chunks = usual.loss_chunks;
  if (!trains_adapters(run)) {
    return training == Training{} ? nullptr : std::make_shared<const Training>(training);
  }
  if (const auto trained = number_behind(run.note, "trainable parameters")) {
    training.adapter = stated_adapter(model, *trained);
  } else {
    training.adapter = usual.on;
    const auto rank = number_behind(run.model + " " + run.note, "rank");
    if (rank && *rank > 0) {
      training.adapter.rank = static_cast<int>(*rank);
    } else {
      const bool large = usual.large_from > 0 && model.parameters() >= usual.large_from;
      training.adapter.rank = large ? usual.large_rank : usual.rank;
      assumed.push_back(fmt::format("rank {} of adapters", training.adapter.rank));
    }
  }
  training.adapter.kind = kind_of(run);
  return std::make_shared<const Training>(training);
}

}  // namespace windtunnel
