// On which GPUs the ranks of a job run, and where its nodes stand on the fabric: as the order of
// the layout's axes, pools for some of them, or a CSV file says: one column, `node`, and a row for
// each node of the job, in the order in which ranks fill them.
#pragma once

#include <vector>

#include "models/machine/cluster.hpp"
#include "models/plan/job.hpp"
#include "scenarios/language/text/scenario_text.hpp"
#include "scenarios/language/text/values.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {

// [row] node of the machine. Throws Error with file:line:column where one does not exist among
// `machine_nodes`, stands twice, or there are more or fewer than `nodes`.
std::vector<int> read_placement(const CsvTable& table, int nodes, int machine_nodes);

// Cluster::places, as `layout.placement` says; empty without.
std::vector<int> resolve_placement(const Values& values, NamedFiles& files, const Cluster& cluster);

// Layout::order, as `layout.order` says; empty without. Throws Error where an axis stands twice or
// is missing.
std::vector<RankAxis> resolve_order(const Values& values, const Layout& layout);

// Sets Cluster::ranks by the layout's order, and Cluster::places as `layout.place` says. Throws
// Error where a node would hold ranks of several pools, or a pool has too few nodes.
void place_ranks(const Values& values, const Layout& layout, Cluster& cluster);

}  // namespace windtunnel
