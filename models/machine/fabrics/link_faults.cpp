#include "models/machine/fabrics/link_faults.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr int kUnseen = -1;

// Marks the switches that a walk from `start` reaches.
void mark_reached(int start, const StepsFrom& steps_from, std::vector<char>& seen) {
  std::vector<int> order = {start};
  std::vector<Step> steps;
  seen[start] = 1;
  for (size_t next = 0; next < order.size(); ++next) {
    steps.clear();
    steps_from(order[next], steps);
    for (const Step& step : steps) {
      if (seen[step.to] != 0) continue;
      seen[step.to] = 1;
      order.push_back(step.to);
    }
  }
}

// Whether `words` are the link's name, or its first words.
bool names(std::string_view words, std::string_view link) {
  return link.starts_with(words) && (link.size() == words.size() || link[words.size()] == ' ');
}

[[noreturn]] void throw_unknown(const std::string& unknown, const std::vector<std::string>& known) {
  if (known.empty()) {
    throw Error(fmt::format("unknown link '{}'; this fabric has no links that can fail", unknown));
  }
  const std::string nearest = nearest_name(unknown, known);
  if (nearest.empty()) {
    throw Error(fmt::format("unknown link '{}'; links of this fabric have names such as '{}'",
                            unknown, known.front()));
  }
  throw Error(fmt::format("unknown link '{}'; did you mean '{}'?", unknown, nearest));
}

// All beginnings of the names that end where a word ends, each once.
std::vector<std::string> beginnings_of(const std::vector<std::string>& links) {
  std::set<std::string> all;
  for (const std::string& link : links) {
    for (std::size_t end = link.find(' '); end != std::string::npos;
         end = link.find(' ', end + 1)) {
      all.insert(link.substr(0, end));
    }
    all.insert(link);
  }
  return {all.begin(), all.end()};
}

}  // namespace

double background_left(const FabricSpec& fabric, std::string_view link) {
  double left = 1;
  for (const BackgroundLoad& background : fabric.background) {
    if (names(background.links, link)) left *= 1 - background.load;
  }
  return left;
}

bool names_whole_kind(std::string_view links) {
  return links.find(' ') == std::string_view::npos;  // the name of a kind is one word
}

bool has_bursts(const FabricSpec& fabric) {
  return std::ranges::any_of(fabric.background, &BackgroundLoad::in_bursts);
}

FabricSpec between_bursts(FabricSpec fabric) {
  std::erase_if(fabric.background, [](const BackgroundLoad& load) { return load.in_bursts(); });
  return fabric;
}

int burst_of(const FabricSpec& fabric, std::string_view link) {
  int found = -1;
  for (std::size_t i = 0; i < fabric.background.size(); ++i) {
    const BackgroundLoad& load = fabric.background[i];
    if (!load.in_bursts() || !names(load.links, link)) continue;
    if (found >= 0) {
      throw Error::of_key(
          fmt::format("cluster.fabric.background.{}", i),
          "'{}' and '{}' both send in bursts over '{}'; a link can have only one such load",
          fabric.background[found].links, load.links, link);
    }
    found = static_cast<int>(i);
  }
  return found;
}

BurstTimes::BurstTimes(const BackgroundLoad& load, std::uint64_t seed, std::uint32_t link, int draw)
    : random_(seed, RandomPurpose::background, static_cast<std::uint64_t>(draw) << 32 | link),
      duty_(load.duty),
      burst_s_(load.burst_s) {}

double BurstTimes::next_s() {
  if (std::exchange(first_, false) && random_.uniform() < duty_) {
    burst_ = true;
    return 0;
  }
  const double mean_s = burst_ ? burst_s_ : burst_s_ * (1 - duty_) / duty_;
  burst_ = !burst_;
  return random_.exponential(mean_s);
}

LinkFaults::LinkFaults(const FabricSpec& fabric, int count,
                       const std::function<std::string(int)>& name) {
  const std::vector<LinkFault>& faults = fabric.faults;
  if (faults.empty() && fabric.background.empty()) return;
  std::vector<std::string> links;
  for (int link = 0; link < count; ++link) links.push_back(name(link));
  std::map<std::string, double> factor_of;
  for (const LinkFault& fault : faults) {
    const auto [entry, added] = factor_of.try_emplace(fault.link, fault.factor);
    if (!added) entry->second *= fault.factor;
  }
  for (const BackgroundLoad& background : fabric.background) {
    const auto is_named = [&](const std::string& link) { return names(background.links, link); };
    if (std::ranges::none_of(links, is_named))
      throw_unknown(background.links, beginnings_of(links));
  }
  for (int link = 0; link < count; ++link) {
    const auto found = factor_of.find(links[link]);
    double factor = background_left(fabric, links[link]);
    if (found != factor_of.end()) {
      factor *= found->second;
      factor_of.erase(found);
    }
    if (factor != 1) factors_.emplace_back(link, factor);
  }
  if (!factor_of.empty()) throw_unknown(factor_of.begin()->first, links);
}

double LinkFaults::factor(int link) const {
  if (factors_.empty()) return 1;
  const auto found = std::lower_bound(
      factors_.begin(), factors_.end(), link,
      [](const std::pair<int, double>& entry, int wanted) { return entry.first < wanted; });
  return found != factors_.end() && found->first == link ? found->second : 1;
}

bool LinkFaults::any_failed() const {
  return std::any_of(factors_.begin(), factors_.end(),
                     [](const std::pair<int, double>& entry) { return entry.second == 0; });
}

std::vector<int> shortest_way(int switches, int from, int to, const StepsFrom& steps_from) {
  struct Arrival {
    int link = kUnseen;
    int from = kUnseen;
  };
  std::vector<Arrival> arrival(switches);
  std::vector<int> order = {from};
  std::vector<Step> steps;
  for (size_t next = 0; next < order.size() && arrival[to].from == kUnseen; ++next) {
    steps.clear();
    steps_from(order[next], steps);
    for (const Step& step : steps) {
      if (step.to == from || arrival[step.to].from != kUnseen) continue;
      arrival[step.to] = {step.link, order[next]};
      order.push_back(step.to);
    }
  }
  std::vector<int> way;
  for (int at = to; at != from && arrival[at].from != kUnseen; at = arrival[at].from) {
    way.push_back(arrival[at].link);
  }
  std::reverse(way.begin(), way.end());
  return way;
}

std::pair<int, int> cut_pair(int switches, const StepsFrom& steps_from,
                             const std::function<bool(int)>& counts) {
  int start = 0;
  while (start < switches && !counts(start)) ++start;
  if (start == switches) return {-1, -1};

  std::vector<char> reached(switches, 0);
  mark_reached(start, steps_from, reached);
  for (int other = 0; other < switches; ++other) {
    if (counts(other) && reached[other] == 0) return {start, other};
  }
  // All switches are reached from `start`. Each must also reach it, so this walks the links
  // backwards.
  std::vector<std::vector<Step>> backward(switches);
  std::vector<Step> steps;
  for (int from = 0; from < switches; ++from) {
    steps.clear();
    steps_from(from, steps);
    for (const Step& step : steps) backward[step.to].push_back({step.link, from});
  }
  std::vector<char> reaching(switches, 0);
  const auto steps_to = [&](int at, std::vector<Step>& out) {
    out.insert(out.end(), backward[at].begin(), backward[at].end());
  };
  mark_reached(start, steps_to, reaching);
  for (int other = 0; other < switches; ++other) {
    if (counts(other) && reaching[other] == 0) return {other, start};
  }
  return {-1, -1};
}

}  // namespace windtunnel
