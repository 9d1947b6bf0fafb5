// Nodes of a cluster as network namespaces of this machine: each has a port of its own to a bridge,
// held to the rate of its NICs by the kernel (tc, tbf); bridges of pods have uplinks to a spine of
// the fabric's oversubscription. Needs root, iproute2 and a kernel with namespaces, veth, bridges
// and tbf. The namespaces have no name: they are gone when the processes in them are.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "models/machine/cluster.hpp"
#include "validate/harness/execute/run_clock.hpp"

namespace windtunnel {

// Why there can be none on this machine, in a line; empty: there can.
std::string why_no_testbed();

// Of the scenario, what the port of this node is held to, degraded as its NIC is.
double testbed_port_Bps(const Cluster& cluster, int node);
// Bytes of the scenario that it lets pass at once behind a pause in which it could have sent as
// many: of a message only the rest takes time.
double testbed_burst_bytes(const Cluster& cluster, int node, const ExecutionScale& scale);

class Testbed {
 public:
  // Links of the scenario's rates at the scale. Of a node with several NICs all are one port.
  // Throws Error (failed) with what the tools say.
  Testbed(const Cluster& cluster, const ExecutionScale& scale);
  ~Testbed();
  Testbed(const Testbed&) = delete;
  Testbed& operator=(const Testbed&) = delete;

  // The calling process is on this node from now on.
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
