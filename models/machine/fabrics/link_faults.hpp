// Looks up FabricSpec::faults and background by link number, for capacities and paths of all
// topologies, and finds detours around failed links. Routes are normally computed by arithmetic.
// Only if all of those between two ends are cut is the fabric searched, breadth first, so faults
// cost nothing elsewhere.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/random.hpp"
#include "models/machine/fabric.hpp"

namespace windtunnel {

class LinkFaults {
 public:
  LinkFaults() = default;
  // Throws Error, with the nearest name, for a link that is none of the `count` links called
  // `name`.
  LinkFaults(const FabricSpec& fabric, int count, const std::function<std::string(int)>& name);

  double factor(int link) const;  // share of its bandwidth that is left; 1 unless listed
  bool failed(int link) const { return factor(link) == 0; }
  bool any_failed() const;

 private:
  std::vector<std::pair<int, double>> factors_;  // by link, each at most once
};

// The mean share of the link's bandwidth that other jobs leave: 1 unless FabricSpec::background
// names it.
double background_left(const FabricSpec& fabric, std::string_view link);

// Whether the words of a load name every link of a kind ("pod-up") and not only some ("pod-up 3").
bool names_whole_kind(std::string_view links);

bool has_bursts(const FabricSpec& fabric);
// The fabric while no burst is on: an upper bound of what it can carry.
FabricSpec between_bursts(FabricSpec fabric);
// Index of the FabricSpec::background entry that sends bursts over the link, given by its name;
// -1: none. Throws Error if there are several.
int burst_of(const FabricSpec& fabric, std::string_view link);

// Lengths of times without and with a burst in turn, for one link in one draw; the first is 0 if
// the link starts in a burst. They are counter-based: the same arguments give the same times.
class BurstTimes {
 public:
  BurstTimes(const BackgroundLoad& load, std::uint64_t seed, std::uint32_t link, int draw);
  double next_s();

 private:
  RandomStream random_;
  double duty_;
  double burst_s_;
  bool first_ = true;
  bool burst_ = false;  // whether the next time has a burst
};

// A directed link from one switch (or router, or node that forwards) to another.
struct Step {
  int link = 0;
  int to = 0;
};
// Appends the working links that leave a switch.
using StepsFrom = std::function<void(int from, std::vector<Step>& steps)>;

// Links of a shortest path; among equal ones the first in the order of `steps_from`; empty if there
// is no path.
std::vector<int> shortest_way(int switches, int from, int to, const StepsFrom& steps_from);

// Two switches of which the second cannot be reached from the first; {-1, -1} if there are none.
// Switches for which `counts` is false, because no NIC is attached, need not be reached.
std::pair<int, int> cut_pair(int switches, const StepsFrom& steps_from,
                             const std::function<bool(int)>& counts);

}  // namespace windtunnel
