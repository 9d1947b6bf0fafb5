// Puts a small tower before the model of small_job.hpp: 64 patches of 48 numbers, 16 output
// positions.
#pragma once

#include <memory>

#include "models/workload/tower.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {

inline Tower small_tower() {
  Tower tower;
  tower.layers.name = "tower";
  tower.layers.layers = 2;
  tower.layers.hidden = 256;
  tower.layers.heads = tower.layers.kv_heads = 4;
  tower.layers.ffn_hidden = 1024;
  tower.layers.sequence = 64;
  tower.layers.bidirectional = true;
  tower.layers.position = PositionEncoding::none;
  tower.tokens = 16;
  tower.patch_values = 48;
  tower.positions = 64;
  tower.projector = {256, 512, 1024};
  return tower;
}

inline Job job_with_tower(Job job, Tower tower = small_tower()) {
  job.model.tower = std::make_shared<const Tower>(std::move(tower));
  return job;
}

}  // namespace windtunnel
