// Max-min fair sharing by progressive filling (Bertsekas & Gallager, Data Networks, 6.5) is written
// here in its plainest form, as the reference for the engine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "models/machine/links/links.hpp"

namespace windtunnel {

struct Fluid {
  std::vector<std::vector<LinkId>> routes;  // a link occurs as often as the flow uses it
  std::vector<double> left;
  std::vector<double> max_rate;
  std::vector<double> capacity;  // [link]
};

// Raises all rates together; a flow stops at a full link of its route, or at its own cap.
inline std::vector<double> progressive_filling(const Fluid& fluid) {
  const size_t flows = fluid.routes.size();
  std::vector<double> rate(flows, 0);
  std::vector<char> fixed(flows, 0);
  for (size_t f = 0; f < flows; ++f) fixed[f] = fluid.left[f] <= 0;
  while (std::find(fixed.begin(), fixed.end(), 0) != fixed.end()) {
    std::vector<double> room = fluid.capacity;
    std::vector<double> weight(fluid.capacity.size(), 0);
    for (size_t f = 0; f < flows; ++f) {
      for (LinkId link : fluid.routes[f]) {
        if (fixed[f]) room[link] -= rate[f];
        if (!fixed[f]) weight[link] += 1;
      }
    }
    double level = std::numeric_limits<double>::infinity();
    for (size_t l = 0; l < room.size(); ++l) {
      if (weight[l] > 0) level = std::min(level, room[l] / weight[l]);
    }
    for (size_t f = 0; f < flows; ++f) {
      if (!fixed[f]) level = std::min(level, fluid.max_rate[f]);
    }
    for (size_t f = 0; f < flows; ++f) {
      if (fixed[f]) continue;
      bool full = fluid.max_rate[f] <= level * (1 + 1e-12);
      for (LinkId link : fluid.routes[f]) full |= room[link] / weight[link] <= level * (1 + 1e-12);
      if (full) rate[f] = level;
      fixed[f] = full;
    }
  }
  return rate;
}

// Returns the end of every flow when all start at 0. Checks that no link carries more than its
// capacity, and that links carried all bytes of their flows.
inline std::vector<double> ends_of(Fluid fluid) {
  const std::vector<double> bytes = fluid.left;
  std::vector<double> ends(bytes.size(), 0);
  std::vector<double> carried(fluid.capacity.size(), 0);
  double now = 0;
  while (*std::max_element(fluid.left.begin(), fluid.left.end()) > 0) {
    const std::vector<double> rate = progressive_filling(fluid);
    double step = std::numeric_limits<double>::infinity();
    for (size_t f = 0; f < rate.size(); ++f) {
      if (fluid.left[f] > 0) step = std::min(step, fluid.left[f] / rate[f]);
    }
    now += step;
    std::vector<double> used(fluid.capacity.size(), 0);
    for (size_t f = 0; f < rate.size(); ++f) {
      for (const LinkId link : fluid.routes[f]) used[link] += fluid.left[f] > 0 ? rate[f] : 0;
      if (fluid.left[f] <= 0) continue;
      fluid.left[f] -= rate[f] * step;
      if (fluid.left[f] > 1e-12 * bytes[f]) continue;
      fluid.left[f] = 0;
      ends[f] = now;
    }
    for (size_t l = 0; l < used.size(); ++l) {
      EXPECT_LE(used[l], fluid.capacity[l] * (1 + 1e-9));
      carried[l] += used[l] * step;
    }
  }
  std::vector<double> asked(fluid.capacity.size(), 0);
  for (size_t f = 0; f < bytes.size(); ++f) {
    for (const LinkId link : fluid.routes[f]) asked[link] += bytes[f];
  }
  for (size_t l = 0; l < asked.size(); ++l) EXPECT_NEAR(carried[l], asked[l], 1e-9 * asked[l]);
  return ends;
}

}  // namespace windtunnel
