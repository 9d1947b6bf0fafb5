// Emulates the nodes of a cluster by network namespaces of this machine. Each has a port to a
// bridge, limited to the rate of its NICs by the kernel (tc, tbf); bridges of pods have uplinks to
// a spine with the fabric's oversubscription. Needs root, iproute2 and a kernel with namespaces,
// veth, bridges and tbf. The namespaces have no name and disappear with their processes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "models/machine/cluster.hpp"
#include "validate/harness/execute/run_clock.hpp"

namespace windtunnel {

// Returns in one line why this machine cannot have a testbed; empty if it can.
std::string why_no_testbed();

// Returns the rate of the node's port in the scenario, degraded as its NIC is.
double testbed_port_Bps(const Cluster& cluster, int node);
// Returns the bytes of the scenario that the port sends at once after a pause long enough for them:
// only the rest of a message takes time.
double testbed_burst_bytes(const Cluster& cluster, int node, const ExecutionScale& scale);

class Testbed {
 public:
  // Creates links with the scenario's rates at the scale. Several NICs of a node are one port.
  // Throws Error (failed) with the tools' messages.
  Testbed(const Cluster& cluster, const ExecutionScale& scale);
  ~Testbed();
  Testbed(const Testbed&) = delete;
  Testbed& operator=(const Testbed&) = delete;

  // Moves the calling process to this node.
  void enter(int node) const;
  std::string address(int node) const;  // of its port

 private:
  struct Space {
    pid_t holder = 0;
    int descriptor = -1;
  };

  Space make_space();
  void close_spaces();
  void join_node(int node, const std::string& bridge, double port_bps);
  void run_in(const Space& space, const std::string& script) const;

  Space fabric_;
  std::vector<Space> nodes_;
};

}  // namespace windtunnel
