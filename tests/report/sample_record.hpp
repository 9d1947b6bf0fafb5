// Makes a small, plausible Record by hand: a pipeline of `pp` ranks under GPipe, with sends and
// receives, memory and, on request, a campaign.
#pragma once

#include "models/results/record.hpp"

namespace windtunnel {

struct SampleOptions {
  int pp = 4;
  int microbatches = 8;
  bool campaign = true;
};

Record sample_record(const SampleOptions& options = {});

}  // namespace windtunnel
