// Groups whose nodes fill a box of a torus: of each dimension some places, in all combinations.
// XLA's collectives on TPUs run along all dimensions of such a box at once, both ways round: of the
// bytes each dimension gets a part, and each part passes the dimensions in an order of its own, so
// that in the end every node has sent on its cables in proportion to what they carry (Jain and
// Sabharwal 2010, "Optimal bucket algorithms for large MPI collectives on torus interconnects";
// Austin et al. 2025, "How to Scale Your Model", section 3). A dimension of which the box has all
// places is a ring and has two cables of each node; of a part of it, a line, the node at the end
// has one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/machine/cluster.hpp"

namespace windtunnel {

class TorusBox {
 public:
  // The box that distinct nodes of the machine fill; nothing: they fill no box.
  static std::optional<TorusBox> of(std::span<const int> places, const Cluster& cluster);

  // Steps of rings that pass on what each node has, one dimension after the other.
  int steps() const;
  int hops() const;  // the most cables of a step

  // add(from, to, share): indices into the places, and the part of the bytes that one node sends.
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
  // A dimension in which the box has several places.
  struct Axis {
    int count = 1;
    bool ring = false;
    int gap = 1;  // the largest number of cables between two neighbours
    double share = 0;
  };

  std::vector<Axis> axes_;
  std::vector<std::size_t> members_;  // [cell, the first axis fastest] -> index into the places
};

}  // namespace windtunnel
