// Kernels at the two ends of a tower (models/workload/tower.hpp): the product that embeds its
// patches, and the projector. Each rank of tp computes them whole. The layers between them are
// those of block_ops() for the job of tower_job().
#pragma once

#include <vector>

#include "models/cost/op/op.hpp"

namespace windtunnel {

// The job as the layers of its tower see it: each image or sound is a sequence, and the tower is
// the model. Job::training says how `part` (kTowerPart or kProjectorPart) is trained.
Job tower_job(const Job& job, int part);

// The kernels of an end: kTowerPart embeds patches, which have no
// gradients; kProjectorPart is the projector, whose input has some if the tower is trained.
std::vector<Op> tower_end_ops(const Job& job, int part, Pass pass);

// What the projector and the embedding of patches keep from forward to backward.
double tower_end_bytes(const Job& job);

}  // namespace windtunnel
