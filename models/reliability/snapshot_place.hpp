// Properties of each place of snapshots, one row per place. All code that depends on a tier's place
// reads its row, so a new place needs only an enumerator with its word and a row here.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "models/machine/cluster.hpp"
#include "models/machine/links/links.hpp"
#include "models/reliability/snapshot.hpp"

namespace windtunnel {

// How bytes travel between host memory and a place beyond it.
struct PlaceWay {
  std::string_view task;  // name of the writing task in a Plan
  Resource write;         // the shared capacities loaded by writing and reading
  Resource read;
  Parameter NodeSpec::*node_Bps;           // per node, bytes per second
  StorageSpec Cluster::*shared = nullptr;  // total for all nodes; null: every node has its own
};

// Codes that a tier in this place can have.
enum class PlaceCode {
  none,     // the place protects itself
  in_node,  // over keeper processes of one node
  nodes,    // over a group of nodes
  always,   // as nodes, and without a code the tier protects nothing
};

struct PlaceTraits {
  SnapshotPlace place;
  std::string_view help;      // what the place is, for `list snapshots`
  bool copied = true;         // false: no copies; restores read from live GPUs
  bool of_process = false;    // a copy is lost with the process that holds it: trainer or keeper
  bool of_node = true;        // a lost node loses its part of the copies
  bool outlives_stop = true;  // copies survive when all trainers are stopped as planned
  PlaceCode code = PlaceCode::none;
  std::optional<PlaceWay> way = {};  // empty: host memory itself is the place, or nothing is copied

  // Disks and storage keep several copies, memory only the newest.
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
                .help = "on the disks of the node itself",
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
    PlaceTraits{
        .place = SnapshotPlace::replicas,
        .help = "no copy; after a failure the state is read from other GPUs that also hold it",
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

// Whether the code's members are nodes, not processes of one node.
inline bool over_nodes(const ErasureCode& code) {
  return code.parity > 0 && !code.in_node;
}

}  // namespace windtunnel
