// Rows of the field table below "cluster.power". Watts are plain numbers with the unit in the key.
// A key that is left out has the default of its member, and has an effect only if the scenario asks
// for power.
#include "models/power/power_spec.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {
namespace {

constexpr double kMostWatts = 1e9;

Rows draw_rows() {
  return {
      fact_row("cluster.power.gpu_watts", sets<&NodePower::gpu_W>, above(0, kMostWatts), optional,
               example("700"), "power of a GPU at its limit (TDP)"),
      fact_row("cluster.power.idle_watts", sets<&NodePower::gpu_idle_W>, above(0, kMostWatts),
               optional, example("70"), "power of an idle GPU"),
      fact_row("cluster.power.node_watts", sets<&NodePower::rest_W>, above(0, kMostWatts), optional,
               example("2150"), "power of a node without its GPUs, constant"),
      fact_row("cluster.power.switch_watts", sets<&PowerSpec::switch_W>, range(0, kMostWatts),
               optional, example("35"),
               "power of the fabric's switches and cables per NIC of a node; default: counted from "
               "cluster.fabric"),
      fact_row("cluster.power.storage_watts", sets<&PowerSpec::storage_W>, range(0, kMostWatts),
               optional, example("50000"), "power of the whole shared storage"),
      fact_row("cluster.power.pue", sets<&PowerSpec::pue>, range(1, 10), optional, example("1.1"),
               "power usage effectiveness: power of the building, divided by that of its machines"),
      fact_row("cluster.power.computing", sets<&PowerSpec::computing>, above(0, 1), optional,
               example("0.9"),
               "share of the range from idle to the limit that a GPU draws while kernels compute"),
      fact_row(
          "cluster.power.communicating", sets<&PowerSpec::communicating>, range(0, 1), optional,
          example("0.35"),
          "share of the range from idle to the limit that a GPU draws while it sends and receives"),
  };
}

Rows price_rows() {
  return {
      fact_row("cluster.power.usd_per_kwh", sets<&PowerSpec::usd_per_kWh>, above(0, 1e3), optional,
               example("0.08"), "price of electric energy"),
      fact_row("cluster.power.node_usd", sets<&PowerSpec::node_usd>, above(0, 1e9), optional,
               example("199000"), "purchase price of a complete node, which the owner writes off"),
      fact_row("cluster.power.nic_usd", sets<&PowerSpec::nic_usd>, range(0, 1e9), optional,
               example("3000"),
               "price of the network for each NIC of a node: cables, ports, switches; default: "
               "counted from cluster.fabric"),
      fact_row("cluster.power.years", sets<&PowerSpec::years>, above(0, 100), optional,
               example("4"), "years over which machines are written off, in constant use")};
}

}  // namespace

Rows power_rows() {
  const Rows rows = joined(
      {{map_row("cluster.power", example("{usd_per_kwh: 0.08, pue: 1.2}"),
                "computes the power of a step over time, the energy and its cost; without this map "
                "they are not computed")},
       draw_rows(),
       {fact_row("cluster.power.cap_watts", sets<&PowerSpec::cap_W>, above(0, kMostWatts), optional,
                 example("500"),
                 "power cap of every GPU: its clock falls until computing stays below it"),
        fact_row("cluster.power.clock_power", sets<&PowerSpec::clock_power>, range(1, 4), optional,
                 example("3"),
                 "exponent: a GPU's power above idle grows with this power of its clock"),
        whole_row("cluster.power.rack_nodes", sets<&PowerSpec::rack_nodes>, range(1, 1e6), optional,
                  example("4"), "consecutive nodes of one rack"),
        fact_row("cluster.power.more_nodes", sets<&PowerSpec::more_nodes>, range(0, 10), optional,
                 example("0.3"),
                 "additional nodes in a row, each at its limit, as a share of the nodes for which "
                 "its supply was planned"),
        flag_row(
            "cluster.power.row_apart", sets<&PowerSpec::row_apart>, optional, example("true"),
            "true: with more_nodes, the nodes of the row are in independent phases of their steps, "
            "as servers or jobs of one node are; false: all are in the same phase, as in one job")},
       price_rows()});
  // The cap and the law of clocks under it affect how long kernels take.
  return of_campaign(
      rows, {"cluster.power.cap_watts", "cluster.power.clock_power", "cluster.power.gpu_watts",
             "cluster.power.idle_watts", "cluster.power.computing"});
}

}  // namespace windtunnel
