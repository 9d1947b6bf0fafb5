#include <fmt/format.h>

#include <cctype>
#include <optional>
#include <string_view>

#include "models/base/error.hpp"
#include "models/workload/adapter.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/runs/run_source.hpp"

namespace windtunnel {
namespace {

// Returns the number after `phrase`, ignoring commas: 4194304 in "trainable parameters 4,194,304".
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

// Finds the matrices, from queries and values to all of them, and the rank that give the stated
// number of trained parameters.
Adapter stated_adapter(const TransformerSpec& model, double trained) {
  using Matrices = std::vector<std::string>;
  for (const Matrices& on : {Matrices{"q", "v"}, Matrices{"qkv"}, Matrices{"qkv", "proj"},
                             Matrices{"qkv", "proj", "up", "down"}}) {
    Adapter adapter = adapter_on(on);
    for (adapter.rank = 1; adapter.rank <= 256; adapter.rank *= 2) {
      if (trained_parameters(model, adapter) == trained) return adapter;
    }
  }
  throw Error(
      fmt::format("{:.0f} trained parameters do not match any low-rank adapter of model '{}'",
                  trained, model.name));
}

}  // namespace

bool trains_adapters(const TrainingRun& run) {
  if (contains_text(run.model, "LoRA") || contains_text(run.model, "DoRA")) return true;
  // A note about full fine-tuning may also mention adapters.
  if (contains_text(run.note, "full fine-tuning")) return false;
  return run.note.starts_with("LoRA") || contains_text(run.note, "LoRA rank");
}

void train_adapters(const TrainingRun& run, const UsualAdapter& usual, Job& job,
                    std::vector<std::string>& assumed) {
  if (contains_text(run.model, "Adapter")) {
    throw Error("the run trains prompts of every layer (LLaMA-Adapter), which is not modelled");
  }
  if (!trains_adapters(run)) return;
  Training training = job.training != nullptr ? *job.training : Training{};
  if (const auto trained = number_behind(run.note, "trainable parameters")) {
    training.adapter = stated_adapter(job.model, *trained);
  } else {
    training.adapter = usual.on;
    const auto rank = number_behind(run.model + " " + run.note, "rank");
    if (rank && *rank > 0) {
      training.adapter.rank = static_cast<int>(*rank);
    } else {
      const bool large = usual.large_from > 0 && job.model.parameters() >= usual.large_from;
      training.adapter.rank = large ? usual.large_rank : usual.rank;
      assumed.push_back(fmt::format("rank {} of adapters", training.adapter.rank));
    }
  }
  training.adapter.kind = kind_of(run);
  training.adapter.per_product = pairs_per_product(job.model, job.software);
  job.training = std::make_shared<const Training>(training);
}

}  // namespace windtunnel
