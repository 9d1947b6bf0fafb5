// In this table of flows, for tests, each flow belongs to a task of one class and takes a chosen
// path.
#pragma once

#include <utility>
#include <vector>

#include "sim/engine/way_loads.hpp"

namespace windtunnel {

struct WayTable {
  // Each flow has a path and a kind, which is also the amount that it carries.
  WayTable(const std::vector<std::pair<int, int>>& flows, int ways, double capacity) {
    table.capacity.assign(ways, capacity);
    table.largest_amount.assign(ways, 1);
    table.chosen.assign(ways, 1);
    for (const auto& [way, kind] : flows) {
      RankClass rank_class;
      rank_class.members = {static_cast<RankId>(plan.classes.size())};
      rank_class.streams = {{"copy", {}}};
      Task task;
      task.kind = TaskKind::copy;
      task.flows = {{static_cast<double>(kind), 1e9, {}}};
      rank_class.tasks = {task};
      FlowTable::ClassFlows own;
      own.demand = {{static_cast<FlowIndex>(kinds.size())}};
      table.classes.push_back(own);
      table.collective_of.push_back({-1});
      table.links.push_back({way, 1});
      table.first_link.push_back(static_cast<std::uint32_t>(table.links.size()));
      plan.classes.push_back(rank_class);
      kinds.push_back(static_cast<Colour>(kind));
    }
    in_pipeline.assign(kinds.size(), 1);
  }

  WayLoads loads(double duration_s = 0) const {
    return {plan, table, kinds, in_pipeline, duration_s};
  }

  Plan plan;
  FlowTable table;
  std::vector<Colour> kinds;
  std::vector<char> in_pipeline;
};

}  // namespace windtunnel
