// A job that has lost data-parallel replicas and goes on with the others: how many may be missing,
// and the iteration times that result. Only a few of many sizes are simulated.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// Returns the job with `missing` fewer data-parallel replicas; the others keep their share of work.
// Lost replicas leave holes in pods and the others do not move, so pods shrink in proportion, and
// sharing inside pods does not change. If ranks have given places on the machine, pods remain the
// same and the others keep their places. On unlike nodes each kind of replicas keeps its share,
// rounded in favour of slower kinds; if a kind does not fill whole nodes, the first replicas
// remain.
Job shrunk(const Job& job, int missing);
// Returns the job with only these replicas; `kept` must ascend.
Job with_replicas(const Job& job, const std::vector<int>& kept);

// What is on a node; if nodes differ, the maximum over nodes. Ranks in order are assumed to fill a
// node with one pipeline rank.
struct NodeRanks {
  int stages = 1;       // number of pipeline ranks on the node
  int replicas = 1;     // number of replicas with ranks on the node
  double of_stage = 1;  // number of replicas with ranks of one pipeline rank on the node
};
NodeRanks ranks_of_node(const Job& job);

// If state is sharded over all replicas, keeps it so for any number of replicas. Changes `smaller`;
// the complete job has `layout`.
void keep_shards_whole(const Layout& layout, Layout& smaller);

// Returns the machine, with ranks in order, for a job with this number of its nodes. A machine
// whose cables, sites or faults name nodes is kept whole. If pools differ, each keeps its share of
// the nodes, rounded in favour of slower pools.
Cluster with_nodes(const Job& job, int nodes);

// Returns why the job cannot keep its measures against slow and faulty replicas (redundancy,
// communication.robust) with its number of replicas; empty: it can.
std::string why_no_stand_ins(const Job& job);

// Returns the possible numbers of missing replicas, ascending. With these, whole groups share
// experts and shards, enough replicas remain for measures against slow and faulty ones, the
// optimizer state of fewer replicas fits in memory, and the longest sequence fits into a group.
std::vector<int> smaller_sizes(const Job& job, const PreparedIteration& prepared);

// Returns why no smaller job is possible with one node out; empty: one is.
std::string why_no_smaller(const Job& job, const PreparedIteration& prepared);

// Returns the subset of smaller_sizes() that smaller_iterations() needs simulated.
std::vector<int> sizes_to_simulate(const Job& job, const std::vector<int>& sizes);

struct SmallerIterations {
  std::vector<double> seconds;  // [size]
  double gap = 0;               // IterationTable::shrunk_gap
};

// `simulated_s`: by number of missing replicas, for the job itself (0) and sizes_to_simulate(), or
// only for the job itself. The first, second, fourth, ... and last of the other sizes have the
// closed form's time, corrected by its error at the simulated ones. In between, time is linear in
// the number of missing replicas.
SmallerIterations smaller_iterations(const Job& job, const PreparedIteration& prepared,
                                     const std::vector<int>& sizes,
                                     const std::map<int, double>& simulated_s, int threads);

}  // namespace windtunnel
