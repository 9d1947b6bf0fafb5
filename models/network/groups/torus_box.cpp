#include "models/network/groups/torus_box.hpp"

#include <algorithm>

#include "models/machine/fabrics/torus.hpp"

namespace windtunnel {
namespace {

// Coordinates of the places in one dimension, ascending, each once.
std::vector<int> coordinates(std::span<const int> places, int stride, int size) {
  std::vector<bool> has(size, false);
  for (const int place : places) has[place / stride % size] = true;
  std::vector<int> found;
  for (int at = 0; at < size; ++at) {
    if (has[at]) found.push_back(at);
  }
  return found;
}

}  // namespace

std::optional<TorusBox> TorusBox::of(std::span<const int> places, const Cluster& cluster) {
  TorusBox box;
  std::vector<int> cells(places.size(), 0);
  double cells_of_box = 1;
  double all_Bps = 0;
  int stride = 1;
  const std::vector<int>& sizes = cluster.fabric.dimensions;
  for (std::size_t dimension = 0; dimension < sizes.size(); ++dimension) {
    const int size = sizes[dimension];
    const std::vector<int> at = coordinates(places, stride, size);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto found = std::ranges::lower_bound(at, places[i] / stride % size);
      cells[i] += static_cast<int>(cells_of_box * static_cast<double>(found - at.begin()));
    }
    if (at.size() > 1) {
      Axis axis{.count = static_cast<int>(at.size())};
      for (std::size_t i = 1; i < at.size(); ++i) axis.gap = std::max(axis.gap, at[i] - at[i - 1]);
      axis.ring = axis.count > 2 && size - at.back() + at.front() <= axis.gap;
      axis.share = cable_Bps(cluster, static_cast<int>(dimension)) * (axis.ring ? 2 : 1);
      all_Bps += axis.share;
      box.axes_.push_back(axis);
    }
    cells_of_box *= static_cast<double>(at.size());
    if (cells_of_box > static_cast<double>(places.size())) return std::nullopt;
    stride *= size;
  }
  if (box.axes_.empty() || all_Bps <= 0) return std::nullopt;
  for (Axis& axis : box.axes_) axis.share /= all_Bps;
  box.members_.resize(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) box.members_[cells[i]] = i;
  return box;
}

int TorusBox::steps() const {
  int steps = 0;
  for (const Axis& axis : axes_) steps += axis.ring ? axis.count / 2 : axis.count - 1;
  return steps;
}

int TorusBox::hops() const {
  int most = 1;
  for (const Axis& axis : axes_) most = std::max(most, axis.gap);
  return most;
}

}  // namespace windtunnel
