// How each tensor of a transformer is divided among the ranks of tensor parallelism: what Redco
// (arXiv 2310.16355) asks its user to write as rules, from the model's dimensions. Megatron-LM's
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
  std::string why;     // empty: the rule of its kind

  double parameters() const { return count * rows * columns; }
};

// Without biases, which are divided as the columns of their matrix, or whole. The parameters of all
// rules add up to those of the model, its biases apart.
std::vector<TensorRule> tensor_rules(const TransformerSpec& model);

// Divisors of it are the ranks that tensor parallelism can have without copies: whole heads and
// groups of keys and values.
int most_tensor_ranks(const TransformerSpec& model);

// Throws Error unless a model whose layers a pattern lists may lie so on its ranks: tp divides
// heads and groups of Mamba layers, as Megatron-LM's mixer asserts (B and C of a group are not
// copied to more ranks); under cp, on a ring or by ulysses, tp x cp the heads, and groups divide or
// are copied evenly; and nothing is asked for that no framework has for such layers.
void check_pattern_layout(const TransformerSpec& model, const Layout& layout);

}  // namespace windtunnel
