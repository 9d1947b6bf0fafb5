// How the gradient of an embedding travels, of which a step touches few rows.
//
//   dense       all-reduce of the whole table: 2 (P-1)/P V d on a ring
//   all-gather  every rank's rows with their numbers to every other (PyTorch's and Horovod's sparse
//               gradients): (P-1) rows (d + index)
//   all-to-all  EmbRace (Li et al. 2021, arXiv 2110.09132, as remembered): each rank keeps d/P
//               columns of all rows, so that lookups are exchanged forward and their gradients
//               backward, two all-to-alls of rows d, of which (P-1)/P travels
//
// Rows: those that a rank meets in a step, each once (TensorShape::filled). Both all-to-alls count
// behind the backward pass, and every rank keeps the whole table in memory.
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
