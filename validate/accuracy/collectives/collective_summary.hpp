// Summarises judged collectives by machine and by distance from what was fitted: median errors
// below and from 1 MB, those of a ring from specification on the same points, and the share of
// points within the 90 % intervals.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "validate/accuracy/collectives/collective_fit.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Medians of |predicted - measured| / measured; 0 without points.
struct MedianErrors {
  int points = 0;
  double median = 0;
  double ring = 0;  // of the rule "specification, ring"

  bool worse() const { return points > 0 && median > ring; }
};

struct JudgedMachine {
  std::string name;
  bool fitted = false;   // some of its rows were fitted on
  bool in_view = false;  // known when the library's laws were fitted
  int rows = 0;          // measured rows behind its points
  MedianErrors all;
  MedianErrors below;  // 1 MB
  MedianErrors from;
  double covered = 0;   // share of points within their 90 % interval
  int gpus = 0;         // the most among judged points
  int fitted_gpus = 0;  // the most among fitted points
};

struct CollectivesSummary {
  std::vector<JudgedMachine> machines;  // in the order of their first point
  // Points with more ranks than any that their law was fitted on.
  MedianErrors beyond_below;
  MedianErrors beyond_from;
  // Points of machines that no fit and no law of the library has used.
  MedianErrors unseen_below;
  MedianErrors unseen_from;
  MedianErrors unseen;
  // Points of machines without fits, but known to the laws (machines_in_view()).
  MedianErrors in_view_below;
  MedianErrors in_view_from;
};

// [id] `predictions` has those points that could be predicted.
CollectivesSummary summary_of(const std::vector<ScoredRow>& points,
                              const std::vector<ValidationRow>& predictions,
                              const std::vector<FittedNetwork>& networks);

}  // namespace windtunnel
