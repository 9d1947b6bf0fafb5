// Fits the law of one network (models/calibration/interconnect_law.hpp) to measured collectives:
// least squares of the logarithm (models/base/fit/fit.hpp) starting from the specification.
// Settings without a derivative are found by trial, slow nodes from repeated runs, and noise from
// the error at each scale when it is left out.
#pragma once

#include <map>
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
  CollectiveChoice choice;                         // forced according to the notes, and possible
  std::string fell_back;                           // forced but not possible; usually empty
  std::shared_ptr<const CollectiveMachine> where;  // cluster, GPUs and their shape
  int gpus = 0;
  int nodes = 0;
  double bytes = 0;
  double seconds = 0;               // median of `samples`
  std::vector<double> samples;      // s, in the order of the file
  std::vector<std::string> labels;  // [sample] its notes, which name the run
};

struct FittedNetwork {
  std::string machine;
  std::string environment;
  Calibration calibration;
  int rows = 0;       // fitted on; 0: only the specification
  int most_gpus = 0;  // in these rows
  double most_bytes = 0;
  std::vector<std::string_view> untold;  // fields on which no row depends; unchanged
};

// `rows` must be of one machine and environment; they contain their clusters. `prior` is the start,
// with the specification's law if it states none. A number whose bounds are equal does not change.
// `origin` is that of the rows, and so of the fitted numbers.
FittedNetwork fit_network(std::span<const ScoredRow> rows, const Cluster& node_template,
                          const Calibration& prior, Origin origin = Origin::published);

// The start for fits on parts of `rows`: the law fitted on all of them, with bounds narrowed to
// their square root.
Calibration shared_start(std::span<const ScoredRow> rows, const Cluster& node_template,
                         const Calibration& prior);

// Uses the choices of the NCCL release that the rows state, if they do.
void set_release(const CollectiveMachine& where, InterconnectLaw& law);

// If no row is of a group inside a node, or none of a group across nodes, restores the numbers of
// such groups from `before`. Returns what was restored, in words; empty: nothing.
std::string keep_unmeasured(std::span<const ScoredRow> rows, const Calibration& before,
                            Calibration& fitted);

// How far a point is beyond everything that its law was fitted on, in powers of two of ranks and of
// bytes. 0 within that, and for a law that was not fitted.
struct FitDistance {
  double ranks = 0;
  double sizes = 0;
};
FitDistance distance_of(const FittedNetwork& network, const ScoredRow& row);

// The 90 % interval of measured / predicted, from noise, the distance from fitted points, and slow
// nodes.
TimeFactors interval(const FittedNetwork& network, const FitDistance& distance,
                     const ScoredRow& row);

// The time of a collective by simpler rules, which the closed form should beat.
// - alpha-beta: seconds = alpha * steps + beta * bytes that a rank moves (Hockney 1994), with the
//   steps of a ring or a binary tree. Each machine and collective has one law, fitted by least
//   squares of the logarithm to the rows to fit on.
// - Specification: a ring with the generic calibration's five constants on the nominal links, for
//   machines without fitted rows.
// - Noise floor: the median of the other rows of a point predicts each row. No prediction can be
//   closer to single measurements.

struct AlphaBeta {
  double alpha_s = 0;  // per step
  double beta_s_per_byte = 0;
};

// `steps[i]`, `bytes[i]` predict `seconds[i]`.
AlphaBeta fit_alpha_beta(const std::vector<double>& steps, const std::vector<double>& bytes,
                         const std::vector<double>& seconds);

class CollectiveBaselines {
 public:
  explicit CollectiveBaselines(const std::vector<ScoredRow>& fit_rows);
  std::map<std::string, double> seconds(const ScoredRow& row) const;  // [name of the rule]

 private:
  struct Laws {
    AlphaBeta ring, tree;
  };
  std::map<std::string, Laws> laws_;  // [machine and collective]
};

}  // namespace windtunnel
