// FabricSpec::faults and background by the number of the link: what every form of fabric asks
// before it states a capacity or takes a way; and the search for a way around what failed.
//
// Forms answer routes by arithmetic. Only between ends whose arithmetic ways are all cut is the
// fabric searched, breadth first, so that a fault costs nothing elsewhere.
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
  // Throws Error, with the nearest name, for a link that is none of the `count` called `name`.
  LinkFaults(const FabricSpec& fabric, int count, const std::function<std::string(int)>& name);

  double factor(int link) const;  // of its bandwidth; 1 unless it is in the list
  bool failed(int link) const { return factor(link) == 0; }
  bool any_failed() const;

 private:
  std::vector<std::pair<int, double>> factors_;  // by link, each once
};

// What others leave of the link's bandwidth on average: 1 unless FabricSpec::background names it.
double background_left(const FabricSpec& fabric, std::string_view link);

// Whether these words of a load name every link of a kind ("pod-up") and not some ("pod-up 3").
bool names_whole_kind(std::string_view links);

bool has_bursts(const FabricSpec& fabric);
// While nobody sends in bursts: what the machine never exceeds.
FabricSpec between_bursts(FabricSpec fabric);
// The entry of FabricSpec::background that sends in bursts over the link, as it is in
// between_bursts() of the fabric; -1: none. Throws Error where several do.
int burst_of(const FabricSpec& fabric, std::string_view link);

// Lengths of the times without and with a burst in turn, of a link by its number in a draw; the
// first is 0 where it starts in a burst. Counter-based: always the same.
class BurstTimes {
 public:
  BurstTimes(const BackgroundLoad& load, std::uint64_t seed, std::uint32_t link, int draw);
  double next_s();

 private:
  RandomStream random_;
  double duty_;
  double burst_s_;
  bool first_ = true;
  bool burst_ = false;  // whether the next one is
};

// A directed link from one switch (or router, or node that forwards) to another.
struct Step {
  int link = 0;
  int to = 0;
};
// Appends the links that leave a switch and work.
using StepsFrom = std::function<void(int from, std::vector<Step>& steps)>;

// Links of a shortest way, the first of them in the order that `steps_from` gives; none if there is
// no way.
std::vector<int> shortest_way(int switches, int from, int to, const StepsFrom& steps_from);

// Two switches of which the second cannot be reached from the first; {-1, -1} if all reach all.
// Switches that `counts` leaves out, because nothing hangs on them, need not be reached.
std::pair<int, int> cut_pair(int switches, const StepsFrom& steps_from,
                             const std::function<bool(int)>& counts);

}  // namespace windtunnel
