// How tensor parallelism divides each tensor of a transformer: the rules that Redco (arXiv
// 2310.16355) asks its user to write, derived from the model's dimensions. They are Megatron-LM's
// columns and rows (Shoeybi et al. 2019, arXiv 1909.08053, section 3).
#pragma once

#include <string>
#include <vector>

#include "models/workload/layout.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

struct TensorRule {
  std::string tensor;  // "attention.query"
  double count = 0;    // in the whole model
  double rows = 0;     // inputs
  double columns = 0;  // outputs; 1: a vector
  std::string split;   // "columns", "rows", "by expert" or "whole"
  std::string why;     // reason for an exception; empty: the general rule of its kind

  double parameters() const { return count * rows * columns; }
};

// Biases are left out; they are divided like their matrix's columns, or whole. The parameters of
// all rules add up to those of the model without biases, and without its tower (tower.hpp).
std::vector<TensorRule> tensor_rules(const TransformerSpec& model);

// Tensor parallelism without copies is possible for divisors of this number: whole heads and whole
// groups of keys and values.
int most_tensor_ranks(const TransformerSpec& model);

// Throws Error unless a model with a pattern of layers can have this layout. tp must divide heads
// and groups of Mamba layers, as Megatron-LM's mixer asserts (B and C of a group are not copied to
// more ranks). With cp, by ring or ulysses, tp x cp must divide the heads, and groups must be
// divided or copied evenly. Options that no framework has for such layers must not be set.
void check_pattern_layout(const TransformerSpec& model, const Layout& layout);

}  // namespace windtunnel
