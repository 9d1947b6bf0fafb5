// How the gradient of an embedding travels, of which a step touches few rows: as the whole table
// (dense), as every rank's rows (all-gather), or by columns (all-to-all: EmbRace, Li et al. 2021,
// arXiv 2110.09132, as remembered). `rows` are those that a rank meets in a step, each once
// (TensorShape::filled).
//
// The bytes of each: docs/physics/gradients.md, "Embeddings that few rows touch". Both all-to-alls
// count behind the backward pass, and every rank keeps the whole table in memory.
#pragma once

#include "models/compression/recipe.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// Of `element_bytes` each, among the ranks of the group. all_gather, all_to_all: a kernel before
// and one after that gather and scatter the rows.
Recipe embedding_recipe(EmbeddingExchange exchange, const TensorShape& table,
                        const ReducingGroup& group, double element_bytes);

// Share of a table's rows that so many tokens meet if all are equally likely: at most. Text repeats
// itself more.
double filled_rows(double rows, double tokens);

}  // namespace windtunnel
