// Where the nodes of a job stand on the fabric, as a CSV file says: one column, `node`, and a row
// for each block of ranks that shares a node, in the order of the ranks.
#pragma once

#include <vector>

#include "models/machine/cluster.hpp"
#include "models/plan/job.hpp"
#include "scenarios/language/text/named_files.hpp"
#include "scenarios/language/text/values.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {

// [row] node of the machine. Throws Error with file:line:column where one does not exist among
// `machine_nodes`, stands twice, or there are more or fewer than `nodes`.
std::vector<int> read_placement(const CsvTable& table, int nodes, int machine_nodes);

// Cluster::places, as `layout.placement` says; empty without.
std::vector<int> resolve_placement(const Values& values, NamedFiles& files, const Cluster& cluster);

// The same as `layout.order` and `layout.place` say of a layout on the cluster; empty without.
// Throws Error where the axes are not those of a layout, a node would hold ranks that belong apart,
// or a pool has too few nodes.
std::vector<int> placed_by_axes(const Values& values, const Layout& layout, const Cluster& cluster);

}  // namespace windtunnel
