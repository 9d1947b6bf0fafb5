#include "policies/exchange/stage_message.hpp"

#include "models/network/collectives/collective_law.hpp"

namespace windtunnel {

namespace {

MessageWay way_from(const Job& job, int from) {
  const LinkTable links = LinkTable::keeping_reference(job.cluster);
  return message_way(job.layout, links, from, (from + 1) % job.layout.pp);
}

}  // namespace

double boundary_s(const Job& job, int from, double bytes) {
  return boundary_s(job, way_from(job, from), bytes);
}

double boundary_latency_s(const Job& job, int from) {
  return boundary_latency_s(job, way_from(job, from));
}

double boundary_latency_s(const Job& job, const MessageWay& way) {
  if (way.in_node) return 0;
  return way.hops * job.cluster.fabric.hop_latency_s.value + way.extra_latency_s;
}

double boundary_s(const Job& job, const MessageWay& way, double bytes) {
  const Calibration& c = calibration_of(job, way.pool);
  const NodeSpec& node = job.cluster.node_of_pool(way.pool);
  if (way.in_node) {
    if (const auto measured = measured_message(c, bytes)) {
      return measured->latency_s + measured->transfer_s;
    }
    const double port_Bps =
        inner_port(node, way.in_package).value * inner_efficiency(c, node).value;
    return c.p2p_launch_s.value + c.nvlink_latency_s.value + bytes / port_Bps;
  }
  const double nic_Bps =
      way.apart ? job.cluster.common.node_Bps.value : node.nic_Bps.value * way.nic_factor;
  return c.p2p_launch_s.value + c.nic_latency_s.value + boundary_latency_s(job, way) +
         bytes * way.at_one_port / (nic_Bps * c.nic_efficiency.value);
}

}  // namespace windtunnel
