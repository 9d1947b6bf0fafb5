#include "traces/chakra/rank_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "models/base/error.hpp"
#include "traces/chakra/chakra_fields.hpp"

namespace windtunnel {
namespace {

class PlanMerger {
 public:
  void add(RankTrace rank) {
    if (classes_.empty() && !rank.own) template_ = rank;
    absent_deps_ += rank.absent_deps;
    untimed_ += rank.untimed;
    if (!first_file_.empty() && rank.own != own_) {
      throw Error(
          Location{rank.file},
          fmt::format("{} written by windtunnel, unlike {}; give the traces of one job only",
                      rank.own ? "was" : "was not", first_file_));
    }
    own_ = rank.own;
    if (first_file_.empty()) {
      first_file_ = rank.file;
      scenario_ = rank.scenario;
    }
    claim_members(rank);
    declare_groups(rank);
    if (own_) {
      take_size(rank);
    } else {
      ranks_ = std::max(ranks_, rank.ranks);
      number_groups(rank);
    }
    add_to_class(std::move(rank));
  }

  RankPlan finish(const RanksCheck& check_ranks) {
    const auto captured = static_cast<int>(file_of_rank_.size());
    plan_.ranks = own_ ? ranks_ : foreign_ranks();
    if (check_ranks) check_ranks(plan_.ranks);
    if (!own_) add_absent_ranks();
    check_all_ranks();
    std::stable_sort(
        classes_.begin(), classes_.end(),
        [](const ClassParts& a, const ClassParts& b) { return a.class_index < b.class_index; });
    for (ClassParts& parts : classes_) plan_.classes.push_back(joined(std::move(parts)));
    make_groups();
    return {std::move(plan_), !own_, std::move(scenario_), captured, absent_deps_, untimed_};
  }

 private:
  struct Column {  // one member of a class
    std::int32_t position = 0;
    RankId rank = 0;
    std::vector<std::int32_t> groups;
    std::vector<RankId> peers;
  };
  struct ClassParts {
    std::int32_t class_index = 0;
    RankClass rank_class;  // members, groups and peers are in the columns
    size_t group_slots = 0;
    size_t peer_slots = 0;
    std::vector<Column> columns;
  };
  struct NamedGroup {
    std::string file;
    ProcessGroup declared;
    bool is_declared = false;
    std::vector<RankId> users;
  };

  void claim_members(const RankTrace& rank) {
    for (const RankId member : rank.rank_class.members) {
      const auto [other, is_new] = file_of_rank_.try_emplace(member, rank.file);
      if (!is_new) {
        throw Error(Location{rank.file},
                    fmt::format("contains rank {}, as does {}", member, other->second));
      }
    }
  }

  void declare_groups(const RankTrace& rank) {
    for (const ProcessGroup& group : rank.declared) {
      NamedGroup& known = groups_[group.name];
      if (known.is_declared && known.declared != group) {
        throw Error(
            Location{rank.file},
            fmt::format("process group '{}' differs from the one in {}", group.name, known.file));
      }
      if (known.is_declared) continue;
      known.is_declared = true;
      known.declared = group;
      known.file = rank.file;
    }
  }

  void take_size(const RankTrace& rank) {
    if (ranks_ == 0) {
      ranks_ = rank.ranks;
      plan_.iterations = rank.iterations;
      plan_.in_step = rank.in_step;
      plan_.exchanges = rank.exchanges;
    }
    if (rank.ranks != ranks_ || rank.iterations != plan_.iterations) {
      throw Error(Location{rank.file},
                  fmt::format("is of {} ranks and {} iterations, but {} is of {} and {}",
                              rank.ranks, rank.iterations, first_file_, ranks_, plan_.iterations));
    }
  }

  // Foreign groups are numbered in the order in which ranks name them.
  void number_groups(RankTrace& rank) {
    for (auto& slot : rank.rank_class.groups) {
      const std::string& name = rank.group_names[slot.front()];
      const auto [number, is_new] =
          number_of_group_.try_emplace(name, static_cast<std::int32_t>(number_of_group_.size()));
      groups_[name].users.push_back(rank.rank_class.members.front());
      slot.front() = number->second;
    }
  }

  // Returns the number of ranks that covers the files, the ranks that they mention, and the groups
  // that communicate. If no file states the size of the job, tiled_ranks() adds absent ranks.
  int foreign_ranks() const {
    int ranks = std::max(ranks_, file_of_rank_.rbegin()->first + 1);
    bool told = ranks_ > 0;
    for (const auto& [name, group] : groups_) {
      if (group.users.empty()) continue;
      const std::uint64_t all = group.declared.all;
      told = told || all > 0;
      ranks = std::max(ranks, static_cast<int>(std::min<std::uint64_t>(all, kMostRanks)));
      for (const RankId member : group.declared.ranks) {
        if (member >= kMostRanks) {
          throw Error(Location{group.file},
                      fmt::format("process group '{}' has rank {}", name, member));
        }
        ranks = std::max(ranks, member + 1);
      }
    }
    return told ? ranks : tiled_ranks(ranks);
  }

  // The number of ranks of the whole job. If all ranks below `least` have files, it is `least`.
  // Otherwise it is the smallest number from `least` on for which shifted copies of each used group
  // cover every rank once; `least` if there is none.
  int tiled_ranks(int least) const {
    constexpr int kMostTried = 4096;
    if (static_cast<std::size_t>(least) == file_of_rank_.size()) return least;
    for (int ranks = least; ranks <= 2 * least && ranks < least + kMostTried; ++ranks) {
      const bool all_tile = std::ranges::all_of(groups_, [&](const auto& group) {
        const std::vector<RankId>& members = group.second.declared.ranks;
        return group.second.users.empty() || members.empty() ||
               !group_tiles(members, ranks).empty();
      });
      if (all_tile) return ranks;
    }
    return least;
  }

  // The name of the group that an absent rank uses where the first captured rank uses `name`.
  std::string absent_group(const std::string& name, RankId rank) {
    const NamedGroup known = groups_[name];
    if (!known.is_declared || known.declared.ranks.empty()) return name;  // the group of all ranks
    auto [tiles, is_new] = tiles_.try_emplace(name);
    if (is_new) tiles->second = group_tiles(known.declared.ranks, plan_.ranks);
    for (const std::vector<RankId>& tile : tiles->second) {
      if (std::ranges::find(tile, rank) == tile.end()) continue;
      if (tile == known.declared.ranks) return name;
      for (const auto& [other, group] : groups_) {
        const bool same = group.is_declared && group.declared.ranks == tile;
        if (same && group.declared.axis == known.declared.axis) return other;
      }
      std::string made = fmt::format("{} of rank {}", name, tile.front());
      groups_[made] = {known.file, {made, known.declared.axis, tile, 0}, true, {}};
      return made;
    }
    throw Error(Location{known.file},
                fmt::format("the groups of other ranks cannot be derived from process group '{}' "
                            "among {} ranks, and rank {} has no trace",
                            name, plan_.ranks, rank));
  }

  void add_absent_ranks() {
    // Peers of absent ranks are not known.
    if (!template_ || !template_->rank_class.peers.empty()) return;
    const RankTrace first = *template_;
    for (RankId rank = 0; rank < plan_.ranks; ++rank) {
      if (file_of_rank_.contains(rank)) continue;
      RankTrace absent = first;
      absent.declared.clear();
      absent.rank_class.members = {rank};
      for (std::string& name : absent.group_names) name = absent_group(name, rank);
      absent.first_member = rank;
      absent.rank_class.name = fmt::format("rank {}", rank);
      claim_members(absent);
      number_groups(absent);
      add_to_class(std::move(absent));
    }
  }

  void add_to_class(RankTrace rank) {
    const auto found = std::find_if(classes_.begin(), classes_.end(),
                                    [&](const ClassParts& parts) { return alike(parts, rank); });
    const bool is_new = found == classes_.end();
    ClassParts& parts = is_new ? classes_.emplace_back() : *found;
    RankClass& source = rank.rank_class;
    for (size_t m = 0; m < source.members.size(); ++m) {
      Column column{rank.first_member + static_cast<std::int32_t>(m), source.members[m], {}, {}};
      for (const auto& slot : source.groups) column.groups.push_back(slot[m]);
      for (const auto& slot : source.peers) column.peers.push_back(slot[m]);
      parts.columns.push_back(std::move(column));
    }
    if (!is_new) return;
    parts.class_index = rank.class_index;
    parts.group_slots = source.groups.size();
    parts.peer_slots = source.peers.size();
    parts.rank_class.name = std::move(source.name);
    parts.rank_class.streams = std::move(source.streams);
    parts.rank_class.tasks = std::move(source.tasks);
  }

  // In one class, all messages of a slot go to one class. For foreign ranks this is not known, so
  // ranks that exchange messages are never joined.
  bool alike(const ClassParts& parts, const RankTrace& rank) const {
    const RankClass& other = rank.rank_class;
    const bool one_class =
        own_ ? parts.class_index == rank.class_index && parts.rank_class.name == other.name
             : other.peers.empty();
    return one_class && parts.group_slots == other.groups.size() &&
           parts.peer_slots == other.peers.size() && parts.rank_class.streams == other.streams &&
           parts.rank_class.tasks == other.tasks;
  }

  void check_all_ranks() const {
    RankId next = 0;
    for (const auto& [rank, file] : file_of_rank_) {
      if (rank >= plan_.ranks) {
        throw Error(Location{file}, fmt::format("rank {} of {}", rank, plan_.ranks));
      }
      if (rank != next) break;
      ++next;
    }
    if (next < plan_.ranks) {
      const bool sends = template_ && !template_->rank_class.peers.empty();
      throw Error(fmt::format(
          "rank {} of {} is in no file; the first is {}{}", next, plan_.ranks, first_file_,
          sends ? ", which sends messages; a pipeline needs the traces of all ranks" : ""));
    }
  }

  static RankClass joined(ClassParts parts) {
    std::stable_sort(parts.columns.begin(), parts.columns.end(),
                     [](const Column& a, const Column& b) { return a.position < b.position; });
    RankClass whole = std::move(parts.rank_class);
    whole.groups.resize(parts.group_slots);
    whole.peers.resize(parts.peer_slots);
    for (const Column& column : parts.columns) {
      whole.members.push_back(column.rank);
      for (size_t s = 0; s < parts.group_slots; ++s) whole.groups[s].push_back(column.groups[s]);
      for (size_t s = 0; s < parts.peer_slots; ++s) whole.peers[s].push_back(column.peers[s]);
    }
    return whole;
  }

  void make_groups() {
    plan_.groups.resize(own_ ? groups_.size() : number_of_group_.size());
    for (auto& [name, group] : groups_) {
      const std::int32_t number = own_ ? own_number(name, group) : foreign_number(name);
      if (number < 0) continue;  // the group is not used
      Group& made = plan_.groups[number];
      if (own_) made.axis = value_of<Category>("axis", group.declared.axis);
      made.members = group.is_declared ? std::move(group.declared.ranks) : std::move(group.users);
      if (made.members.empty()) {
        made.members.resize(plan_.ranks);
        std::iota(made.members.begin(), made.members.end(), 0);
      }
    }
  }

  std::int32_t own_number(const std::string& name, const NamedGroup& group) const {
    std::int32_t number = 0;
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data(), end, number);
    // Only canonical numbers count: "01" would be a second name of group "1".
    if (parsed.ec != std::errc() || parsed.ptr != end || number < 1 ||
        number > std::ssize(plan_.groups) || name != std::to_string(number)) {
      throw Error(
          Location{group.file},
          fmt::format("process group '{}' must be a number from 1 to {} without leading zeros",
                      name, plan_.groups.size()));
    }
    return number - 1;
  }

  std::int32_t foreign_number(const std::string& name) const {
    const auto found = number_of_group_.find(name);
    return found == number_of_group_.end() ? -1 : found->second;
  }

  bool own_ = false;
  int ranks_ = 0;
  std::int64_t absent_deps_ = 0;
  std::int64_t untimed_ = 0;
  std::string first_file_;
  std::vector<std::string> scenario_;
  std::optional<RankTrace> template_;  // the first foreign rank
  std::map<std::string, std::vector<std::vector<RankId>>> tiles_;
  std::map<RankId, std::string> file_of_rank_;
  std::map<std::string, NamedGroup> groups_;
  std::map<std::string, std::int32_t> number_of_group_;
  std::vector<ClassParts> classes_;
  Plan plan_;
};

// Checks that the ranks that use a group are exactly its members.
void check_groups(const Plan& plan) {
  std::vector<std::set<RankId>> users(plan.groups.size());
  for (const RankClass& owner : plan.classes) {
    for (const auto& slot : owner.groups) {
      for (size_t m = 0; m < slot.size(); ++m) users[slot[m]].insert(owner.members[m]);
    }
  }
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const std::vector<RankId>& listed = plan.groups[g].members;
    const std::set<RankId> members(listed.begin(), listed.end());
    if (members.size() != listed.size() || *members.begin() < 0 ||
        *members.rbegin() >= plan.ranks) {
      throw Error(fmt::format("process group {} lists a rank twice, or a rank outside of 0 to {}",
                              g + 1, plan.ranks - 1));
    }
    if (users[g].empty() || users[g] == members) continue;
    std::vector<RankId> differ;
    std::set_symmetric_difference(members.begin(), members.end(), users[g].begin(), users[g].end(),
                                  std::back_inserter(differ));
    throw Error(fmt::format("rank {} {} process group {} of {} ranks", differ.front(),
                            members.contains(differ.front())
                                ? "never communicates in its"
                                : "communicates, without being a member, in",
                            g + 1, members.size()));
  }
}

// Ranks may send each other different sizes (tokens of experts), and the root of a gather may hold
// a different size than the others: the largest counts.
void take_largest(Plan& plan) {
  const std::vector<std::vector<std::int32_t>> rendezvous = rendezvous_of(plan);
  std::map<std::pair<std::int32_t, std::int32_t>, double> largest;
  const auto each = [&](const auto& visit) {
    for (size_t c = 0; c < plan.classes.size(); ++c) {
      for (Task& task : plan.classes[c].tasks) {
        if (task.kind != TaskKind::collective) continue;
        if (task.collective != CollectiveKind::all_to_all &&
            task.collective != CollectiveKind::gather) {
          continue;
        }
        visit(task, largest[{rendezvous[c][task.group_slot], task.sequence}]);
      }
    }
  };
  each([](const Task& task, double& bytes) { bytes = std::max(bytes, task.bytes); });
  each([](Task& task, double bytes) { task.bytes = bytes; });
}

// Checks that ranks that meet in a collective agree on it.
void check_collectives(const Plan& plan) {
  struct Met {
    const Task* task;
    const RankClass* owner;
  };
  const auto terms = [](const Task& task) {
    return std::tuple(task.collective, task.algorithm, task.bytes, task.as_flows, task.exchange,
                      task.returns);
  };
  const std::vector<std::vector<std::int32_t>> rendezvous = rendezvous_of(plan);
  std::map<std::pair<std::int32_t, std::int32_t>, Met> met;
  for (size_t c = 0; c < plan.classes.size(); ++c) {
    const RankClass& owner = plan.classes[c];
    for (const Task& task : owner.tasks) {
      if (task.kind != TaskKind::collective) continue;
      const std::pair key(rendezvous[c][task.group_slot], task.sequence);
      const auto [other, is_new] = met.try_emplace(key, Met{&task, &owner});
      if (is_new || terms(*other->second.task) == terms(task)) continue;
      throw Error(
          fmt::format("'{}' of {} ({}, {:.0f} bytes) does not match '{}' of {} ({}, {:.0f} bytes)",
                      task.name, owner.name, to_string(task.collective), task.bytes,
                      other->second.task->name, other->second.owner->name,
                      to_string(other->second.task->collective), other->second.task->bytes));
    }
  }
}

// Checks the peers in foreign traces.
void check_peers(const Plan& plan) {
  for (const RankClass& owner : plan.classes) {
    for (const std::vector<RankId>& peers : owner.peers) {
      const auto outside =
          std::ranges::find_if(peers, [&](RankId peer) { return peer >= plan.ranks; });
      if (outside == peers.end()) continue;
      throw Error(
          fmt::format("rank {} exchanges messages with rank {}, which has no trace (there are "
                      "traces of {} rank{}); give the files of all ranks, or their folder",
                      owner.members[outside - peers.begin()], *outside, plan.ranks,
                      plan.ranks == 1 ? "" : "s"));
    }
  }
}

// The message of a CHECK, without the location in our sources: "FILE:LINE: words (condition)".
std::string words_of(const InternalError& error) {
  const std::string_view what = error.what();
  std::size_t end = what.size();
  for (int open = what.ends_with(')') ? 1 : 0; open > 0 && end > 1;) {
    --end;
    open += what[end - 1] == ')' ? 1 : what[end - 1] == '(' ? -1 : 0;
  }
  const std::size_t begin = what.find(": ") + 2;
  return std::string(what.substr(begin, end - 2 - begin));
}

// Usually a fault in a Plan is a bug of ours; here it is a fault of the files.
void validate_imported(const Plan& plan) {
  try {
    validate_plan(plan);
  } catch (const InternalError& error) {
    throw Error(fmt::format("the traces cannot be simulated: {}", words_of(error)));
  }
}

}  // namespace

RankPlan plan_of_ranks(const std::function<std::optional<RankTrace>()>& next,
                       const RanksCheck& check_ranks) {
  PlanMerger merger;
  std::string first_file;
  for (std::optional<RankTrace> rank = next(); rank; rank = next()) {
    if (first_file.empty()) first_file = rank->file;
    merger.add(std::move(*rank));
  }
  if (first_file.empty()) throw Error("no trace to read");
  RankPlan merged = merger.finish(check_ranks);
  const bool has_tasks = std::ranges::any_of(
      merged.plan.classes, [](const RankClass& owner) { return !owner.tasks.empty(); });
  if (!has_tasks) throw Error(Location{first_file}, "no file has a task");
  if (merged.foreign) check_peers(merged.plan);
  validate_imported(merged.plan);
  check_groups(merged.plan);
  if (merged.foreign) take_largest(merged.plan);
  check_collectives(merged.plan);
  return merged;
}

std::vector<std::vector<RankId>> group_tiles(const std::vector<RankId>& members, int ranks) {
  if (members.empty()) return {};
  const RankId first = *std::ranges::min_element(members);
  std::vector<bool> covered(static_cast<std::size_t>(std::max(ranks, 0)));
  std::vector<std::vector<RankId>> tiles;
  bool found = false;
  for (RankId rank = 0; rank < ranks; ++rank) {
    if (covered[rank]) continue;
    std::vector<RankId>& tile = tiles.emplace_back();
    for (const RankId member : members) {
      const RankId moved = member - first + rank;
      if (moved < 0 || moved >= ranks || covered[moved]) return {};
      covered[moved] = true;
      tile.push_back(moved);
    }
    found = found || tile == members;
  }
  return found ? tiles : std::vector<std::vector<RankId>>{};
}

}  // namespace windtunnel
