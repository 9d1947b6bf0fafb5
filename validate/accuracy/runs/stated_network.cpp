#include "validate/accuracy/runs/stated_network.hpp"

#include <cstdio>
#include <cstring>

#include "traces/text/text.hpp"
#include "validate/accuracy/collectives/collective_machine.hpp"

namespace windtunnel {
namespace {

// Parses "delay 5 ms" or "0.1 ms"; 0: not stated.
double stated_delay_s(const std::string& text) {
  const std::size_t unit = text.find(" ms");
  if (unit == std::string::npos) return 0;
  std::size_t first = unit;
  while (first > 0 && std::strchr("0123456789.", text[first - 1]) != nullptr) --first;
  double milliseconds = 0;
  std::sscanf(text.c_str() + first, "%lf", &milliseconds);
  return milliseconds * 1e-3;
}

// Hosts in the operators' sense: a node of the library, or each tray of four GPUs in a rack that is
// one NVLink domain (NVIDIA DGX GB200 and GB300 user guides).
int hosts_of(const NodeSpec& node) {
  constexpr int kLargestHost = 16;
  constexpr int kTray = 4;
  return node.gpus > kLargestHost ? node.gpus / kTray : 1;
}

}  // namespace

void set_stated_network(const std::string& text, Cluster& cluster) {
  const double delay_s = stated_delay_s(text);
  if (delay_s == 0 && !contains_text(text, "per node")) return;
  const NetworkText stated = read_network(text);
  if (stated.nic_Bps == 0) return;
  const auto measured = [&](double value) {
    return Parameter{value, value, value, Origin::published, "the row's network"};
  };
  NodeSpec& node = cluster.node;
  if (stated.nics > 0) node.nics = stated.nics * hosts_of(node);
  node.nic_Bps = measured(stated.nic_Bps);
  if (stated.names_transport) cluster.fabric.transport = stated.transport;
  if (delay_s > 0) cluster.fabric.hop_latency_s = measured(delay_s);
}

}  // namespace windtunnel
