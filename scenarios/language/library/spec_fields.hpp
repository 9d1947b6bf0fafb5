// The keys by which the library and a scenario write hardware and models, with their members. The
// one list for reading both and for --explain.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/quantity_range.hpp"
#include "models/base/units.hpp"
#include "models/machine/cluster.hpp"
#include "models/plan/job.hpp"
#include "models/workload/transformer.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {

template <class Spec>
struct ParameterField {
  std::string_view key;
  Dimension dimension;
  Parameter Spec::*member;
  bool required = true;         // of an entry of the library
  bool may_lack = false;        // 0: the hardware has none
  QuantityRange narrower = {};  // than that of its dimension, in the library and in a scenario
  const QuantityRange& range() const {
    return narrower.largest > 0 ? narrower : quantity_range(dimension);
  }
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
std::span<const SizeField<MambaMixer>> mamba_sizes();        // below "mamba"

struct ModelFlag {
  std::string_view key;
  bool TransformerSpec::*member;
  bool required = true;  // of a model in the library; otherwise false where nothing is said
};
std::span<const ModelFlag> model_flags();

// What the numbers of a model must have in common; throws Error that names the keys.
void check_model(const TransformerSpec& model);

}  // namespace windtunnel
