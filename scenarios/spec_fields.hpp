// The words by which the library and a scenario write hardware and models: key to member, name to
// enumerator. The one list for reading both and for --explain.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/cluster.hpp"
#include "models/job.hpp"
#include "models/transformer.hpp"

namespace windtunnel {

template <class Spec>
struct ParameterField {
  std::string_view key;
  Dimension dimension;
  Parameter Spec::*member;
  bool required = true;  // of an entry of the library
};

std::span<const ParameterField<GpuSpec>> gpu_fields();
std::span<const ParameterField<NodeSpec>> node_fields();

template <class Spec>
struct SizeField {
  std::string_view key;
  int Spec::*member;
  bool required = true;  // of an entry of the library
};
// Of a fabric: those of its form, none of them required.
std::span<const ParameterField<FabricSpec>> fabric_parameters();
std::span<const SizeField<FabricSpec>> fabric_sizes();

struct FabricRatio {
  std::string_view key;
  double FabricSpec::*member;
};
std::span<const FabricRatio> fabric_ratios();

// A key below "cluster.fabric" that only some forms have: bit 1 << topology.
struct FormKey {
  std::string_view key;
  unsigned topologies;
  bool holds_for(Topology topology) const {
    return (topologies >> static_cast<unsigned>(topology) & 1U) != 0;
  }
};
std::span<const FormKey> form_keys();
// True for a key that every form has.
bool belongs_to(std::string_view key, Topology topology);

std::span<const SizeField<TransformerSpec>> model_sizes();
std::span<const SizeField<MixtureOfExperts>> moe_sizes();    // below "moe", imbalance beside them
std::span<const SizeField<LatentAttention>> latent_sizes();  // below "latent"

struct ModelFlag {
  std::string_view key;
  bool TransformerSpec::*member;
  bool required = true;  // of a model in the library; otherwise false where nothing is said
};
std::span<const ModelFlag> model_flags();

// What the numbers of a model must have in common; throws Error that names the keys.
void check_model(const TransformerSpec& model);

template <class Enum>
struct Choice {
  std::string_view name;
  Enum value;
};

std::span<const Choice<Activation>> activations();
std::span<const Choice<Normalisation>> normalisations();
std::span<const Choice<PositionEncoding>> positions();
std::span<const Choice<AttentionKernel>> attention_kernels();
std::span<const Choice<Topology>> topologies();
std::span<const Choice<Transport>> transports();
std::span<const Choice<Routing>> routings();
std::span<const Choice<GpuGeneration>> gpu_generations();
std::span<const Choice<GpuPath>> gpu_paths();
std::span<const Choice<Precision>> precisions();
std::span<const Choice<Recompute>> recomputes();
std::span<const Choice<Sharding>> shardings();
std::span<const Choice<GradientOverlap>> overlaps();
std::span<const Choice<Aggregation>> aggregations();
std::span<const Choice<Fidelity>> fidelities();
std::span<const Choice<ErrorFeedback>> error_feedbacks();
std::span<const Choice<CollectiveKind>> collective_kinds();  // those of a training step
std::span<const Choice<Protocol>> protocols();
std::span<const Choice<FoldMode>> fold_modes();
std::span<const Choice<SnapshotPlace>> snapshot_places();
std::span<const Choice<SnapshotMode>> snapshot_modes();
std::span<const Choice<CodeName>> code_names();
std::span<const Choice<FailureKind>> failure_kinds();
std::span<const Choice<WhenNoSpare>> when_no_spares();
std::span<const Choice<Fusion>> fusions();
std::span<const Choice<Optimizer>> optimizers();
std::span<const Choice<Sends>> sends();
std::span<const Choice<TensorOverlap>> tensor_overlaps();
std::span<const Choice<TensorForm>> tensor_forms();
std::span<const Choice<double>> gradient_types();  // bytes of an element

template <class Enum>
bool has_choice(std::span<const Choice<Enum>> choices, std::string_view name) {
  for (const Choice<Enum>& choice : choices) {
    if (choice.name == name) return true;
  }
  return false;
}

// The name must be one of the choices: the field table or the library's reader has checked it.
template <class Enum>
Enum value_of(std::span<const Choice<Enum>> choices, std::string_view name) {
  for (const Choice<Enum>& choice : choices) {
    if (choice.name == name) return choice.value;
  }
  fail_check("name is a choice", __FILE__, __LINE__, std::string(name));
}

template <class Enum>
std::string_view name_of(std::span<const Choice<Enum>> choices, Enum value) {
  for (const Choice<Enum>& choice : choices) {
    if (choice.value == value) return choice.name;
  }
  fail_check("value is a choice", __FILE__, __LINE__, "an enumerator without a name");
}

}  // namespace windtunnel
