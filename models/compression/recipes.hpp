// The recipes, one function per family; compressors.cpp lists them by name. `choice` has its
// defaults filled in and is checked. Their comments call the elements of a buffer N, the bytes of
// one b, the ranks P, and the number of elements sent k.
#pragma once

#include <span>

#include "models/compression/recipe.hpp"

namespace windtunnel {

using MakeRecipe = Recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                          const ReducingGroup& group, double element_bytes);

MakeRecipe dense_recipe;
// low_rank.cpp
MakeRecipe powersgd_recipe, powersgd_hook_recipe, acp_sgd_recipe;
// sparse.cpp
MakeRecipe top_k_recipe, threshold_recipe, dgc_recipe, ms_top_k_recipe, g_top_k_recipe,
    ok_top_k_recipe, random_k_recipe, random_block_recipe;
// signs.cpp
MakeRecipe majority_recipe, lion_recipe, one_bit_sgd_recipe, one_bit_adam_recipe;
// quantised.cpp
MakeRecipe tern_grad_recipe, quantised_recipe, int8_recipe, int6_recipe, int4_recipe, fp8_recipe;
// transformed.cpp
MakeRecipe s2_reducer_recipe, demo_recipe, one_byte_recipe;
// layer_choice.cpp
MakeRecipe l_greco_recipe;

// The same with a separate parameter for each tensor, for L-GreCo's choice. `ranks`, `densities`,
// `bits`: one per tensor of the span.
Recipe powersgd_recipe(std::span<const double> ranks, const CompressorChoice& choice,
                       std::span<const TensorShape> tensors, double element_bytes);
Recipe top_k_recipe(std::span<const double> densities, const CompressorChoice& choice,
                    std::span<const TensorShape> tensors, const ReducingGroup& group,
                    double element_bytes);
Recipe quantised_recipe(std::span<const double> bits, const CompressorChoice& choice,
                        std::span<const TensorShape> tensors, const ReducingGroup& group,
                        double element_bytes);

// PyTorch's PowerSGD sends a matrix uncompressed unless its factors are less than half as large
// (min_compression_rate 2, torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py).
bool low_rank_pays(const TensorShape& tensor, double rank);

}  // namespace windtunnel
