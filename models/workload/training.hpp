// What a step trains and by what: all parameters, by a backward pass and cross entropy, where a job
// says nothing. Parts that are frozen; low-rank adapters beside a frozen base: LoRA (Hu et al.
// 2021, arXiv 2106.09685), LoRA-FA (Zhang et al. 2023, arXiv 2308.03303), QLoRA (Dettmers et al.
// 2023, arXiv 2305.14314), DoRA (Liu et al. 2024, arXiv 2402.09353); steps without a backward pass
// (MeZO: Malladi et al. 2023, arXiv 2305.17333); forms of the loss. In words:
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
  lora,     // x A B beside x W
  lora_fa,  // A stays as it was drawn
  qlora,    // W in 4 bits
  dora,     // W + A B by columns, with a magnitude for each
};
template <>
inline constexpr Choice<AdapterKind> kChoices<AdapterKind>[] = {{"none", AdapterKind::none},
                                                                {"lora", AdapterKind::lora},
                                                                {"lora-fa", AdapterKind::lora_fa},
                                                                {"qlora", AdapterKind::qlora},
                                                                {"dora", AdapterKind::dora}};

// NF4 with double quantisation (QLoRA, section 3): 4 bits, a scale of 8 bits for each block of 64,
// and one of 32 bits for each 256 of these.
inline constexpr double kNf4Bytes = (4 + 8.0 / 64 + 32.0 / (64 * 256)) / 8;

// Which product of a layer a matrix belongs to.
enum class LinearSite : unsigned char { none, query_key_value, projection, up, down };

// Each matrix that an adapter is on has a pair of its own: `first` (A) of its inputs x rank,
// `second` (B) of rank x its outputs. Where `per_product` holds, matrices that one product
// multiplies (queries, keys and values; gate and up) have one pair together, if all of them are
// adapted (Software::adapter_per_product).
struct Adapter {
  AdapterKind kind = AdapterKind::none;
  int rank = 0;
  bool queries = true, keys = true, values = true;
  bool projection = true, up = true, down = true;
  bool dropout =
      false;  // on what each matrix's first factor reads, which is then a copy of its own
  bool per_product = false;

  bool trains_first() const { return kind != AdapterKind::lora_fa; }
  bool on(LinearSite site) const;
  // Whether the matrices of the product at `site` have one pair together.
  bool joins(LinearSite site) const;
  bool operator==(const Adapter&) const = default;
};

enum class LossKind { cross_entropy, contrastive };
template <>
inline constexpr Choice<LossKind> kChoices<LossKind>[] = {
    {"cross-entropy", LossKind::cross_entropy}, {"contrastive", LossKind::contrastive}};
// How the similarities of a batch's embeddings are held (Inf-CL: Cheng et al. 2024, arXiv
// 2410.17243).
enum class ContrastiveForm {
  whole,  // all of a rank's rows, in fp32
  tiled,  // a tile at a time, computed again in the backward pass; all embeddings gathered
  ring,   // the same, and the embeddings of others come by on a ring
};
template <>
inline constexpr Choice<ContrastiveForm> kChoices<ContrastiveForm>[] = {
    {"whole", ContrastiveForm::whole},
    {"tiled", ContrastiveForm::tiled},
    {"ring", ContrastiveForm::ring}};

struct TrainingLoss {
  LossKind kind = LossKind::cross_entropy;
  int chunks = 1;  // of a micro-batch's tokens, of which one has logits at a time
  ContrastiveForm form = ContrastiveForm::whole;
  int tile = 1024;  // rows and columns
  int width = 0;    // of an embedding; 0: the model's
  bool operator==(const TrainingLoss&) const = default;
};

// What happens to a layer, the embedding or the loss head in a step.
struct PartTraining {
  bool weights = true;   // its own are trained
  bool adapter = false;  // those of its adapters are
  bool backward = true;  // gradients pass through it
  bool operator==(const PartTraining&) const = default;
};

struct Training {
  TrainingMethod method = TrainingMethod::backward;
  bool frozen_embedding = false;
  bool frozen_head = false;
  std::vector<bool> frozen_layers = {};  // empty: none
  Adapter adapter = {};                  // of layers that are not frozen; all else then is
  TrainingLoss loss = {};
  PartTraining part = {};  // of the layer, embedding or head whose cost is asked for
  bool operator==(const Training&) const = default;
};

// The parts of a model in the order of the forward pass.
inline constexpr int kEmbeddingPart = -1;
inline int head_part(int layers) {
  return layers;
}
// Null: all is trained.
PartTraining part_training(const Training* training, int part, int layers);
// How the part is trained whose cost is asked for (Training::part).
inline PartTraining part_training(const Training* training) {
  return training == nullptr ? PartTraining{} : training->part;
}
inline bool is_zeroth_order(const Training* training) {
  return training != nullptr && training->method == TrainingMethod::zeroth_order;
}
inline bool is_contrastive(const Training* training) {
  return training != nullptr && training->loss.kind == LossKind::contrastive;
}
// Whether `count` layers from `first` on and as many from `other` on take part in a step alike.
bool trained_alike(const Training* training, int layers, int first, int other, int count);
// The first part that is trained; beyond the head: there is none.
int first_trained_part(const Training* training, int layers);

}  // namespace windtunnel
