// Shapes of many groups on one machine. A group placed like an earlier one is recognised in O(n)
// instead of being measured again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/network/groups/group_shape.hpp"

namespace windtunnel {

class GroupShapes {
 public:
  explicit GroupShapes(const Cluster& cluster);  // keeps a reference
  GroupShape of(std::span<const std::int32_t> gpus);

 private:
  struct Measured {
    std::vector<std::int32_t> gpus;
    GroupShape shape;
  };

  bool alike(std::span<const std::int32_t> known, std::span<const std::int32_t> gpus) const;
  bool moved_in_tree(std::span<const std::int32_t> known, std::span<const std::int32_t> gpus) const;
  bool on_same_nodes(std::span<const std::int32_t> known, std::span<const std::int32_t> gpus) const;

  LinkTable links_;
  std::vector<Measured> measured_;  // the most recent ones
  std::size_t oldest_ = 0;
};

// Keeps the worst of the shapes of all groups that are added.
class WorstShape {
 public:
  explicit WorstShape(const Cluster& cluster) : shapes_(cluster) {}  // keeps a reference
  void add(std::span<const std::int32_t> gpus);
  const GroupShape& shape() const { return shape_; }

 private:
  GroupShapes shapes_;
  GroupShape shape_;
  bool empty_ = true;
};

}  // namespace windtunnel
