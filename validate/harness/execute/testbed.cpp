#include "validate/harness/execute/testbed.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <set>

#include "models/base/error.hpp"
#include "models/machine/links/links.hpp"
#include "validate/harness/ranks/own_core.hpp"

namespace windtunnel {
namespace {

// Bytes on the wire per byte of payload: TCP over IPv4 with time stamps carries 1448 bytes in an
// Ethernet frame of 1514.
constexpr double kWirePerByte = 1514.0 / 1448;
// The burst of a port after a pause (testbed_burst_bytes). If it is smaller than what passes while
// the kernel's timer is late, the rate is not reached. If it is smaller than what TCP submits at
// once, every frame needs a timer: with two frames, rings of eight nodes at 200 Mbit/s took half as
// long again on two cores.
constexpr double kBurstS = 2e-3;
constexpr double kLeastBurst = 16e3;  // bytes

double wire_bps_of(double bps) {
  return std::max(8e3, bps * kWirePerByte);
}
double burst_on_wire(double bps) {
  return std::max(kLeastBurst, wire_bps_of(bps) / 8 * kBurstS);
}
// Converts the scenario's bytes per second to bits per second on the testbed.
double real_bits(const ExecutionScale& scale) {
  return scale.times / scale.bytes * 8;
}
double node_Bps_of(const Cluster& cluster) {
  return cluster.node.nic_Bps.value * cluster.node.nics;
}

[[noreturn]] void refuse_testbed(const std::string& what) {
  throw Error(fmt::format("no testbed: {}", what), ExitCode::failed);
}

// Returns what a failing script printed; empty if it succeeded.
std::string fault_of_script(int space, const std::string& script) {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::strerror(errno);
  const pid_t process = fork_child();
  if (process < 0) return std::strerror(errno);
  if (process == 0) {
    dup2(ends[1], STDERR_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    if (space < 0 ? unshare(CLONE_NEWNET) != 0 : setns(space, CLONE_NEWNET) != 0) {
      dprintf(STDERR_FILENO, "cannot use a network namespace: %s", std::strerror(errno));
      _exit(1);
    }
    execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string said(500, '\0');
  std::size_t length = 0;
  for (ssize_t count = 1; count > 0 && length < said.size();) {
    count = read(ends[0], said.data() + length, said.size() - length);
    if (count > 0) length += static_cast<std::size_t>(count);
  }
  close(ends[0]);
  int status = 0;
  waitpid(process, &status, 0);
  if (status == 0) return "";
  said.resize(length);
  std::replace(said.begin(), said.end(), '\n', ' ');
  return said.empty() ? "the shell printed nothing" : said;
}

// The queue is deep enough that nothing is dropped: sockets limit the data in transit.
std::string shaped(const std::string& device, double bps) {
  return fmt::format("tc qdisc add dev {} root tbf rate {:.0f}bit burst {:.0f} limit 16mb\n",
                     device, wire_bps_of(bps), burst_on_wire(bps));
}

}  // namespace

std::string why_no_testbed() {
  if (geteuid() != 0) return "network namespaces need root";
  const std::string fault = fault_of_script(
      -1,
      "set -e; command -v ip >/dev/null || { echo 'iproute2 is not installed'; exit 1; }\n"
      "ip link add probe0 type bridge; ip link add probe1 type veth peer name probe2\n" +
          shaped("probe1", 1e6));
  return fault;
}

double testbed_port_Bps(const Cluster& cluster, int node) {
  return node_Bps_of(cluster) * (cluster.node.nics == 1 ? nic_factor(cluster, node) : 1);
}

double testbed_burst_bytes(const Cluster& cluster, int node, const ExecutionScale& scale) {
  const double bps = testbed_port_Bps(cluster, node) * real_bits(scale);
  return burst_on_wire(bps) / kWirePerByte * scale.bytes;
}

Testbed::Space Testbed::make_space() {
  std::array<int, 2> ready = {};
  if (pipe2(ready.data(), O_CLOEXEC) != 0) refuse_testbed(std::strerror(errno));
  Space space;
  space.holder = fork_child();
  if (space.holder < 0) refuse_testbed(std::strerror(errno));
  if (space.holder == 0) {
    keep_only(ready[1]);
    const char there = unshare(CLONE_NEWNET) == 0 ? 'y' : 'n';
    if (write(ready[1], &there, 1) != 1 || there == 'n') _exit(1);
    for (;;) pause();
  }
  close(ready[1]);
  char there = 'n';
  if (read(ready[0], &there, 1) != 1) there = 'n';
  close(ready[0]);
  const std::string path = fmt::format("/proc/{}/ns/net", space.holder);
  if (there == 'y') space.descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return space;
}

Testbed::Testbed(const Cluster& cluster, const ExecutionScale& scale) {
  const double real = real_bits(scale);
  const double node_Bps = node_Bps_of(cluster);
  const int per_pod =
      cluster.fabric.nodes_per_pod > 0 ? cluster.fabric.nodes_per_pod : cluster.fabric_nodes();
  try {
    fabric_ = make_space();
    std::string script = "set -e\nip link add spine type bridge\nip link set spine up\n";
    std::set<int> pods;
    for (int node = 0; node < cluster.nodes; ++node) pods.insert(cluster.place_of(node) / per_pod);
    const double oversubscription = std::max(1.0, cluster.fabric.pod_oversubscription);
    for (const int pod : pods) {
      script += fmt::format("ip link add pod{0} type bridge\nip link set pod{0} up\n", pod);
      if (pods.size() == 1) continue;
      script += fmt::format(
          "ip link add up{0} type veth peer name down{0}\n"
          "ip link set up{0} master pod{0} up\nip link set down{0} master spine up\n",
          pod);
      const double uplink_bps = per_pod * node_Bps / oversubscription * real;
      script += shaped(fmt::format("up{}", pod), uplink_bps);
      script += shaped(fmt::format("down{}", pod), uplink_bps);
    }
    run_in(fabric_, script);
    for (int node = 0; node < cluster.nodes; ++node) {
      nodes_.push_back(make_space());
      join_node(node, fmt::format("pod{}", cluster.place_of(node) / per_pod),
                testbed_port_Bps(cluster, node) * real);
    }
  } catch (...) {
    close_spaces();
    throw;
  }
}

Testbed::~Testbed() {
  close_spaces();
}

void Testbed::close_spaces() {
  std::vector<Space> spaces = nodes_;
  spaces.push_back(fabric_);
  for (const Space& space : spaces) {
    if (space.descriptor >= 0) close(space.descriptor);
    if (space.holder <= 0) continue;
    kill(space.holder, SIGKILL);
    waitpid(space.holder, nullptr, 0);
  }
}

void Testbed::join_node(int node, const std::string& bridge, double port_bps) {
  const Space& space = nodes_[static_cast<std::size_t>(node)];
  const std::string port = fmt::format("port{}", node);
  run_in(fabric_, fmt::format("set -e\nip link add {0} type veth peer name eth0 netns {1}\n"
                              "ip link set {0} master {2} up\n{3}",
                              port, space.holder, bridge, shaped(port, port_bps)));
  run_in(space, fmt::format("set -e\nip link set lo up\nip addr add {}/16 dev eth0\n"
                            "ip link set eth0 up\n{}",
                            address(node), shaped("eth0", port_bps)));
}

void Testbed::run_in(const Space& space, const std::string& script) const {
  if (space.descriptor < 0) refuse_testbed("cannot use a network namespace");
  const std::string fault = fault_of_script(space.descriptor, script);
  if (!fault.empty()) refuse_testbed(fault);
}

void Testbed::enter(int node) const {
  if (setns(nodes_[static_cast<std::size_t>(node)].descriptor, CLONE_NEWNET) != 0) {
    refuse_testbed(std::strerror(errno));
  }
}

std::string Testbed::address(int node) const {
  return fmt::format("10.77.{}.{}", node / 250, node % 250 + 1);
}

}  // namespace windtunnel
