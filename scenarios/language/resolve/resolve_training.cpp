// What a step trains, from checked values. Checks with other features:
// policies/conflicts/training_conflicts.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "models/compression/compressors.hpp"
#include "models/workload/adapter.hpp"
#include "models/workload/layer_table.hpp"
#include "models/workload/training.hpp"
#include "policies/conflicts/conflict.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {
namespace {

struct LayerRange {
  int first = 0;
  int last = 0;
};

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

// Parses "layers", "layers 3", "layers 0-11", "layer 3".
std::optional<LayerRange> layer_range(std::string_view text, int layers) {
  if (text == "layers") return LayerRange{0, layers - 1};
  for (const std::string_view word : {"layers ", "layer "}) {
    if (!text.starts_with(word)) continue;
    text.remove_prefix(word.size());
    const std::size_t dash = text.find('-');
    const auto first = whole_number(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number(text.substr(dash + 1));
    if (!first || !last) return {};
    return LayerRange{*first, *last};
  }
  return {};
}

void resolve_frozen(const Values& values, const Job& job, Training& training) {
  const int layers = job.model.layers;
  for (const std::string& key : values.items("train.frozen")) {
    const std::string& part = values.text(key);
    if (part == "tower" || part == "projector") {
      if (!job.model.tower) {
        values.fail(key, fmt::format("model '{}' has no tower", job.model.name));
      }
      (part == "tower" ? training.frozen_tower : training.frozen_projector) = true;
      continue;
    }
    if (part == "embedding" || part == "head") {
      if (job.network) values.fail(key, "a table of layers has neither embedding nor head");
      (part == "head" ? training.frozen_head : training.frozen_embedding) = true;
      continue;
    }
    const std::optional<LayerRange> range = layer_range(part, layers);
    if (!range) {
      values.fail(key,
                  fmt::format("'{}' is not a part of a model; take tower, projector, embedding, "
                              "head, layers, 'layers 3' or 'layers 0-11'",
                              part));
    }
    if (range->first > range->last || range->last >= layers) {
      values.fail(key, fmt::format("model '{}' has layers 0 to {}", job.model.name, layers - 1));
    }
    training.frozen_layers.resize(layers, false);
    for (int layer = range->first; layer <= range->last; ++layer) {
      training.frozen_layers[layer] = true;
    }
  }
}

struct SiteName {
  std::string_view name;
  bool Adapter::*on;
};
constexpr std::array kSiteNames = {
    SiteName{"q", &Adapter::queries},   SiteName{"k", &Adapter::keys},
    SiteName{"v", &Adapter::values},    SiteName{"proj", &Adapter::projection},
    SiteName{"up", &Adapter::up},       SiteName{"down", &Adapter::down},
    SiteName{"qkv", &Adapter::queries}, SiteName{"qkv", &Adapter::keys},
    SiteName{"qkv", &Adapter::values}};

void resolve_sites(const Values& values, const Job& job, Adapter& adapter) {
  if (!values.stated("train.adapter.on")) return;
  std::vector<std::string> names;
  for (const std::string& key : values.items("train.adapter.on")) {
    const std::string& name = values.text(key);
    if (name.size() == 1 && job.model.latent.kv_rank > 0) {
      values.fail(key, "latent attention has no separate matrix for these; take qkv");
    }
    names.push_back(name);
  }
  if (names.empty())
    values.fail("train.adapter.on", "names no matrix; leave it out to adapt all matrices");
  const Adapter sites = adapter_on(names);
  for (const SiteName& site : kSiteNames) adapter.*site.on = sites.*site.on;
}

void resolve_adapter(const Values& values, const Job& job, Adapter& adapter) {
  constexpr int kUsualRank = 16;
  const std::string key = "train.adapter";
  if (adapter.kind == AdapterKind::none) {
    refuse_unused(values, key,
                  {{true, {"rank", "on", "dropout"}, "has no effect without an adapter"}});
    return;
  }
  if (job.network) return;  // a row of policies/conflicts refuses this
  if (adapter.rank == 0) adapter.rank = kUsualRank;
  if (adapter.rank > job.model.hidden) {
    values.fail(key + ".rank", fmt::format("{} is above the width {} of model '{}'", adapter.rank,
                                           job.model.hidden, job.model.name));
  }
  resolve_sites(values, job, adapter);
  adapter.per_product = pairs_per_product(job.model, job.software);
}

void resolve_method(const Values& values, Job& job, Training& training) {
  CompressorChoice& compressor = job.communication.compressors.dp;
  if (compressor.name == kOneByte) {
    if (values.stated("train.method") && training.method == TrainingMethod::backward) {
      values.fail("train.method",
                  "the compressor one-byte needs steps without a backward pass; take zeroth-order");
    }
    training.method = TrainingMethod::zeroth_order;
  }
  if (training.method == TrainingMethod::backward) return;
  Job without_backward = job;
  without_backward.training = std::make_shared<const Training>(training);
  if (const auto refusal = first_refusal(zeroth_order_conflicts(), without_backward)) {
    const std::string_view key = refusal->conflict->is.key;
    if (!values.stated("train.method")) {
      values.fail("communication.compressor",
                  fmt::format("one-byte needs steps without a backward pass (train.method: "
                              "zeroth-order), which do not go with {}: {}",
                              key, refusal->reason()));
    }
    // A key that was not stated follows from the method.
    values.fail(values.stated(key) ? key : "train.method", refusal->reason());
  }
  compressor.name = kOneByte;
}

void check_loss(const Values& values, const Job& job, const Training& training) {
  const TrainingLoss& loss = training.loss;
  const bool contrastive = loss.kind == LossKind::contrastive;
  refuse_unused(
      values, "train.loss",
      {{contrastive, {"chunks"}, "a contrastive loss is divided by its form: tiled or ring"},
       {!contrastive, {"form", "width", "tile"}, "applies to kind: contrastive"},
       {loss.form == ContrastiveForm::whole,
        {"tile"},
        "applies to tiles; set form: tiled or ring"}});
  const double tokens = double(job.batch.micro) * job.batch.sequence / job.layout.cp;
  if (loss.chunks > tokens) {
    values.fail("train.loss.chunks",
                fmt::format("{} is more than the {:.0f} tokens of a micro-batch on a rank",
                            loss.chunks, tokens));
  }
}

void check_trained(const Values& values, const Job& job, const Training& training) {
  const int layers = job.model.layers;
  const bool adapters = training.adapter.kind != AdapterKind::none;
  int first = first_trained_part(&training, layers);
  if (job.network) {
    for (first = 0; first < layers; ++first) {
      if (job.network->layers[first].parameters > 0 &&
          part_training(&training, first, layers).weights) {
        break;
      }
    }
    if (first == layers && !adapters) values.fail("train.frozen", "nothing is left to be trained");
    return;
  }
  if (first > head_part(layers)) values.fail("train.frozen", "nothing is left to be trained");
  if (!adapters && job.model.tied_embeddings && training.frozen_embedding != training.frozen_head) {
    values.fail(
        "train.frozen",
        fmt::format("model '{}' uses one matrix for embedding and head; freeze both or neither",
                    job.model.name));
  }
}

}  // namespace

Adapter adapter_on(const std::vector<std::string>& matrices) {
  Adapter adapter;
  for (const SiteName& site : kSiteNames) adapter.*site.on = false;
  for (const std::string& name : matrices) {
    for (const SiteName& site : kSiteNames) {
      if (site.name == name) adapter.*site.on = true;
    }
  }
  return adapter;
}

std::vector<std::string> adapter_matrices(const Adapter& adapter) {
  constexpr std::string_view kTogether = "qkv";
  const auto of_together = [](const SiteName& site) {
    return std::ranges::any_of(kSiteNames, [&](const SiteName& each) {
      return each.name == kTogether && each.on == site.on;
    });
  };
  const bool together = std::ranges::all_of(
      kSiteNames, [&](const SiteName& site) { return site.name != kTogether || adapter.*site.on; });
  std::vector<std::string> names;
  if (together) names.emplace_back(kTogether);
  for (const SiteName& site : kSiteNames) {
    if (site.name == kTogether || !(adapter.*site.on)) continue;
    if (!together || !of_together(site)) names.emplace_back(site.name);
  }
  return names;
}

std::vector<std::string> frozen_parts(const Training& training, bool has_tower) {
  std::vector<std::string> parts;
  if (has_tower && training.frozen_tower) parts.emplace_back("tower");
  if (has_tower && training.frozen_projector) parts.emplace_back("projector");
  if (training.frozen_embedding) parts.emplace_back("embedding");
  if (training.frozen_head) parts.emplace_back("head");
  for (std::size_t layer = 0; layer < training.frozen_layers.size(); ++layer) {
    if (training.frozen_layers[layer]) parts.push_back(fmt::format("layer {}", layer));
  }
  return parts;
}

bool takes_key(const Training& training, std::string_view key) {
  const TrainingLoss& loss = training.loss;
  const bool contrastive = loss.kind == LossKind::contrastive;
  if (key.starts_with("adapter")) return training.adapter.kind != AdapterKind::none;
  if (key == "loss.chunks") return !contrastive;
  if (key == "loss.tile") return contrastive && loss.form != ContrastiveForm::whole;
  return !key.starts_with("loss.") || key == "loss.kind" || contrastive;
}

void resolve_training(const Values& values, Job& job) {
  const bool one_byte = job.communication.compressors.dp.name == kOneByte;
  if (!values.stated("train") && !one_byte) return;
  Training whole;
  whole.frozen_tower = whole.frozen_projector = job.model.tower == nullptr;
  Training training = whole;
  values.fill("train", training);
  resolve_frozen(values, job, training);
  resolve_adapter(values, job, training.adapter);
  resolve_method(values, job, training);
  check_trained(values, job, training);
  check_loss(values, job, training);
  if (training == whole) return;
  job.training = std::make_shared<const Training>(std::move(training));
}

}  // namespace windtunnel
