// Assigns ranks to GPUs and the job's nodes to nodes of the machine, by `layout.order` (of axes),
// `layout.place` (pools of an axis) and `layout.placement`: a CSV file with one column, `node`, and
// a row for each node of the job in the order in which ranks fill them.
#pragma once

#include <vector>

#include "models/machine/cluster.hpp"
#include "models/plan/job.hpp"
#include "scenarios/language/text/scenario_text.hpp"
#include "scenarios/language/text/values.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {

// [row] Node of the machine. Throws Error with file:line:column if a node is not below
// `machine_nodes`, if it is repeated, or if there are not exactly `nodes` rows.
std::vector<int> read_placement(const CsvTable& table, int nodes, int machine_nodes);

// Cluster::places from `layout.placement`; empty if that is not stated.
std::vector<int> resolve_placement(const Values& values, NamedFiles& files, const Cluster& cluster);

// Layout::order from `layout.order`; empty if that is not stated. Throws Error if an axis is
// repeated or missing.
std::vector<RankAxis> resolve_order(const Values& values, const Layout& layout);

// Sets Cluster::ranks from the layout's order, and Cluster::places from `layout.place`. Throws
// Error if a node would hold ranks of several pools, or a pool has too few nodes.
void place_ranks(const Values& values, const Layout& layout, Cluster& cluster);

}  // namespace windtunnel
