// Groups whose nodes fill a box of a torus: some coordinates of each dimension, in all
// combinations. XLA's collectives on TPUs use all dimensions of such a box concurrently, in both
// directions: the data is split into a part per dimension, and each part passes the dimensions in a
// different order, so that every cable is used in proportion to its bandwidth (Jain and Sabharwal
// 2010, "Optimal bucket algorithms for large MPI collectives on torus interconnects"; Austin et al.
// 2025, "How to Scale Your Model", section 3). A dimension that the box covers completely is a ring
// with two cables per node. Any other is a line, and its end nodes have one cable.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/machine/cluster.hpp"

namespace windtunnel {

class TorusBox {
 public:
  // The box that these distinct nodes of the machine fill; none if they fill no box.
  static std::optional<TorusBox> of(std::span<const int> places, const Cluster& cluster);

  // Number of sequential ring steps, one dimension after the other; in each a node sends on its
  // data.
  int steps() const;
  int hops() const;  // largest number of cables in a step

  // Calls add(from, to, share): indices into the places, and the share of a node's bytes.
  template <class Add>
  void for_each_edge(const Add& add) const {
    int stride = 1;
    for (const Axis& axis : axes_) {
      const int n = axis.count;
      for (int cell = 0; cell < static_cast<int>(members_.size()); ++cell) {
        const int at = cell / stride % n;
        const auto member = [&](int other) { return members_[cell + (other - at) * stride]; };
        add(member(at), member((at + 1) % n), axis.share / 2);
        add(member(at), member((at + n - 1) % n), axis.share / 2);
      }
      stride *= n;
    }
  }

 private:
  // A dimension in which the box has more than one coordinate.
  struct Axis {
    int count = 1;
    bool ring = false;
    int gap = 1;  // largest number of cables between two neighbours
    double share = 0;
  };

  std::vector<Axis> axes_;
  // [cell, with the first axis fastest] -> index into the places
  std::vector<std::size_t> members_;
};

}  // namespace windtunnel
