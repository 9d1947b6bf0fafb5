#include "models/plan/plan.hpp"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "models/base/error.hpp"
#include "models/plan/task_board.hpp"

namespace windtunnel {
namespace {

std::string task_label(const Plan& plan, std::int32_t rank_class, TaskIndex task) {
  const RankClass& owner = plan.classes[rank_class];
  return fmt::format("class '{}', task {} '{}'", owner.name, task, owner.tasks[task].name);
}

void check_slots(const Plan& plan, const RankClass& owner) {
  for (const auto& slot : owner.groups) {
    CHECK(slot.size() == owner.members.size(), "class '{}': a group slot lists {} of {} members",
          owner.name, slot.size(), owner.members.size());
    for (std::size_t i = 0; i < slot.size(); ++i) {
      CHECK(slot[i] >= 0 && slot[i] < std::ssize(plan.groups), "class '{}': no group {}",
            owner.name, slot[i]);
    }
  }
  // A rank takes part in a group once, so two slots of one member never name the same group.
  for (std::size_t a = 0; a < owner.groups.size(); ++a) {
    for (std::size_t b = a + 1; b < owner.groups.size(); ++b) {
      for (std::size_t i = 0; i < owner.members.size(); ++i) {
        CHECK(owner.groups[a][i] != owner.groups[b][i], "class '{}': group {} stands in two slots",
              owner.name, owner.groups[a][i]);
      }
    }
  }
  for (const auto& slot : owner.peers) {
    CHECK(slot.size() == owner.members.size(), "class '{}': a peer slot lists {} of {} members",
          owner.name, slot.size(), owner.members.size());
    for (const RankId peer : slot) {
      CHECK(peer >= 0 && peer < plan.ranks, "class '{}': no rank {}", owner.name, peer);
    }
  }
}

void check_exchange(const Plan& plan, std::int32_t c, TaskIndex t) {
  const RankClass& owner = plan.classes[c];
  const Task& task = owner.tasks[t];
  if (task.exchange == -1) return;
  CHECK(task.exchange >= 0 && task.exchange < std::ssize(plan.exchanges) &&
            task.collective == CollectiveKind::all_to_all,
        "{}: no all-to-all of exchange {}", task_label(plan, c, t), task.exchange);
  const std::size_t members = plan.exchanges[task.exchange].received.size();
  for (const std::int32_t group : owner.groups[task.group_slot]) {
    CHECK(members == 0 || members == plan.groups[group].members.size(),
          "{}: an exchange of {} members in a group of {}", task_label(plan, c, t), members,
          plan.groups[group].members.size());
  }
}

// Checks messages and collectives, and the streams they are on.
void check_communication(const Plan& plan, std::int32_t c, TaskIndex t) {
  const RankClass& owner = plan.classes[c];
  const Task& task = owner.tasks[t];
  if (task.kind == TaskKind::send || task.kind == TaskKind::recv) {
    CHECK(task.peer_slot >= 0 && task.peer_slot < std::ssize(owner.peers), "{}: no peer slot {}",
          task_label(plan, c, t), task.peer_slot);
  }
  if (task.kind == TaskKind::recv) {
    CHECK(task.cost.empty() && task.flows.empty(), "{}: a receive has no cost of its own",
          task_label(plan, c, t));
  }
  if (task.kind == TaskKind::collective) {
    CHECK(task.group_slot >= 0 && task.group_slot < std::ssize(owner.groups),
          "{}: no group slot {}", task_label(plan, c, t), task.group_slot);
    check_exchange(plan, c, t);
  }
  CHECK(owner.streams[task.stream].order != StreamOrder::by_priority || task.kind != TaskKind::recv,
        "{}: a stream by priority holds no receives", task_label(plan, c, t));
  CHECK(owner.streams[task.stream].order != StreamOrder::unordered || task.kind == TaskKind::recv,
        "{}: an unordered stream holds receives only", task_label(plan, c, t));
}

void check_task(const Plan& plan, std::int32_t c, TaskIndex t) {
  const RankClass& owner = plan.classes[c];
  const Task& task = owner.tasks[t];
  CHECK(task.stream >= 0 && task.stream < std::ssize(owner.streams), "{}: no stream {}",
        task_label(plan, c, t), task.stream);
  CHECK(task.iteration >= 0 && task.iteration < plan.iterations, "{}: no iteration {}",
        task_label(plan, c, t), task.iteration);
  for (const TaskIndex before : task.after) {
    CHECK(before >= 0 && before < std::ssize(owner.tasks) && before != t, "{}: comes after task {}",
          task_label(plan, c, t), before);
  }
  CHECK(task.join_first >= 0 && task.join_first <= std::ssize(task.after),
        "{}: joins the first {} of {}", task_label(plan, c, t), task.join_first, task.after.size());
  check_communication(plan, c, t);
}

// Whether every member of `a` has, in slot `i`, a peer in class `b` whose slot `j` is that member.
bool slots_face_each_other(const Plan& plan, const std::vector<ClassMember>& of_rank,
                           std::int32_t a, int i, std::int32_t b, int j) {
  const RankClass& from = plan.classes[a];
  const RankClass& to = plan.classes[b];
  for (std::size_t member = 0; member < from.members.size(); ++member) {
    const ClassMember peer = of_rank[from.peers[i][member]];
    if (peer.rank_class != b || to.peers[j][peer.member] != from.members[member]) return false;
  }
  return true;
}

// The receives of one class from one class, ascending by tag and task.
struct Inbox {
  struct Receive {
    std::int64_t tag;
    TaskIndex task;
    auto operator<=>(const Receive&) const = default;
  };
  std::vector<Receive> receives;
  std::size_t next = 0;  // follows the receive that was matched last

  // Returns the first receive with this tag. Most sends come in the order of their tags and need no
  // search.
  std::size_t first_of(std::int64_t tag) const {
    const bool is_next = (next == receives.size() || receives[next].tag >= tag) &&
                         (next == 0 || receives[next - 1].tag < tag);
    if (is_next) return next;
    return std::ranges::lower_bound(receives, tag, {}, &Receive::tag) - receives.begin();
  }
};
using Inboxes = std::map<std::pair<std::int32_t, std::int32_t>, Inbox>;  // receiver, sender

Inboxes sorted_inboxes(const Plan& plan, const std::vector<ClassMember>& of_rank) {
  Inboxes inboxes;
  for (std::int32_t c = 0; c < std::ssize(plan.classes); ++c) {
    const RankClass& owner = plan.classes[c];
    std::vector<Inbox*> inbox_of_slot;
    for (const std::vector<RankId>& peers : owner.peers) {
      inbox_of_slot.push_back(&inboxes[{c, of_rank[peers.front()].rank_class}]);
    }
    for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
      const Task& task = owner.tasks[t];
      if (task.kind != TaskKind::recv) continue;
      inbox_of_slot[task.peer_slot]->receives.push_back({task.tag, t});
    }
  }
  // A step has hundreds of thousands of messages, mostly in order.
  for (auto& [classes, inbox] : inboxes) {
    if (!std::ranges::is_sorted(inbox.receives)) std::ranges::sort(inbox.receives);
  }
  return inboxes;
}

// Runs the classes in lockstep and without time. If this reaches the end, so does every timed
// execution, because a task that can start stays able to start. A stream by priority runs whatever
// is ready, as some timing might, so the board's order of its tasks is not used.
class Rehearsal {
 public:
  explicit Rehearsal(const Plan& plan)
      : plan_(plan),
        templates_(class_templates(plan)),
        rendezvous_(rendezvous_of(plan)),
        board_(*this) {
    for (std::size_t c = 0; c < plan.classes.size(); ++c) {
      next_.emplace_back(plan.classes[c].streams.size(), 0);
      board_.add_rank(templates_[c], plan.classes[c].tasks);
      const std::set<std::int32_t> attended(rendezvous_[c].begin(), rendezvous_[c].end());
      for (const std::int32_t rendezvous : attended) ++attending_[rendezvous];
    }
  }

  void run() {
    board_.begin();
    for (std::int32_t c = 0; c < std::ssize(templates_); ++c) {
      for (const TaskIndex t : templates_[c].timed) board_.time_has_come({c, t});
    }
    board_.settle();
    while (!startable_.empty()) {
      const TaskRef task = startable_.back();
      startable_.pop_back();
      run(task);
    }
    if (const std::optional<TaskRef> open = board_.first_open()) {
      throw InternalError("the plan deadlocks at " + task_label(plan_, open->rank, open->task));
    }
  }

 private:
  struct Meeting {
    std::set<std::int32_t> classes;
    std::vector<TaskRef> waiting;
  };

  friend class TaskBoard<Rehearsal>;
  void on_start(const TaskRef&) {}
  void on_end(const TaskRef&) {}
  void on_posted(const TaskRef& receive) {
    const Counterpart send = template_of(receive).counterpart;
    if (held_.erase({send.rank_class, send.task}) > 0) {
      startable_.push_back({send.rank_class, send.task});
    }
  }
  void wake(const TaskRef& task) {
    const StreamTemplate& stream = stream_of(task);
    const bool its_turn =
        stream.order == StreamOrder::by_priority || stream.tasks[next_of(task)] == task.task;
    if (its_turn && board_.may_follow(task)) startable_.push_back(task);
  }

  const TaskTemplate& template_of(const TaskRef& task) const {
    return templates_[task.rank].tasks[task.task];
  }
  const StreamTemplate& stream_of(const TaskRef& task) const {
    return templates_[task.rank].streams[template_of(task).stream];
  }
  // How many tasks of an active stream in order have ended.
  std::size_t& next_of(const TaskRef& task) { return next_[task.rank][template_of(task).stream]; }

  void run(const TaskRef& task) {
    if (board_.is_done(task)) return;  // a receive that became ready when its bytes came
    const Task& planned = plan_.classes[task.rank].tasks[task.task];
    const Counterpart& other = template_of(task).counterpart;
    if (planned.kind == TaskKind::recv) {
      if (!board_.is_posted(task)) board_.post(task);
      if (!board_.has_arrived(task)) return;
    } else if (planned.kind == TaskKind::send) {
      const TaskRef receive = {other.rank_class, other.task};
      if (planned.synchronous && !board_.is_posted(receive)) {
        held_.insert({task.rank, task.task});
        return;
      }
      board_.arrive(receive);
    } else if (planned.kind == TaskKind::collective) {
      const std::int32_t rendezvous = rendezvous_[task.rank][planned.group_slot];
      Meeting& meeting = meetings_[{rendezvous, planned.sequence}];
      meeting.classes.insert(task.rank);
      meeting.waiting.push_back(task);
      if (std::ssize(meeting.classes) < attending_[rendezvous]) return;
      for (const TaskRef& member : std::exchange(meeting.waiting, {})) end(member);
      return;
    }
    end(task);
  }

  void end(const TaskRef& task) {
    board_.end(task);
    board_.settle();
    const StreamTemplate& stream = stream_of(task);
    if (stream.passive || stream.order == StreamOrder::by_priority) return;
    if (++next_of(task) == stream.tasks.size()) return;
    const TaskRef next = {task.rank, stream.tasks[next_of(task)]};
    if (board_.may_follow(next)) startable_.push_back(next);
  }

  const Plan& plan_;
  const std::vector<ClassTemplate> templates_;
  const std::vector<std::vector<std::int32_t>> rendezvous_;
  TaskBoard<Rehearsal> board_;
  std::vector<std::vector<std::size_t>> next_;  // [class][stream]
  std::map<std::int32_t, int> attending_;       // rendezvous -> number of classes
  std::map<std::pair<std::int32_t, std::int32_t>, Meeting> meetings_;  // by rendezvous, sequence
  std::set<std::pair<std::int32_t, TaskIndex>> held_;  // sends that wait for their receiver
  std::vector<TaskRef> startable_;
};

}  // namespace

bool slowed_by_node(TaskKind kind) {
  return kind == TaskKind::compute || kind == TaskKind::copy || kind == TaskKind::encode;
}

double plain_seconds(const Task& task, double slowdown) {
  return slowed_by_node(task.kind) ? slowed_seconds(task.cost, slowdown) : total_seconds(task.cost);
}

std::vector<ClassMember> class_of_rank(const Plan& plan) {
  std::vector<ClassMember> of_rank(plan.ranks);
  for (std::int32_t c = 0; c < std::ssize(plan.classes); ++c) {
    const auto& members = plan.classes[c].members;
    for (std::int32_t m = 0; m < std::ssize(members); ++m) {
      CHECK(members[m] >= 0 && members[m] < plan.ranks, "class '{}' has no rank {}",
            plan.classes[c].name, members[m]);
      CHECK(of_rank[members[m]].rank_class < 0, "rank {} is in two classes", members[m]);
      of_rank[members[m]] = {c, m};
    }
  }
  for (RankId rank = 0; rank < plan.ranks; ++rank) {
    CHECK(of_rank[rank].rank_class >= 0, "rank {} is in no class", rank);
  }
  return of_rank;
}

std::vector<std::vector<Counterpart>> match_messages(const Plan& plan) {
  const std::vector<ClassMember> of_rank = class_of_rank(plan);
  Inboxes inboxes = sorted_inboxes(plan, of_rank);
  std::vector<std::vector<Counterpart>> partner;
  for (const RankClass& owner : plan.classes) partner.emplace_back(owner.tasks.size());
  std::map<std::tuple<std::int32_t, int, std::int32_t, int>, bool> facing;
  for (std::int32_t a = 0; a < std::ssize(plan.classes); ++a) {
    const RankClass& owner = plan.classes[a];
    std::vector<Inbox*> inbox_of_slot;
    for (const std::vector<RankId>& peers : owner.peers) {
      inbox_of_slot.push_back(&inboxes[{of_rank[peers.front()].rank_class, a}]);
    }
    for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
      const Task& task = owner.tasks[t];
      if (task.kind != TaskKind::send) continue;
      const std::int32_t b = of_rank[owner.peers[task.peer_slot].front()].rank_class;
      Inbox& inbox = *inbox_of_slot[task.peer_slot];
      // Few receives have the same tag, so few are looked at for each send.
      for (std::size_t at = inbox.first_of(task.tag);
           at < inbox.receives.size() && inbox.receives[at].tag == task.tag; ++at) {
        const TaskIndex r = inbox.receives[at].task;
        const int slot = plan.classes[b].tasks[r].peer_slot;
        const auto [known, is_new] = facing.try_emplace({a, task.peer_slot, b, slot}, false);
        if (is_new) {
          known->second = slots_face_each_other(plan, of_rank, a, task.peer_slot, b, slot);
        }
        if (!known->second || partner[b][r].task >= 0) continue;
        partner[a][t] = {b, r};
        partner[b][r] = {a, t};
        inbox.next = at + 1;
        break;
      }
      CHECK(partner[a][t].task >= 0, "{}: no receive matches tag {}", task_label(plan, a, t),
            task.tag);
    }
  }
  for (std::int32_t c = 0; c < std::ssize(plan.classes); ++c) {
    for (TaskIndex t = 0; t < std::ssize(plan.classes[c].tasks); ++t) {
      CHECK(plan.classes[c].tasks[t].kind != TaskKind::recv || partner[c][t].task >= 0,
            "{}: no send matches tag {}", task_label(plan, c, t), plan.classes[c].tasks[t].tag);
    }
  }
  return partner;
}

std::vector<std::vector<std::int32_t>> rendezvous_of(const Plan& plan) {
  std::vector<std::vector<std::int32_t>> rendezvous(plan.classes.size());
  std::int32_t slots = 0;
  for (const RankClass& owner : plan.classes)
    slots += static_cast<std::int32_t>(std::ssize(owner.groups));
  boost::disjoint_sets_with_storage<> joined(slots);  // slots that share a group
  for (std::int32_t slot = 0; slot < slots; ++slot) joined.make_set(slot);

  std::vector<std::int32_t> slot_of_group(plan.groups.size(), -1);
  std::int32_t slot = 0;
  for (std::int32_t c = 0; c < std::ssize(plan.classes); ++c) {
    for (const auto& groups : plan.classes[c].groups) {
      for (const std::int32_t group : groups) {
        if (slot_of_group[group] < 0) slot_of_group[group] = slot;
        joined.union_set(slot, slot_of_group[group]);
      }
      rendezvous[c].push_back(slot++);
    }
  }
  for (auto& of_class : rendezvous) {
    for (std::int32_t& number : of_class) {
      number = static_cast<std::int32_t>(joined.find_set(number));
    }
  }
  return rendezvous;
}

void validate_plan(const Plan& plan) {
  CHECK(plan.ranks > 0 && plan.iterations > 0, "a plan has {} ranks and {} iterations", plan.ranks,
        plan.iterations);
  class_of_rank(plan);
  for (std::int32_t c = 0; c < std::ssize(plan.classes); ++c) {
    CHECK(!plan.classes[c].members.empty(), "class '{}' has no members", plan.classes[c].name);
    check_slots(plan, plan.classes[c]);
    for (TaskIndex t = 0; t < std::ssize(plan.classes[c].tasks); ++t) check_task(plan, c, t);
  }
  Rehearsal(plan).run();
}

const std::vector<std::string>& names_of(TaskKind) {
  static const std::vector<std::string> names = {"compute", "send",   "recv", "collective",
                                                 "copy",    "encode", "store"};
  return names;
}

const std::string& name_of(TaskKind kind) {
  return names_of(kind).at(static_cast<std::size_t>(kind));
}

}  // namespace windtunnel
