#include "validate/harness/execute/link_clocks.hpp"

#include <algorithm>
#include <limits>

#include "models/base/error.hpp"

namespace windtunnel {

double LinkClocks::send(std::span<const LinkId> route, double units, double at_s) const {
  double end_s = at_s;
  for (const LinkId link : route) {
    const double capacity = links_.capacity(link);
    if (!(capacity > 0)) {
      throw Error(
          fmt::format("the plan sends data over '{}', which has no bandwidth", links_.name(link)));
    }
    Bucket& bucket = buckets_[link];
    double free_s = bucket.load();
    double until_s = 0;
    do {
      until_s = std::max(free_s, at_s) + units / capacity;
    } while (!bucket.compare_exchange_weak(free_s, until_s));
    end_s = std::max(end_s, until_s);
  }
  return end_s;
}

double LinkClocks::least_capacity(std::span<const LinkId> route) const {
  double least = std::numeric_limits<double>::infinity();
  for (const LinkId link : route) least = std::min(least, links_.capacity(link));
  return least;
}

std::vector<LinkId> LinkClocks::route(int source_gpu, int destination_gpu) const {
  std::vector<LinkId> links;
  const Cluster& cluster = links_.cluster();
  if (!between_nodes_ && cluster.node_of(source_gpu) != cluster.node_of(destination_gpu)) {
    return links;
  }
  links_.append_route(source_gpu, destination_gpu, links);
  return links;
}

std::vector<LinkId> LinkClocks::resource(int gpu, Resource resource, int weight) const {
  std::vector<LinkId> links;
  for (int k = 0; k < weight; ++k) links_.append_resource(gpu, resource, links);
  return links;
}

}  // namespace windtunnel
