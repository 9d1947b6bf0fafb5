#include "models/machine/cluster.hpp"

namespace windtunnel {

double Cluster::slowdown_of(int gpu) const {
  double slowdown = 1;
  for (const SlowNode& slow : slow_nodes) {
    if (slow.node == place_of(node_of(gpu))) slowdown *= slow.slowdown;
  }
  return slowdown;
}

}  // namespace windtunnel
