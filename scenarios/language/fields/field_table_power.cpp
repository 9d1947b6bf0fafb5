// Rows of the field table below "cluster.power". Watts are plain numbers: their unit stands in the
// key. What is left out has the value of its member, and counts only where power is asked for.
#include "models/power/power_spec.hpp"
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {
namespace {

constexpr double kMostWatts = 1e9;

Field watts_row(std::string_view path, std::string_view example, std::string_view help) {
  return fact_row(path, Dimension::number,
                  {.low = 0,
                   .above_low = true,
                   .high = kMostWatts,
                   .optional = true,
                   .example = example,
                   .help = help});
}

Rows draw_rows() {
  return {
      watts_row("cluster.power.gpu_watts", "700", "of a GPU at its limit (TDP)"),
      watts_row("cluster.power.idle_watts", "70", "of a GPU that nothing runs on"),
      watts_row("cluster.power.node_watts", "2150", "of a node besides its GPUs, all the time"),
      fact_row<&PowerSpec::switch_W>("cluster.power.switch_watts", Dimension::number,
                                     {.low = 0,
                                      .high = kMostWatts,
                                      .optional = true,
                                      .example = "35",
                                      .help = "of the fabric's switches, for each NIC of a node"}),
      fact_row<&PowerSpec::storage_W>("cluster.power.storage_watts", Dimension::number,
                                      {.low = 0,
                                       .high = kMostWatts,
                                       .optional = true,
                                       .example = "50000",
                                       .help = "of the shared storage as a whole"}),
      fact_row<&PowerSpec::pue>(
          "cluster.power.pue", Dimension::number,
          {.low = 1,
           .high = 10,
           .optional = true,
           .example = "1.1",
           .help = "power usage effectiveness: what the building draws over its machines"}),
      fact_row<&PowerSpec::computing>(
          "cluster.power.computing", Dimension::number,
          {.low = 0,
           .above_low = true,
           .high = 1,
           .optional = true,
           .example = "0.9",
           .help = "of the way from idle to the limit, that a GPU draws while kernels compute"}),
      fact_row<&PowerSpec::communicating>("cluster.power.communicating", Dimension::number,
                                          {.low = 0,
                                           .high = 1,
                                           .optional = true,
                                           .example = "0.35",
                                           .help = "likewise while it sends and receives"}),
  };
}

Rows price_rows() {
  return {
      fact_row<&PowerSpec::usd_per_kWh>("cluster.power.usd_per_kwh", Dimension::number,
                                        {.low = 0,
                                         .above_low = true,
                                         .high = 1e3,
                                         .optional = true,
                                         .example = "0.08",
                                         .help = "price of energy"}),
      fact_row<&PowerSpec::node_usd>("cluster.power.node_usd", Dimension::number,
                                     {.low = 0,
                                      .above_low = true,
                                      .high = 1e9,
                                      .optional = true,
                                      .example = "199000",
                                      .help = "price of a node with all that is in it, of an "
                                              "owner who writes it off"}),
      fact_row<&PowerSpec::nic_usd>("cluster.power.nic_usd", Dimension::number,
                                    {.low = 0,
                                     .high = 1e9,
                                     .optional = true,
                                     .example = "3000",
                                     .help = "price of the network for each NIC of a node: cables, "
                                             "ports, switches"}),
      fact_row<&PowerSpec::years>("cluster.power.years", Dimension::number,
                                  {.low = 0,
                                   .above_low = true,
                                   .high = 100,
                                   .optional = true,
                                   .example = "4",
                                   .help = "until machines are written off, in use all the time"})};
}

}  // namespace

Rows power_rows() {
  const Rows rows = joined(
      {{map_row("cluster.power", {.example = "{usd_per_kwh: 0.08, pue: 1.2}",
                                  .help = "watts of a step over time, energy and its cost; without "
                                          "it nothing is said of them"})},
       draw_rows(),
       {fact_row<&PowerSpec::cap_W>(
            "cluster.power.cap_watts", Dimension::number,
            {.low = 0,
             .above_low = true,
             .high = kMostWatts,
             .optional = true,
             .example = "500",
             .help = "limit of every GPU: its clock falls until computing draws no more"}),
        fact_row<&PowerSpec::clock_power>(
            "cluster.power.clock_power", Dimension::number,
            {.low = 1,
             .high = 4,
             .optional = true,
             .example = "3",
             .help = "a GPU's power above idling goes with this power of its clock"}),
        whole_row<&PowerSpec::rack_nodes>("cluster.power.rack_nodes",
                                          {.low = 1,
                                           .high = 1e6,
                                           .optional = true,
                                           .example = "4",
                                           .help = "consecutive nodes of one rack"}),
        fact_row<&PowerSpec::more_nodes>(
            "cluster.power.more_nodes", Dimension::number,
            {.low = 0,
             .high = 10,
             .optional = true,
             .example = "0.3",
             .help = "more nodes in a row than its supply was planned for, each at its limit, as a "
                     "share"})},
       price_rows()});
  // The cap and the law behind it decide how long kernels take.
  return of_campaign(
      rows, {"cluster.power.cap_watts", "cluster.power.clock_power", "cluster.power.gpu_watts",
             "cluster.power.idle_watts", "cluster.power.computing"});
}

}  // namespace windtunnel
