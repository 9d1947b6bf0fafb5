// Which parameters a step trains, and how. The default is all of them, by a backward pass with
// cross entropy. Options: frozen parts; low-rank adapters on a frozen base: LoRA (Hu et al. 2021,
// arXiv 2106.09685), LoRA-FA (Zhang et al. 2023, arXiv 2308.03303), QLoRA (Dettmers et al. 2023,
// arXiv 2305.14314), DoRA (Liu et al. 2024, arXiv 2402.09353); steps without a backward pass (MeZO:
// Malladi et al. 2023, arXiv 2305.17333); forms of the loss. Explained in
// docs/physics/what-is-trained.md.
#pragma once

#include <vector>

#include "models/base/choice.hpp"

namespace windtunnel {

enum class TrainingMethod {
  backward,
  zeroth_order,  // two forward passes with perturbed weights
};
template <>
inline constexpr Choice<TrainingMethod> kChoices<TrainingMethod>[] = {
    {"backward", TrainingMethod::backward}, {"zeroth-order", TrainingMethod::zeroth_order}};

enum class AdapterKind {
  none,
  lora,     // adds x A B to x W
  lora_fa,  // A keeps its random initial values
  qlora,    // W in 4 bits
  dora,     // W + A B, normalised by column, with a trained magnitude per column
};
template <>
inline constexpr Choice<AdapterKind> kChoices<AdapterKind>[] = {{"none", AdapterKind::none},
                                                                {"lora", AdapterKind::lora},
                                                                {"lora-fa", AdapterKind::lora_fa},
                                                                {"qlora", AdapterKind::qlora},
                                                                {"dora", AdapterKind::dora}};

// NF4 with double quantisation (QLoRA, section 3): 4 bits per element, an 8-bit scale per block of
// 64, and a 32-bit scale per 256 of these.
inline constexpr double kNf4Bytes = (4 + 8.0 / 64 + 32.0 / (64 * 256)) / 8;

// The product of a layer that a matrix belongs to.
enum class LinearSite : unsigned char { none, query_key_value, projection, up, down };

// Each adapted matrix has a pair of factors: `first` (A), inputs x rank, and `second` (B), rank x
// outputs. If `per_product` is set, matrices computed by one product (queries, keys and values;
// gate and up) share one pair, provided all of them are adapted (Software::adapter_per_product).
struct Adapter {
  AdapterKind kind = AdapterKind::none;
  int rank = 0;
  bool queries = true, keys = true, values = true;
  bool projection = true, up = true, down = true;
  bool dropout = false;  // on the input of each first factor, which then needs a copy of its own
  bool per_product = false;

  bool trains_first() const { return kind != AdapterKind::lora_fa; }
  bool on(LinearSite site) const;
  // Whether all matrices of the product at `site` share one pair.
  bool joins(LinearSite site) const;
  bool operator==(const Adapter&) const = default;
};

enum class LossKind { cross_entropy, contrastive };
template <>
inline constexpr Choice<LossKind> kChoices<LossKind>[] = {
    {"cross-entropy", LossKind::cross_entropy}, {"contrastive", LossKind::contrastive}};
// How the similarity matrix of a batch's embeddings is computed (Inf-CL: Cheng et al. 2024, arXiv
// 2410.17243).
enum class ContrastiveForm {
  whole,  // all rows of a rank at once, in fp32
  tiled,  // one tile at a time, recomputed in the backward pass; all embeddings are gathered
  ring,   // as tiled, but embeddings of other ranks arrive on a ring
};
template <>
inline constexpr Choice<ContrastiveForm> kChoices<ContrastiveForm>[] = {
    {"whole", ContrastiveForm::whole},
    {"tiled", ContrastiveForm::tiled},
    {"ring", ContrastiveForm::ring}};

struct TrainingLoss {
  LossKind kind = LossKind::cross_entropy;
  int chunks = 1;  // parts of a micro-batch's tokens whose logits are computed one after the other
  ContrastiveForm form = ContrastiveForm::whole;
  int tile = 1024;  // rows and columns of a tile
  int width = 0;    // of an embedding; 0: the model's width
  bool operator==(const TrainingLoss&) const = default;
};

// How a layer, the embedding or the loss head takes part in a step.
struct PartTraining {
  bool weights = true;   // its own weights are trained
  bool adapter = false;  // its adapters are trained
  bool backward = true;  // gradients pass through it
  bool operator==(const PartTraining&) const = default;
};

struct Training {
  TrainingMethod method = TrainingMethod::backward;
  // The layers of a tower (tower.hpp), and its projector; both are set even for a model without a
  // tower.
  bool frozen_tower = true;
  bool frozen_projector = true;
  bool frozen_embedding = false;
  bool frozen_head = false;
  std::vector<bool> frozen_layers = {};  // empty: none
  Adapter adapter = {};  // on layers that are not frozen; with adapters all else is frozen
  TrainingLoss loss = {};
  PartTraining part = {};  // of the layer, embedding or head whose cost is computed
  bool operator==(const Training&) const = default;
};

// Numbers of a model's parts in the order of the forward pass.
inline constexpr int kTowerPart = -3;
inline constexpr int kProjectorPart = -2;
inline constexpr int kEmbeddingPart = -1;
inline int head_part(int layers) {
  return layers;
}
// `training` null: everything is trained.
PartTraining part_training(const Training* training, int part, int layers);
// The same for the part whose cost is computed (Training::part).
inline PartTraining part_training(const Training* training) {
  return training == nullptr ? PartTraining{} : training->part;
}
inline bool is_zeroth_order(const Training* training) {
  return training != nullptr && training->method == TrainingMethod::zeroth_order;
}
inline bool is_contrastive(const Training* training) {
  return training != nullptr && training->loss.kind == LossKind::contrastive;
}
// Whether the `count` layers from `first` on take part in a step in the same way as the `count`
// layers from `other` on.
bool trained_alike(const Training* training, int layers, int first, int other, int count);
// The first trained part; a number beyond the head means none.
int first_trained_part(const Training* training, int layers);

}  // namespace windtunnel
