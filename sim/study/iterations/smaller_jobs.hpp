// A job that lost data-parallel replicas and goes on with those that are left: how many may be
// missing, and how long its iterations take then. Of many sizes only a few are simulated.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// The job with `missing` data-parallel replicas fewer; each of the others keeps its share of work.
// Lost replicas leave holes in the pods and the others stay where they are: so pods shrink in
// proportion, and what shared a pod still does. Of a job with places on the machine the pods stay
// as they are, and the others keep their places. On unlike nodes each kind of replicas keeps its
// share, rounded in favour of the slower ones; where a kind does not fill whole nodes, the first
// replicas stay.
Job shrunk(const Job& job, int missing);
// Returns the job with these of its replicas, in ascending order.
Job with_replicas(const Job& job, const std::vector<int>& kept);

// What a node holds, where nodes are unlike the most that one of them does. Ranks in order are
// taken to fill a node with one pipeline rank.
struct NodeRanks {
  int stages = 1;       // pipeline ranks
  int replicas = 1;     // that have ranks there
  double of_stage = 1;  // that have ranks of the same pipeline rank there
};
NodeRanks ranks_of_node(const Job& job);

// Shards over all replicas are so however many there are: in `smaller`, of which `layout` was the
// whole, too.
void keep_shards_whole(const Layout& layout, Layout& smaller);

// The machine, with ranks in order, of a job that needs so many of its nodes. One whose cables,
// sites or faults name nodes stays whole. Of unlike nodes each pool keeps its share, rounded in
// favour of the slower ones.
Cluster with_nodes(const Job& job, int nodes);

// What the job does about slow and faulty replicas (redundancy, communication.robust) cannot be
// done with as many as it has; empty: it can.
std::string why_no_stand_ins(const Job& job);

// How many replicas may be missing, ascending: whole groups share experts and shards, enough are
// left for what is done about slow and faulty ones, fewer replicas that share the optimizer state
// still fit in memory, and the longest sequence into a group.
std::vector<int> smaller_sizes(const Job& job, const PreparedIteration& prepared);

// Why, with one node out, there are none; empty: there are.
std::string why_no_smaller(const Job& job, const PreparedIteration& prepared);

// Those of smaller_sizes() that smaller_iterations() wants simulated.
std::vector<int> sizes_to_simulate(const Job& job, const std::vector<int>& sizes);

struct SmallerIterations {
  std::vector<double> seconds;  // [size]
  double gap = 0;               // IterationTable::shrunk_gap
};

// `simulated_s`: of the job itself, 0 missing, and of the sizes_to_simulate(), or of itself alone.
// Of the first, the second, the fourth, ... and the last size the others have the closed form's
// time, corrected by what that misses at the simulated ones; between all these time is linear in
// the missing replicas.
SmallerIterations smaller_iterations(const Job& job, const PreparedIteration& prepared,
                                     const std::vector<int>& sizes,
                                     const std::map<int, double>& simulated_s, int threads);

}  // namespace windtunnel
