// What judged collectives come to, by machine and by how far they lie from what was fitted: medians
// of the error below 1 MB and from there on, beside those of a ring from specification on the same
// points, and how many points the 90 % intervals hold.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "validate/accuracy/collectives/collective_fit.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Medians of |predicted - measured| / measured; of no point 0.
struct MedianErrors {
  int points = 0;
  double median = 0;
  double ring = 0;  // of the rule "specification, ring"

  bool worse() const { return points > 0 && median > ring; }
};

struct JudgedMachine {
  std::string name;
  bool fitted = false;   // any of its rows
  bool in_view = false;  // of those who fitted the library's laws
  int rows = 0;          // measured, that its points are medians of
  MedianErrors all;
  MedianErrors below;  // 1 MB
  MedianErrors from;
  double covered = 0;   // share of points within their 90 % interval
  int gpus = 0;         // the most that is judged
  int fitted_gpus = 0;  // the most that was fitted on
};

struct CollectivesSummary {
  std::vector<JudgedMachine> machines;  // in the order of their first point
  // Points with more ranks than any that their law was fitted on.
  MedianErrors beyond_below;
  MedianErrors beyond_from;
  // Points of machines of which nothing was fitted, and the library's laws have seen nothing.
  MedianErrors unseen_below;
  MedianErrors unseen_from;
  MedianErrors unseen;
  // Of those of which nothing was fitted, but that the laws have seen (machines_in_view()).
  MedianErrors in_view_below;
  MedianErrors in_view_from;
};

// `points` and the predictions of those that could be made, by id.
CollectivesSummary summary_of(const std::vector<ScoredRow>& points,
                              const std::vector<ValidationRow>& predictions,
                              const std::vector<FittedNetwork>& networks);

}  // namespace windtunnel
