#include "scenarios/language/resolve/placement.hpp"

#include <fmt/format.h>

#include <map>

namespace windtunnel {

std::vector<int> read_placement(const CsvTable& table, int nodes, int machine_nodes) {
  constexpr std::string_view kColumn = "node";
  const std::size_t column = table.column(kColumn);
  for (const std::string& name : table.header()) {
    if (name == kColumn) continue;
    throw Error(Location{table.file(), 1, 1},
                fmt::format("unknown column '{}'; a placement has one, 'node'", name));
  }
  std::vector<int> places;
  std::map<int, std::size_t> row_of;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const Location where{table.file(), table.line(row), static_cast<int>(column) + 1};
    const int node = table.integer(row, column);
    if (node < 0 || node >= machine_nodes) {
      throw Error(where,
                  fmt::format("no node {}; there are {}, counted from 0", node, machine_nodes));
    }
    const auto [first, added] = row_of.try_emplace(node, row);
    if (!added) {
      throw Error(where,
                  fmt::format("node {} stands in line {}, too; each holds one block of ranks", node,
                              table.line(first->second)));
    }
    if (std::ssize(places) == nodes) {
      throw Error(where, fmt::format("the job has {} nodes and no more", nodes));
    }
    places.push_back(node);
  }
  if (std::ssize(places) < nodes) {
    const int last = table.rows() > 0 ? table.line(table.rows() - 1) : 1;
    throw Error(
        Location{table.file(), last, 1},
        fmt::format("places end here after {} of the job's {} nodes", places.size(), nodes));
  }
  return places;
}

std::vector<int> resolve_placement(const Values& values, NamedFiles& files,
                                   const Cluster& cluster) {
  const std::string key = "layout.placement";
  if (!values.has(key)) return {};
  const std::string& name = values.text(key);
  return values.about(key, [&] {
    return read_placement(CsvTable::parse(files.text(name), files.path(name)), cluster.nodes,
                          cluster.fabric_nodes());
  });
}

}  // namespace windtunnel
