#include "models/reliability/code_survival.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// [i]: weight of i losses.
using Weights = std::vector<long double>;

// [i]: probability that i of `members` are lost, each with probability `loss`, up to `most` of
// them.
Weights group_weights(int members, int most, long double loss) {
  Weights weights{std::pow(1 - loss, static_cast<long double>(members))};
  for (int lost = 1; lost <= std::min(members, most); ++lost) {
    const auto ways = static_cast<long double>(members - lost + 1) / lost;
    weights.push_back(weights.back() * ways * loss / (1 - loss));
  }
  return weights;
}

// Returns the weights of the losses in two independent groups together, up to `most` losses.
Weights together(const Weights& left, const Weights& right, int most) {
  const auto whole = static_cast<int>(left.size() + right.size()) - 1;
  Weights both(std::min(whole, most + 1), 0);
  const auto size = static_cast<int>(both.size());
  for (int i = 0; i < std::min<int>(size, static_cast<int>(left.size())); ++i) {
    const int end = std::min<int>(size, i + static_cast<int>(right.size()));
    for (int j = i; j < end; ++j) both[j] += left[i] * right[j - i];
  }
  return both;
}

struct Groups {
  int whole;  // all but the last
  int members;
  int last_members;
};

// Weight of all ways to lose `lost` members in total, with at most `most` in each group.
long double weight_of(const Groups& groups, int most, int lost, long double loss) {
  Weights power = group_weights(groups.members, most, loss);
  Weights all = group_weights(groups.last_members, most, loss);
  for (int left = groups.whole; left > 0; left /= 2) {
    if (left % 2 == 1) all = together(all, power, lost);
    power = together(power, power, lost);
  }
  return static_cast<std::size_t>(lost) < all.size() ? all[lost] : 0;
}

}  // namespace

double node_survival(double time_s, double mean_life_s, double shape) {
  CHECK(mean_life_s > 0 && shape > 0, "a mean life of {} s, shape {}", mean_life_s, shape);
  const double scale_s = mean_life_s / boost::math::tgamma(1 + 1 / shape);
  return std::exp(-std::pow(time_s / scale_s, shape));
}

// This tail is a regularised incomplete beta function (Abramowitz and Stegun, 26.5.24). It is
// computed directly, because 1 minus the other tail would lose digits.
double group_loss(int members, int tolerated, double loss) {
  if (tolerated >= members) return 0;
  return boost::math::ibeta(tolerated + 1, members - tolerated, loss);
}

double survival_after_losses(int nodes, int members, int tolerated, int lost) {
  CHECK(nodes > 0 && members > 0 && tolerated >= 0 && lost >= 0 && lost <= nodes,
        "{} of {} nodes lost, groups of {} that tolerate {}", lost, nodes, members, tolerated);
  const int whole = std::max(1, nodes / members) - 1;
  const Groups groups{whole, members, nodes - whole * members};
  if (lost <= tolerated || groups.last_members <= tolerated) return 1;
  if (lost == nodes) return 0;
  // The ratio is the coefficient of x^lost in prod_groups sum_{i <= tolerated} C(n, i) x^i, divided
  // by C(nodes, lost), the same without the bound. All terms are positive. Any probability gives
  // the same ratio; this one keeps the weights in range.
  const long double loss = static_cast<long double>(lost) / nodes;
  return static_cast<double>(weight_of(groups, tolerated, lost, loss) /
                             weight_of(groups, lost, lost, loss));
}

}  // namespace windtunnel
