// A job that lost data-parallel replicas and continues with the rest: how many may be missing, and
// the resulting iteration times. Only a few of many sizes are simulated.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// The job with `missing` fewer data-parallel replicas; the others keep their share of work. Lost
// replicas leave holes in pods and the others do not move, so pods shrink in proportion and sharing
// inside pods is unchanged. With given places on the machine, pods stay the same and the others
// keep their places. On unlike nodes each kind of replicas keeps its share, rounded in favour of
// slower ones; if a kind does not fill whole nodes, the first replicas stay.
Job shrunk(const Job& job, int missing);
// Keeps only these replicas of the job; `kept` must ascend.
Job with_replicas(const Job& job, const std::vector<int>& kept);

// Contents of a node; if nodes differ, the maximum over nodes. Ranks in order are assumed to fill a
// node with one pipeline rank.
struct NodeRanks {
  int stages = 1;       // number of pipeline ranks on it
  int replicas = 1;     // number of replicas with ranks on it
  double of_stage = 1;  // number of replicas with ranks of the same pipeline rank on it
};
NodeRanks ranks_of_node(const Job& job);

// Sharding over all replicas stays so for any number of replicas: changes `smaller`, whose complete
// job has `layout`.
void keep_shards_whole(const Layout& layout, Layout& smaller);

// Returns the machine, with ranks in order, for a job with this number of its nodes. A machine
// whose cables, sites or faults name nodes is kept whole. If pools differ, each keeps its share of
// the nodes, rounded in favour of slower pools.
Cluster with_nodes(const Job& job, int nodes);

// Why the job cannot keep its measures against slow and faulty replicas (redundancy,
// communication.robust) with its number of replicas; empty: it can.
std::string why_no_stand_ins(const Job& job);

// Possible numbers of missing replicas, ascending: whole groups share experts and shards, enough
// replicas remain for measures against slow and faulty ones, the optimizer state still fits in
// memory when fewer replicas share it, and the longest sequence fits into a group.
std::vector<int> smaller_sizes(const Job& job, const PreparedIteration& prepared);

// Why no smaller job is possible with one node out; empty: one is.
std::string why_no_smaller(const Job& job, const PreparedIteration& prepared);

// The subset of smaller_sizes() that smaller_iterations() needs simulated.
std::vector<int> sizes_to_simulate(const Job& job, const std::vector<int>& sizes);

struct SmallerIterations {
  std::vector<double> seconds;  // [size]
  double gap = 0;               // IterationTable::shrunk_gap
};

// `simulated_s`: of the job itself, 0 missing, and of sizes_to_simulate(), or only of the job
// itself. The first, second, fourth, ... and last of the remaining sizes have the closed form's
// time, corrected by its error at the simulated ones; in between, time is linear in the number of
// missing replicas.
SmallerIterations smaller_iterations(const Job& job, const PreparedIteration& prepared,
                                     const std::vector<int>& sizes,
                                     const std::map<int, double>& simulated_s, int threads);

}  // namespace windtunnel
