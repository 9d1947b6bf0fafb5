// Tells whether measured collectives deviate to one side: then the network differs from the
// predicted one, rather than noise, and the ratio says by how much.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace windtunnel {

struct NetworkPace {
  int points = 0;
  // Median of predicted / measured seconds: the share of the predicted speed that it reaches.
  double ratio = 1;
  double same_side = 0;  // share of points on the same side as the median

  // Whether the median is off by more than a quarter and three of four points are on that side:
  // more than repeats of one collective differ.
  bool one_sided() const;
};

// [point] predicted / measured seconds.
NetworkPace pace_of(const std::vector<double>& ratios);

// "gives 46 % of what is predicted (median of 24 points from 1 MB, 24 of them slower)"; `than`
// describes the prediction. Nothing if the points do not deviate to one side.
std::optional<std::string> pace_text(const NetworkPace& pace, const std::string& than);

}  // namespace windtunnel
