#include "policies/pipeline_rank.hpp"

#include <algorithm>
#include <utility>

#include "models/base/error.hpp"
#include "models/links.hpp"
#include "models/memory.hpp"

namespace windtunnel {
namespace {

enum StreamIndex : std::int16_t { kCompute, kSend, kRecv, kReduce, kCopy, kStore };
enum PeerSlot : std::int16_t { kNext, kPrevious };
enum class Direction { forward, backward };

CostPart part(Category category, const Parameter& parameter) {
  return {category, parameter.origin, parameter.value};
}

std::vector<CostPart> scaled(std::vector<CostPart> cost, double share) {
  for (CostPart& item : cost) item.seconds *= share;
  return cost;
}

std::vector<CostPart> joined(std::initializer_list<const std::vector<CostPart>*> lists) {
  std::vector<CostPart> all;
  for (const auto* list : lists) all.insert(all.end(), list->begin(), list->end());
  return all;
}

// Builds the task list of one pipeline rank.
class Builder {
 public:
  Builder(const IterationContext& context, int rank, PipelineRankGroups groups)
      : ctx_(context), job_(context.job), rank_(rank) {
    class_.name = fmt::format("pp {}", rank);
    class_.streams = {{"compute", StreamOrder::in_order}, {"send", StreamOrder::in_order},
                      {"recv", StreamOrder::unordered},   {"dp", StreamOrder::in_order},
                      {"copy", StreamOrder::in_order},    {"store", StreamOrder::in_order}};
    class_.members.resize(ctx_.members);
    for (int m = 0; m < ctx_.members; ++m) class_.members[m] = ctx_.rank(rank, m);
    stages_.reserve(ctx_.schedule.chunks);
    for (int s = 0; s < ctx_.schedule.stages(); ++s) {
      if (ctx_.schedule.rank_of_stage[s] == rank) stages_.push_back(s);
    }
    if (job_.layout.pp > 1) {
      add_peers((rank + 1) % job_.layout.pp);
      add_peers((rank + job_.layout.pp - 1) % job_.layout.pp);
    }
    for (int a = 0; a < kReplicaAxes; ++a) {
      replica_slots_[a] = add_groups(std::move(groups.replicas[a]));
    }
    embedding_slot_ = add_groups(std::move(groups.embedding));
    world_slot_ = add_groups(std::move(groups.world));
  }

  RankClass build() {
    for (int i = 0; i < ctx_.options.iterations; ++i) add_iteration(i);
    return std::move(class_);
  }

 private:
  struct GroupUse {
    GroupShape shape;
    std::vector<std::int32_t> first_gpus;  // of the first member's group
    int next_sequence = 0;
  };

  // The number of the slot; -1 without groups.
  int add_groups(std::optional<GroupSlot> slot) {
    if (!slot) return -1;
    class_.groups.push_back(std::move(slot->instance_of_member));
    groups_.push_back({slot->shape, std::move(slot->first_gpus)});
    return static_cast<int>(class_.groups.size()) - 1;
  }

  void add_peers(int pp) {
    std::vector<RankId> peers(ctx_.members);
    for (int m = 0; m < ctx_.members; ++m) peers[m] = ctx_.rank(pp, m);
    class_.peers.push_back(std::move(peers));
    way_.push_back(message_way(job_.layout, job_.cluster, rank_, pp));
  }

  TaskIndex append(Task task) {
    task.iteration = static_cast<std::int16_t>(iteration_);
    class_.tasks.push_back(std::move(task));
    return static_cast<TaskIndex>(class_.tasks.size()) - 1;
  }

  void add_iteration(int iteration) {
    iteration_ = iteration;
    last_collective_ = -1;
    copies_.clear();
    pending_ = nullptr;
    before_last_compute_ = last_compute_ = optimizer_;
    if (ctx_.data_parallel.gathers_early()) gather_parameters();
    if (iteration == 0) {
      for (const int tier : ctx_.options.due_snapshots) take_snapshot(job_.snapshots[tier]);
    }
    run_schedule();
    for (const int stage : stages_) {
      add_transfers(ctx_.data_parallel.stage(stage).at_end, "reduce", fmt::format("{}", stage),
                    stage, last_compute_);
    }
    step_optimizer();
  }

  // Every rank updated its shard; the whole weights come back before the forwards that need them.
  void gather_parameters() {
    gathered_.assign(ctx_.schedule.stages(), {});
    for (const int stage : stages_) {
      const Pieces& pieces = ctx_.data_parallel.stage(stage).first_forward;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        const std::string where =
            pieces.size() > 1 ? fmt::format("{}/{}", stage, i) : fmt::format("{}", stage);
        gathered_[stage].push_back(
            add_transfers(pieces[i].gathers, "gather", where, stage, optimizer_));
      }
    }
  }

  // One after the other, each when `after` is through; the last of them, -1 if there is none.
  TaskIndex add_transfers(const std::vector<Transfer>& transfers, const char* verb,
                          const std::string& where, int stage, TaskIndex after) {
    TaskIndex last = -1;
    for (const Transfer& transfer : transfers) {
      const bool experts =
          transfer.axis == ReplicaAxis::expert_shard || transfer.axis == ReplicaAxis::expert_across;
      last = add_collective(fmt::format("{} {}{}", verb, experts ? "experts " : "", where),
                            replica_slots_[static_cast<int>(transfer.axis)], transfer.kind,
                            transfer.bytes,
                            after >= 0 ? std::vector{after} : std::vector<TaskIndex>{});
      class_.tasks[last].stage = stage;
    }
    if (last >= 0) last_collective_ = last;
    return last;
  }

  TaskIndex add_collective(std::string name, int slot, CollectiveKind kind, double bytes,
                           std::vector<TaskIndex> after) {
    GroupUse& group = groups_[slot];
    Task task;
    task.kind = TaskKind::collective;
    task.name = std::move(name);
    task.stream = kReduce;
    task.after = std::move(after);
    task.category = Category::dp;
    task.group_slot = static_cast<std::int16_t>(slot);
    task.sequence = group.next_sequence++;
    task.collective = kind;
    task.bytes = bytes;
    const Fidelity fidelity = job_.communication.fidelity;
    const CollectiveCost closed = collective_cost(kind, CollectiveAlgorithm::automatic, group.shape,
                                                  bytes, job_.cluster, job_.calibration);
    task.origin = closed.origin;
    // Inside one NVSwitch domain nothing else shares the ports with this group for long; and the
    // few bytes of the world-wide norm are all latency.
    const bool idle = group.shape.nodes == 1 || slot == world_slot_;
    if (fidelity == Fidelity::closed || (fidelity == Fidelity::automatic && idle)) {
      task.cost = {{Category::dp, closed.origin, closed.seconds}};
    } else {
      task.as_flows = true;
      const double latency_s = collective_flows(kind, task.algorithm, group.first_gpus, bytes,
                                                job_.cluster, job_.calibration)
                                   .latency_s;
      task.cost = {{Category::dp, closed.origin, latency_s}};
    }
    return append(std::move(task));
  }

  // `amount` over a resource, and the host memory traffic of `bytes` at the pace that the resource
  // allows when nobody else uses it. Two flows, because each has an efficiency of its own.
  std::vector<Flow> paced_by(Resource resource, double amount, double capacity,
                             double bytes) const {
    Flow through;
    through.amount = amount;
    through.demands = {{resource, 1}};
    Flow host;
    host.amount = bytes / job_.calibration.host_memory_efficiency.value;
    host.max_rate = capacity * host.amount / amount;
    host.demands = {{Resource::host_memory, 1}};
    return {through, host};
  }

  void take_snapshot(const SnapshotTier& tier) {
    const double bytes = ctx_.snapshot_bytes[rank_];
    const NodeSpec& node = job_.cluster.node;
    const Calibration& calibration = job_.calibration;
    Task copy;
    copy.kind = TaskKind::copy;
    copy.name = "copy to host";
    copy.stream = kCopy;
    copy.category = Category::snapshot;
    copy.bytes = bytes;
    copy.flows = paced_by(Resource::pcie_out, bytes / calibration.pcie_efficiency.value,
                          node.pcie_Bps.value, bytes);
    copy.origin = weakest(node.pcie_Bps.origin, calibration.pcie_efficiency.origin);
    TaskIndex last = append(std::move(copy));
    // The optimizer changes what the copy reads.
    copies_.push_back(last);
    if (tier.place == SnapshotPlace::storage) {
      Task store;
      store.kind = TaskKind::store;
      store.name = "write to storage";
      store.stream = kStore;
      store.category = Category::snapshot;
      store.bytes = bytes;
      store.after = {last};
      store.cost = {part(Category::snapshot, job_.cluster.storage.latency_s)};
      store.flows = paced_by(Resource::storage_write, bytes / calibration.storage_efficiency.value,
                             node.storage_nic_Bps.value, bytes);
      store.origin =
          weakest(job_.cluster.storage.write_Bps.origin, calibration.storage_efficiency.origin);
      last = append(std::move(store));
    }
    if (tier.mode == SnapshotMode::sync) before_compute_.push_back(last);
  }

  void run_schedule() {
    first_of_stage_.assign(ctx_.schedule.stages(), -1);
    last_of_stage_.assign(ctx_.schedule.stages(), -1);
    const auto& actions = ctx_.schedule.actions[rank_];
    for (int i = 0; i < std::ssize(actions); ++i) {
      const ActionKind kind = actions[i].kind;
      int& first = first_of_stage_[actions[i].stage];
      if (kind == ActionKind::forward && first < 0) first = i;
      if (kind == ActionKind::backward || kind == ActionKind::backward_weight) {
        last_of_stage_[actions[i].stage] = i;
      }
    }
    for (int i = 0; i < std::ssize(actions); ++i) add_action(i, actions[i]);
  }

  void add_action(int index, const Action& action) {
    const ChunkCost& chunk = ctx_.chunks[action.stage];
    Task task;
    task.kind = TaskKind::compute;
    task.stream = kCompute;
    task.stage = action.stage;
    task.microbatch = action.unit;
    task.after = std::exchange(before_compute_, {});
    const int last_stage = ctx_.schedule.stages() - 1;
    switch (action.kind) {
      case ActionKind::forward:
        task.name = fmt::format("F{}.{}", action.stage, action.unit);
        task.category = Category::forward;
        task.cost = chunk.forward;
        task.allocate_bytes = chunk.activation_bytes;
        if (action.stage > 0) receive(action, Direction::forward, task);
        break;
      case ActionKind::backward:
        task.name = fmt::format("B{}.{}", action.stage, action.unit);
        task.category = Category::backward;
        task.cost = joined({&chunk.recompute, &chunk.backward_input, &chunk.backward_weight});
        task.free_bytes = chunk.activation_bytes;
        if (action.stage < last_stage) receive(action, Direction::backward, task);
        break;
      case ActionKind::backward_input:
        task.name = fmt::format("I{}.{}", action.stage, action.unit);
        task.category = Category::backward;
        task.cost = joined({&chunk.recompute, &chunk.backward_input});
        task.free_bytes = chunk.activation_bytes - chunk.weight_activation_bytes;
        if (action.stage < last_stage) receive(action, Direction::backward, task);
        break;
      case ActionKind::backward_weight:
        task.name = fmt::format("W{}.{}", action.stage, action.unit);
        task.category = Category::backward;
        task.cost = chunk.backward_weight;
        task.free_bytes = chunk.weight_activation_bytes;
        break;
      default:
        CHECK(false, "action {} has no task", to_string(action));
    }
    append_pieces(std::move(task), pieces_of(index, action));
    if (action.kind == ActionKind::forward && action.stage < last_stage) {
      send(action, Direction::forward);
    } else if (action.kind != ActionKind::forward && action.kind != ActionKind::backward_weight &&
               action.stage > 0) {
      send(action, Direction::backward);
    }
  }

  const Pieces& pieces_of(int index, const Action& action) const {
    return ctx_.data_parallel.stage(action.stage)
        .of(action.kind, index == first_of_stage_[action.stage],
            index == last_of_stage_[action.stage]);
  }

  // An action cut into pieces: what each gathers before it and reduces behind it.
  void append_pieces(Task whole, const Pieces& pieces) {
    const bool early = ctx_.data_parallel.gathers_early();
    const std::string name = whole.name;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::string suffix = pieces.size() > 1 ? fmt::format("/{}", i) : "";
      Task piece = whole;
      piece.name += suffix;
      piece.cost = scaled(whole.cost, pieces[i].share * pieces[i].stretch);
      if (i > 0) {
        piece.after.clear();
        piece.allocate_bytes = 0;
      }
      if (i + 1 < pieces.size()) piece.free_bytes = 0;
      TaskIndex gathered = -1;
      const auto gather = [&](TaskIndex after) {
        gathered =
            early ? early_gather(whole, i)
                  : add_transfers(pieces[i].gathers, "gather", name + suffix, whole.stage, after);
      };
      if (ctx_.data_parallel.overlaps()) {
        gather(before_last_compute_);
        reduce_pending();
      } else {
        reduce_pending();
        gather(last_compute_);
        gathered = last_collective_;
      }
      if (gathered >= 0) piece.after.push_back(gathered);
      before_last_compute_ = std::exchange(last_compute_, append(std::move(piece)));
      if (!pieces[i].reductions.empty()) {
        pending_ = &pieces[i].reductions;
        pending_stage_ = whole.stage;
        pending_where_ = pieces_where(whole, i, pieces.size());
      }
    }
  }

  // Of the first forward of a stage the gather that its piece waits for.
  TaskIndex early_gather(const Task& whole, std::size_t piece) {
    auto& gathered = gathered_[whole.stage];
    if (whole.category != Category::forward || piece >= gathered.size()) return -1;
    const TaskIndex gather = gathered[piece];
    if (piece + 1 == gathered.size()) gathered.clear();
    return gather;
  }

  // "0/3" where the stage reduces once an iteration, else with the micro-batch: "0.5/3".
  std::string pieces_where(const Task& whole, std::size_t piece, std::size_t pieces) const {
    std::string where = fmt::format("{}", whole.stage);
    if (job_.layout.sharding >= Sharding::zero2) where += fmt::format(".{}", whole.microbatch);
    return pieces > 1 || job_.layout.sharding < Sharding::zero2 ? fmt::format("{}/{}", where, piece)
                                                                : where;
  }

  void reduce_pending() {
    if (pending_ == nullptr) return;
    add_transfers(*std::exchange(pending_, nullptr), "reduce", pending_where_, pending_stage_,
                  last_compute_);
  }

  void step_optimizer() {
    reduce_pending();
    std::vector<TaskIndex> ready = {last_compute_};
    if (last_collective_ >= 0) ready.push_back(last_collective_);  // behind all others
    if (embedding_slot_ >= 0) {
      // Tied weights live on the first and the last stage; their gradients are summed.
      const double bytes = double(padded_vocabulary(job_.model.vocabulary, job_.layout.tp)) *
                           job_.model.hidden / job_.layout.tp * reduce_bytes_per_parameter(job_);
      ready.push_back(add_collective("reduce embedding", embedding_slot_,
                                     CollectiveKind::all_reduce, bytes, ready));
    }
    if (world_slot_ >= 0) {
      // Clipping needs the norm over all gradients: eight bytes, but everybody waits for everybody.
      ready = {add_collective("gradient norm", world_slot_, CollectiveKind::all_reduce, 8,
                              std::move(ready))};
    }
    Task task;
    task.kind = TaskKind::compute;
    task.name = "optimizer";
    task.stream = kCompute;
    task.category = Category::optimizer;
    task.cost = optimizer_cost(ctx_.data_parallel.updated_parameters(rank_), job_.cluster.node.gpu,
                               job_.calibration);
    task.after = std::move(ready);
    task.after.insert(task.after.end(), copies_.begin(), copies_.end());
    optimizer_ = append(std::move(task));
  }

  std::int64_t tag(int stage, int microbatch, Direction direction) const {
    const std::int64_t step = 2 * iteration_ + (direction == Direction::backward);
    return (step * ctx_.schedule.units() + microbatch) * ctx_.schedule.stages() + stage;
  }

  bool same_rank(int a, int b) const {
    return ctx_.schedule.rank_of_stage[a] == ctx_.schedule.rank_of_stage[b];
  }

  int slot_towards(int stage) const {
    return ctx_.schedule.rank_of_stage[stage] == (rank_ + 1) % job_.layout.pp ? kNext : kPrevious;
  }

  // The message that `consumer` waits for; messages are named by the stage that sends.
  void receive(const Action& action, Direction direction, Task& consumer) {
    const int source = action.stage + (direction == Direction::forward ? -1 : 1);
    if (same_rank(source, action.stage)) return;
    Task task;
    task.kind = TaskKind::recv;
    task.name = fmt::format("recv {}{}.{}", direction == Direction::forward ? 'F' : 'B', source,
                            action.unit);
    task.stream = kRecv;
    task.stage = action.stage;
    task.microbatch = action.unit;
    task.category = Category::pp;
    task.peer_slot = static_cast<std::int16_t>(slot_towards(source));
    task.tag = tag(source, action.unit, direction);
    consumer.after.push_back(append(std::move(task)));
  }

  void send(const Action& action, Direction direction) {
    const int target = action.stage + (direction == Direction::forward ? 1 : -1);
    if (same_rank(target, action.stage)) return;
    const Calibration& calibration = job_.calibration;
    const int slot = slot_towards(target);
    const auto [in_node, hops] = way_[slot];
    const Parameter& efficiency =
        in_node ? calibration.nvlink_efficiency : calibration.nic_efficiency;
    // The boundary tensor crosses in the direction of the pass with the size that the stage before
    // the boundary gave it.
    const int producer = std::min(action.stage, target);
    Task task;
    task.kind = TaskKind::send;
    task.name = fmt::format("send {}{}.{}", direction == Direction::forward ? 'F' : 'B',
                            action.stage, action.unit);
    task.stream = kSend;
    task.stage = action.stage;
    task.microbatch = action.unit;
    task.after = {last_compute_};
    task.cost = {
        part(Category::pp, calibration.p2p_launch_s),
        part(Category::pp, in_node ? calibration.nvlink_latency_s : calibration.nic_latency_s)};
    if (!in_node) {
      const Parameter& hop = job_.cluster.fabric.hop_latency_s;
      task.cost.push_back({Category::pp, hop.origin, hop.value * hops});
    }
    task.category = Category::pp;
    task.origin = weakest(efficiency.origin, in_node ? job_.cluster.node.nvlink_Bps.origin
                                                     : job_.cluster.node.nic_Bps.origin);
    task.peer_slot = static_cast<std::int16_t>(slot);
    task.tag = tag(action.stage, action.unit, direction);
    task.bytes = ctx_.chunks[producer].boundary_bytes / efficiency.value;
    const TaskIndex sent = append(std::move(task));
    if (job_.software.sends == Sends::blocking) before_compute_.push_back(sent);
  }

  const IterationContext& ctx_;
  const Job& job_;
  const int rank_;
  RankClass class_;
  std::vector<int> stages_;
  std::vector<MessageWay> way_;   // to the peers, by slot
  std::vector<GroupUse> groups_;  // by slot
  std::array<int, kReplicaAxes> replica_slots_{};
  int world_slot_ = -1;
  int embedding_slot_ = -1;

  // Of the iteration that is being built.
  int iteration_ = 0;
  TaskIndex optimizer_ = -1;  // of the iteration before
  TaskIndex before_last_compute_ = -1;
  TaskIndex last_compute_ = -1;
  TaskIndex last_collective_ = -1;
  const std::vector<Transfer>* pending_ = nullptr;  // reductions behind the last piece
  int pending_stage_ = -1;
  std::string pending_where_;
  std::vector<std::vector<TaskIndex>> gathered_;  // [stage][piece] that its first forward awaits
  std::vector<int> first_of_stage_;               // [stage] -> its first forward action
  std::vector<int> last_of_stage_;                // [stage] -> action that completes its gradients
  std::vector<TaskIndex> copies_;                 // that the optimizer waits for
  std::vector<TaskIndex> before_compute_;         // that the next compute task waits for
};

}  // namespace

IterationContext::IterationContext(const Job& the_job, const Schedule& the_schedule,
                                   const std::vector<ChunkCost>& costs,
                                   const IterationPlanOptions& the_options)
    : job(the_job),
      schedule(the_schedule),
      chunks(costs),
      options(the_options),
      data_parallel(job, chunks, schedule.rank_of_stage, overlapped_slowdown(job)),
      snapshot_bytes(snapshot_bytes_per_gpu(job, chunks, held_stages(schedule))),
      members(the_job.layout.tp * the_job.layout.cp * the_job.layout.dp) {}

RankClass pipeline_rank(const IterationContext& context, int rank, PipelineRankGroups groups) {
  return Builder(context, rank, std::move(groups)).build();
}

}  // namespace windtunnel
