#include "tests/answers/plan_hash.hpp"

#include <optional>
#include <type_traits>

#include "tests/answers/answers.hpp"

namespace windtunnel {
namespace {

// Collects the bytes of the values that are added, in order, with the length of each list.
class Bytes {
 public:
  template <typename... Values>
  void add(const Values&... values) {
    (one(values), ...);
  }
  std::string hash() const { return hash_of(bytes_); }

 private:
  template <typename Value>
  requires std::is_arithmetic_v<Value> || std::is_enum_v<Value>
  void one(Value value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void one(const std::string& text) {
    one(text.size());
    bytes_ += text;
  }
  template <typename Value>
  void one(const std::optional<Value>& value) {
    one(value.has_value());
    if (value) one(*value);
  }
  template <typename Value>
  void one(const std::vector<Value>& values) {
    one(values.size());
    for (const Value& value : values) one(value);
  }
  void one(const CostPart& part) { add(part.category, part.origin, part.seconds); }
  void one(const UnevenExchange& exchange) { add(exchange.received, exchange.locality); }
  void one(const Demand& demand) { add(demand.resource, demand.weight); }
  void one(const Flow& flow) { add(flow.amount, flow.max_rate, flow.demands); }
  void one(const Task& task) {
    add(task.kind, task.action, task.paired, task.name, task.stream, task.iteration, task.stage,
        task.microbatch, task.after, task.join_first, task.not_before_s, task.priority, task.cost,
        task.flows, task.category, task.origin, task.peer_slot, task.tag, task.bytes,
        task.synchronous, task.group_slot, task.sequence, task.collective, task.algorithm,
        task.protocol, task.as_flows, task.exchange, task.returns, task.allocate_bytes,
        task.free_bytes, task.tier_allocate_bytes, task.tier_free_bytes);
  }
  void one(const Stream& stream) { add(stream.name, stream.order); }
  void one(const Group& group) { add(group.axis, group.members); }
  void one(const RankClass& ranks) {
    add(ranks.name, ranks.members, ranks.streams, ranks.tasks, ranks.groups, ranks.peers);
  }
  void one(const Span& span) { add(span.start_s, span.end_s); }
  void one(const RankTimeline& rank) {
    add(rank.rank, rank.rank_class, rank.multiplicity, rank.spans);
  }
  void one(const CampaignEvent& event) {
    add(event.kind, event.at_s, event.failure_class, event.nodes, event.tier, event.iteration,
        event.lost_iterations, event.repair_s);
  }

  std::string bytes_;
};

}  // namespace

std::string hash_of(const Plan& plan) {
  Bytes bytes;
  bytes.add(plan.ranks, plan.iterations, plan.draw, plan.in_step, plan.classes, plan.groups,
            plan.exchanges);
  return bytes.hash();
}

std::string hash_of(const Timeline& timeline) {
  Bytes bytes;
  bytes.add(timeline.ranks, timeline.recorded_as, timeline.makespan_s, timeline.iteration_end_s,
            timeline.events, timeline.ranks_simulated, timeline.sampled_of);
  return bytes.hash();
}

std::string hash_of(const std::vector<CampaignEvent>& events) {
  Bytes bytes;
  bytes.add(events);
  return bytes.hash();
}

}  // namespace windtunnel
