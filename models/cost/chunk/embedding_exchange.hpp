// How the gradient of an embedding is exchanged if a step touches few of its rows: as the whole
// table (dense), as every rank's rows (all-gather), or by columns (all-to-all: EmbRace, Li et al.
// 2021, arXiv 2110.09132, cited from memory). `rows` are the distinct ones that a rank touches in a
// step (TensorShape::filled).
//
// Bytes of each: docs/physics/gradients.md, "Embeddings that few rows touch". Both all-to-alls are
// placed after the backward pass, and every rank holds the whole table in memory.
#pragma once

#include "models/compression/recipe.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// Elements have `element_bytes`. all_gather and all_to_all have one kernel before and one after,
// which gather and scatter the rows.
Recipe embedding_recipe(EmbeddingExchange exchange, const TensorShape& table,
                        const ReducingGroup& group, double element_bytes);

// Share of a table's rows that `tokens` tokens touch if all are equally likely. This is an upper
// bound, since text repeats tokens.
double filled_rows(double rows, double tokens);

}  // namespace windtunnel
