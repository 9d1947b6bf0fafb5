// What is known of each place of snapshots, one row per place. Whatever depends on the place of a
// tier asks the row, so that another place is an enumerator with its word and a row here.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "models/machine/cluster.hpp"
#include "models/machine/links/links.hpp"
#include "models/reliability/snapshot.hpp"

namespace windtunnel {

// The way of bytes between host memory and a place behind it.
struct PlaceWay {
  std::string_view task;  // the task that writes there, as a Plan names it
  Resource write;         // the shared capacities that writing and reading load
  Resource read;
  Parameter NodeSpec::*node_Bps;           // of one node, bytes per second
  StorageSpec Cluster::*shared = nullptr;  // by all nodes; null: every node has its own
};

// Codes that a tier in the place can have.
enum class PlaceCode {
  none,     // the place protects itself
  in_node,  // over the keeper processes of a node
  nodes,    // over a group of nodes
  always,   // the same, and without one the tier protects nothing
};

struct PlaceTraits {
  SnapshotPlace place;
  std::string_view help;      // what the place is, for `list snapshots`
  bool copied = true;         // false: failures read what live GPUs hold, nothing moves before
  bool of_process = false;    // a copy ends with the process that holds it: trainer or keeper
  bool of_node = true;        // a lost node takes its part of the copies along
  bool outlives_stop = true;  // copies stay when all trainers are stopped as planned
  PlaceCode code = PlaceCode::none;
  std::optional<PlaceWay> way = {};  // none: host memory itself is the place, if it is copied

  // Disks and storage keep several copies, memory has room for the newest.
  bool keeps_several() const { return way.has_value(); }
  bool on_own_drives() const { return way && way->shared == nullptr; }
  // The storage that all nodes share; null: the place is none.
  const StorageSpec* storage(const Cluster& cluster) const {
    return way && way->shared != nullptr ? &(cluster.*way->shared) : nullptr;
  }
};

inline constexpr std::array kSnapshotPlaces = {
    PlaceTraits{.place = SnapshotPlace::host_memory,
                .help = "copy in the node's memory",
                .of_process = true,
                .code = PlaceCode::in_node},
    PlaceTraits{.place = SnapshotPlace::peers,
                .help = "copies or parity in the memory of a group of nodes",
                .of_process = true,
                .code = PlaceCode::always},
    PlaceTraits{.place = SnapshotPlace::local_disk,
                .help = "on disks of the own node",
                .code = PlaceCode::nodes,
                .way = PlaceWay{.task = "write to disk",
                                .write = Resource::local_disk,
                                .read = Resource::local_disk,
                                .node_Bps = &NodeSpec::local_disk_Bps}},
    PlaceTraits{.place = SnapshotPlace::storage,
                .help = "written to shared storage",
                .of_node = false,
                .way = PlaceWay{.task = "write to storage",
                                .write = Resource::storage_write,
                                .read = Resource::storage_read,
                                .node_Bps = &NodeSpec::storage_nic_Bps,
                                .shared = &Cluster::storage}},
    PlaceTraits{.place = SnapshotPlace::replicas,
                .help = "no copy: state that other GPUs hold as well is read from there after a "
                        "failure",
                .copied = false,
                .outlives_stop = false}};

static_assert(std::ranges::equal(kChoices<SnapshotPlace>, kSnapshotPlaces, {},
                                 &Choice<SnapshotPlace>::value, &PlaceTraits::place),
              "a row for every place, in the order of their words");

constexpr const PlaceTraits& traits_of(SnapshotPlace place) {
  return *std::ranges::find(kSnapshotPlaces, place, &PlaceTraits::place);
}
constexpr const PlaceTraits& traits_of(const SnapshotTier& tier) {
  return traits_of(tier.place);
}

// The code has its members on several nodes, not on processes of one.
inline bool over_nodes(const ErasureCode& code) {
  return code.parity > 0 && !code.in_node;
}

}  // namespace windtunnel
