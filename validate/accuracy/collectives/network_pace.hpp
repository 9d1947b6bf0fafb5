// Whether measured collectives are off to one side: then it is the network that differs from what
// the prediction is of, and not noise, and the ratio says by how much.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace windtunnel {

struct NetworkPace {
  int points = 0;
  double ratio = 1;      // median of predicted / measured seconds: what it gives of the predicted
  double same_side = 0;  // share of the points that are off to the side of the median

  // Off by more than a quarter in the median, and three of four points to that side: beyond what
  // repeats of one collective differ by.
  bool one_sided() const;
};

// `ratios`: predicted / measured seconds of each point.
NetworkPace pace_of(const std::vector<double>& ratios);

// "gives 46 % of what is predicted (median of 24 points from 1 MB, 24 of them slower)". `than`:
// what is predicted. Nothing: the points are not off to one side.
std::optional<std::string> pace_text(const NetworkPace& pace, const std::string& than);

}  // namespace windtunnel
