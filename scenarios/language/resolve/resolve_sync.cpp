// Levels of synchronisation, from checked values: which replicas form an island. Checks with other
// features: policies/conflicts/island_conflicts.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "models/compression/compressors.hpp"
#include "models/machine/fabrics/sites.hpp"
#include "policies/exchange/replica_groups.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {
namespace {

std::string key_of(int level, const char* key) {
  return fmt::format("sync.{}{}", level, key);
}

// Returns the site of a rank if `over` is "site", else its node.
int place_of(const Job& job, const std::string& over, int rank) {
  const int node = job.cluster.node_of(rank);
  if (over == "site") return site_of(job.cluster, job.cluster.place_of(node));
  return node;
}

// Returns how many islands a level of `sync` has over the whole job.
int islands_of(const Values& values, const Job& job, int level) {
  if (values.has(key_of(level, ".islands"))) {
    if (values.has(key_of(level, ".over"))) {
      values.fail(key_of(level, ".islands"), "state either islands or over, not both");
    }
    return values.integer(key_of(level, ".islands"));
  }
  if (!values.has(key_of(level, ".over"))) {
    throw Error(
        values.where(key_of(level, "")),
        fmt::format("sync.{} has neither over (replica, node, site) nor islands; add one", level));
  }
  const std::string& over = values.text(key_of(level, ".over"));
  if (over == "replica") return job.layout.dp;
  if (over == "node") return job.cluster.nodes;
  const FabricSpec& fabric = job.cluster.fabric;
  if (fabric.topology != Topology::sites) {
    values.fail(key_of(level, ".over"),
                "the cluster has no sites (fabric.topology: sites); take node or islands: N");
  }
  return static_cast<int>(fabric.sites.size());
}

// Sets from sync.*.wait_for how many islands an exchange does not wait for.
void resolve_wait(const Values& values, const std::string& key, SyncLevel& level) {
  const std::string& text = values.text(key);
  level.chooses_missing = text == "dynamic";
  if (text == "all" || level.chooses_missing) return;
  constexpr std::string_view kAllBut = "all-but-";
  const char* end = text.data() + text.size();
  const char* number = text.data() + std::min(kAllBut.size(), text.size());
  const auto [rest, error] = std::from_chars(number, end, level.missing_islands);
  if (text.starts_with(kAllBut) && error == std::errc() && rest == end &&
      level.missing_islands >= 0) {
    return;
  }
  values.fail(key,
              fmt::format("is '{}'; expected all, all-but-K (K a whole number) or dynamic", text));
}

// Checks that each island is on exactly one place (node or site, as `over` says) and shares it with
// no other island of the level. `entry` is the level's index in the list.
void check_places(const Values& values, const Job& job, int level, int entry) {
  const std::string& over = job.sync[level].over;
  if (over != "node" && over != "site") return;
  const int below = job.layout.islands();
  int merged = 1;  // islands of the lowest level in an island of this level
  for (int l = 0; l < level; ++l) merged *= job.layout.sync_groups[l];
  std::set<int> taken;
  const auto islands = island_ranks(job.layout);
  for (int first = 0; first < below; first += merged) {
    std::set<int> own;
    for (int island = first; island < first + merged; ++island) {
      for (const int rank : islands[island]) own.insert(place_of(job, over, rank));
    }
    if (own.size() == 1 && taken.insert(*own.begin()).second) continue;
    values.fail(
        key_of(entry, ".over"),
        fmt::format("the replicas {0} to {1} do not have a {2} to themselves; order the ranks so "
                    "that each {2} holds whole islands (layout.order, e.g. [tp, pp, dp])",
                    first * job.layout.dp / below, (first + merged) * job.layout.dp / below - 1,
                    over));
  }
}

// Refuses keys of patterns other than the level's own.
void check_pattern(const Values& values, const SyncLevel& own, int entry) {
  using enum SyncPattern;
  const SyncPattern pattern = own.pattern;
  const bool poisson = own.events == SyncEvents::poisson;
  refuse_unused(
      values, key_of(entry, ""),
      {{pattern != gossip, {"graph", "peers", "events"}, "needs pattern: gossip; leave it out"},
       {pattern == leader,
        {"optimizer"},
        "has no effect: with pattern: leader the weights of the leader are used unchanged; leave "
        "it out"},
       {pattern == leader,
        {"compressor"},
        "is not modelled with pattern: leader, which sends uncompressed weights; leave it out"},
       {pattern == gossip,
        {"optimizer"},
        "has no effect: with pattern: gossip neighbours average their weights; leave it out"},
       {pattern == gossip && !poisson,
        {"wait_for"},
        "has no effect: with pattern: gossip an island waits only for its neighbours; leave it "
        "out"},
       {pattern != all_reduce, {"paths"}, "needs pattern: all-reduce; leave it out"},
       {pattern == none,
        {"every", "rates", "growth", "fragments", "delay", "start", "optimizer", "precision",
         "compressor", "parameters", "optimizer_states", "wait_for"},
        "has no effect: with pattern: none islands exchange nothing; leave it out"},
       {poisson,
        {"delay", "start", "wait_for"},
        "has no effect: with exchanges at random times no island waits; leave it out"}});
}

// Sets how many steps a period has, from the key `every`, or from `rates` and `growth`.
void resolve_period(const Values& values, NamedFiles& files, int entry, SyncLevel& own) {
  const std::string every = key_of(entry, ".every");
  const std::string rates = key_of(entry, ".rates");
  const std::string growth = key_of(entry, ".growth");
  if (own.pattern == SyncPattern::none) return;
  if (!values.has(every)) {
    throw Error(
        values.where(key_of(entry, "")),
        fmt::format("sync.{} has no 'every', the steps between two exchanges; add it", entry));
  }
  if (values.has(rates) != values.has(growth)) {
    values.fail(values.has(rates) ? rates : growth, "rates and growth need each other; state both");
  }
  if (!values.has(rates)) return;
  const std::string& name = values.text(rates);
  const double base_steps = own.every_steps;
  own.every_steps = values.about(rates, [&] {
    return quadratic_period_steps(parse_learning_rates(files.text(name), files.path(name)),
                                  base_steps, values.number(growth));
  });
  if (own.fragments > base_steps) {
    values.fail(key_of(entry, ".fragments"),
                fmt::format("{} fragments in the shortest period, {:g} steps, are more than one "
                            "per step; take fewer",
                            own.fragments, base_steps));
  }
  if (own.delay_steps > base_steps) {
    values.fail(
        key_of(entry, ".delay"),
        fmt::format("is {:g} steps, but the shortest period is {:g}", own.delay_steps, base_steps));
  }
}

void check_graph(const Values& values, const Job& job, int level, int entry) {
  const SyncLevel& own = job.sync[level];
  if (own.pattern != SyncPattern::gossip) return;
  const int islands = job.layout.sync_groups[level];
  const int degree = graph_degree(own.graph, islands);
  if (own.peers > degree) {
    values.fail(key_of(entry, ".peers"),
                fmt::format("an island has only {} neighbours among {} islands", degree, islands));
  }
  if (compresses(own.compressor) && compressor_kind(own.compressor).name == "lgreco") {
    values.fail(key_of(entry, ".compressor"),
                "lgreco needs a common sum of all islands, which gossip does not make");
  }
}

// Checks the members that an exchange waits for (`wait_for`).
void check_waiting(const Values& values, const Job& job, int level, int entry) {
  const SyncLevel& own = job.sync[level];
  const int members = job.layout.sync_groups[level];
  if (own.missing_islands >= members) {
    values.fail(key_of(entry, ".wait_for"),
                fmt::format("leaves out {} of {} islands, so too few remain; leave out fewer",
                            own.missing_islands, members));
  }
  if ((own.missing_islands > 0 || own.chooses_missing) && job.sync.size() > 1) {
    values.fail(
        key_of(entry, ".wait_for"),
        "all-but-K and dynamic need a single level of exchanges; take all, or list one level");
  }
  if (own.chooses_missing && job.cluster.slow_nodes.empty() && !job.lengths &&
      !job.cluster.jitter.active()) {
    values.fail(key_of(entry, ".wait_for"),
                "is dynamic, but no island is later than others; state cluster.jitter, or "
                "cluster.slow_nodes");
  }
}

// Checks a level against the level below it.
void check_above(const Values& values, const Job& job, int level, int entry) {
  const SyncLevel& own = job.sync[level];
  const SyncLevel& below = job.sync[level - 1];
  if (below.pattern == SyncPattern::none) {
    values.fail(key_of(entry, ""),
                "is a level above islands that never exchange; leave one of the two levels out");
  }
  if (own.pattern != SyncPattern::none && own.every_steps <= below.every_steps) {
    values.fail(key_of(entry, ".every"),
                fmt::format("must be more than that of the level before, {:g} steps; list levels "
                            "from inside to outside",
                            below.every_steps));
  }
  const double turns = own.cycle_steps() / below.cycle_steps();
  if (job.cluster.jitter.active() && own.pattern != SyncPattern::none &&
      !values.has(key_of(entry, ".rates")) && std::abs(turns - std::round(turns)) > 1e-9) {
    values.fail(key_of(entry, ".every"),
                fmt::format("{:g} steps between exchanges must be a multiple of the {:g} of the "
                            "level before if there is cluster.jitter; choose a multiple",
                            own.cycle_steps(), below.cycle_steps()));
  }
}

void check_layers(const Values& values, const Job& job, int level, int entry) {
  const SyncLevel& own = job.sync[level];
  if (own.start != SyncStart::layers) return;
  if (level > 0 || job.layout.island_replicas() > 1) {
    values.fail(key_of(entry, ".start"),
                "layers needs islands of one replica, which exchange no gradients in the same "
                "step; take step");
  }
  if (!is_mixed(job.precision)) {
    values.fail(key_of(entry, ".start"),
                "layers needs a precision of 16 bits or less, for which gradients have their own "
                "type on the network; take step");
  }
  if (compresses(own.compressor) || own.pattern != SyncPattern::all_reduce ||
      own.optimizer_states > 0 || own.parameters != SyncParameters::all ||
      !job.layout.path_modules.empty()) {
    values.fail(key_of(entry, ".start"),
                "layers needs uncompressed deltas of all weights that all islands sum; take step");
  }
}

void check_level(const Values& values, const Job& job, int level, int entry) {
  const SyncLevel& own = job.sync[level];
  check_graph(values, job, level, entry);
  check_waiting(values, job, level, entry);
  if (level > 0) check_above(values, job, level, entry);
  check_layers(values, job, level, entry);
  if (own.every_steps < own.fragments) {
    values.fail(key_of(entry, ".fragments"),
                fmt::format("{} fragments in {:g} steps are more than one per step; take fewer",
                            own.fragments, own.every_steps));
  }
  if (own.delay_steps != std::floor(own.delay_steps)) {
    values.fail(key_of(entry, ".delay"), "expected a whole number of steps");
  }
  if (own.delay_steps > own.every_steps) {
    values.fail(key_of(entry, ".delay"),
                fmt::format("is {:g} steps, but the next exchange begins after {:g}; take fewer",
                            own.delay_steps, own.every_steps));
  }
  if (own.parameters == SyncParameters::dense && job.model.moe.experts == 0) {
    values.fail(key_of(entry, ".parameters"), "the model has no experts; leave it out");
  }
}

// Sets Layout::path_modules. `entry` is the index in `sync` of the only level of islands.
void resolve_paths(const Values& values, Job& job, int entry) {
  const std::string key = key_of(entry, ".paths");
  const std::vector<double> blocks = values.numbers(key);
  if (blocks.empty()) return;
  std::vector<int>& modules = job.layout.path_modules;
  modules.assign(blocks.begin(), blocks.end());
  const int islands = job.layout.sync_groups.front();
  if (islands < 4) {
    values.fail(key, fmt::format("needs at least two modules for each half of the layers, and so "
                                 "four islands, but there are {}; leave it out",
                                 islands));
  }
  if (modules.size() != 2 || modules[0] * modules[1] != islands) {
    values.fail(key, fmt::format("expected the numbers of modules of the two halves of the layers, "
                                 "with a product of {} islands; e.g. [{}, {}]",
                                 islands, islands / 2, 2));
  }
  if (job.sync.size() > 1) values.fail(key, "needs a single level of exchanges");
}

}  // namespace

void resolve_sync(const Values& values, NamedFiles& files, const OwnCompressors& brought,
                  Job& job) {
  std::vector<int> islands;
  for (int level = 0; level < values.length("sync"); ++level) {
    SyncLevel own;
    const std::string place = key_of(level, "");
    values.fill(place, own);
    resolve_wait(values, place + ".wait_for", own);
    if (values.stated(place + ".compressor")) {
      own.compressor = resolve_compressor(values, place + ".compressor", files, brought);
    }
    const int count = islands_of(values, job, level);
    if (own.over.empty()) own.over = fmt::format("{} islands", count);
    check_pattern(values, own, level);
    resolve_period(values, files, level, own);
    const bool between = own.pattern == SyncPattern::gossip || own.pattern == SyncPattern::none;
    // If training waits for the exchange in every step, it is the all-reduce of gradients.
    if (own.every_steps > 1 || between || own.delay_steps > 0) {
      job.sync.push_back(own);
      islands.push_back(count);
      continue;
    }
    refuse_unused(
        values, place,
        {{true,
          {"fragments", "delay", "start", "pattern", "optimizer", "precision", "compressor",
           "paths", "parameters", "optimizer_states", "wait_for"},
          "replicas that synchronise in every step exchange gradients, which keys of "
          "communication describe; leave this out, or set delay: 1 step, so that the next step "
          "runs during the exchange"}});
    if (!job.sync.empty()) {
      values.fail(
          place + ".every",
          "is one step, but a level inside it takes more; list levels from inside to outside");
    }
  }
  const int skipped = values.length("sync") - static_cast<int>(job.sync.size());
  if (job.sync.empty()) return;
  if (job.sync.size() > 2) {
    values.fail(key_of(skipped + 2, ""),
                "there are already two levels above the steps; more are not modelled");
  }
  for (std::size_t level = 0; level < islands.size(); ++level) {
    const int above = level + 1 < islands.size() ? islands[level + 1] : 1;
    const bool divides = islands[level] % above == 0 && islands[level] > above;
    if (islands[level] <= above) {
      values.fail(key_of(skipped + static_cast<int>(level), ""),
                  above > 1 ? fmt::format("{} islands are not more than the {} of the next level; "
                                          "list levels from inside to outside",
                                          islands[level], above)
                            : "there is only one island, so there is no other to exchange with");
    }
    if (!divides || job.layout.dp % islands[level] != 0) {
      values.fail(
          key_of(skipped + static_cast<int>(level), ""),
          fmt::format("{} islands do not divide the {} replicas (layout.dp){}", islands[level],
                      job.layout.dp,
                      above > 1 ? fmt::format(" into the {} of the next level", above) : ""));
    }
    job.layout.sync_groups.push_back(islands[level] / above);
  }
  resolve_paths(values, job, skipped);
  for (int level = 0; level < std::ssize(job.sync); ++level) {
    check_level(values, job, level, skipped + level);
    check_places(values, job, level, skipped + level);
  }
}

}  // namespace windtunnel
