// The law of one network (models/calibration/interconnect_law.hpp) fitted on measured collectives:
// least squares of the logarithm (models/base/fit/fit.hpp) from the specification, settings that no
// derivative finds by trying each, slow nodes from repeated runs, noise from what a scale would be
// off by if it were left out.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/network/collectives/collective_interval.hpp"
#include "models/network/groups/group_shape.hpp"
#include "validate/accuracy/collectives/collective_machine.hpp"

namespace windtunnel {

// One measured point: the median over its repeats, placements and variants.
struct ScoredRow {
  std::string id;  // of its first row, "file:line"
  std::string machine;
  std::string environment;
  CollectiveKind kind = CollectiveKind::all_reduce;
  CollectiveChoice choice;                         // what its notes say was forced, and can run
  std::string fell_back;                           // what was forced and cannot; mostly empty
  std::shared_ptr<const CollectiveMachine> where;  // cluster, GPUs and their shape
  int gpus = 0;
  int nodes = 0;
  double bytes = 0;
  double seconds = 0;               // the median of:
  std::vector<double> samples;      // s, in the order of the file
  std::vector<std::string> labels;  // of each: its notes, which name the run
};

struct FittedNetwork {
  std::string machine;
  std::string environment;
  Calibration calibration;
  int rows = 0;       // fitted on; 0: from specification alone
  int most_gpus = 0;  // of these rows
  double most_bytes = 0;
  std::vector<std::string_view> untold;  // fields that no row depends on: as before
};

// `rows` of one machine and environment; they bring their clusters. `prior`: where it starts, the
// specification's law where it states none. A number whose bounds leave no room stays. `origin`: of
// the rows, and so of what they decide.
FittedNetwork fit_network(std::span<const ScoredRow> rows, const Cluster& node_template,
                          const Calibration& prior, Origin origin = Origin::published);

// Where fits on parts of `rows` start: the law fitted on all of them, its numbers within the square
// root of the bounds that they had.
Calibration shared_start(std::span<const ScoredRow> rows, const Cluster& node_template,
                         const Calibration& prior);

// The release of NCCL that the rows state, if they do, picks.
void set_release(const CollectiveMachine& where, InterconnectLaw& law);

// Puts back to those of `before` what holds of groups inside a node, or across nodes, where no row
// is of such a group. What was put back, for people; empty: nothing.
std::string keep_unmeasured(std::span<const ScoredRow> rows, const Calibration& before,
                            Calibration& fitted);

// How far a point lies beyond all that its law was fitted on: powers of two of ranks and of bytes.
// 0: within, and of a law that was not fitted.
struct FitDistance {
  double ranks = 0;
  double sizes = 0;
};
FitDistance distance_of(const FittedNetwork& network, const ScoredRow& row);

// The 90 % interval of measured / predicted: noise, distance from what was fitted, slow nodes.
TimeFactors interval(const FittedNetwork& network, const FitDistance& distance,
                     const ScoredRow& row);

}  // namespace windtunnel
